/** How near a converted document is to the truth. All scores are 0 to 1. */
import { type DefaultTreeAdapterTypes, parse } from "parse5"

import { wordsOf } from "../../src/domain/cascade/coverage.ts"

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

/** What a document is compared by. */
export interface Content {
  readonly words: ReadonlyArray<string>
  /** Headings with the words below them, in order. */
  readonly sections: ReadonlyArray<Section>
  /** Words of each table's cells, spans repeated. */
  readonly tables: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>>
  /** Words of figures' captions. */
  readonly captions: ReadonlyArray<string>
  /** Text of display formulas, as it stands. */
  readonly formulas: ReadonlyArray<string>
  /** Words of paragraphs that may as well be headings: where one is made of them, it counts neither way. */
  readonly likeHeadings: ReadonlyArray<string>
}

interface Section {
  readonly level: number
  readonly heading: string
  readonly content: string
}

const isElement = (node: Node): node is Element => "tagName" in node
const attribute = (node: Element, name: string): string | undefined =>
  node.attrs.find((one) => one.name === name)?.value

const rawText = (node: Node): string =>
  node.nodeName === "#text" && "value" in node
    ? node.value
    : isElement(node)
      ? (/^(style|script|title|nav)$/.test(node.tagName) ||
        attribute(node, "role") === "doc-pagebreak" ||
        attribute(node, "role") === "doc-backlink"
          ? ""
          : node.childNodes.map(rawText).join("")) +
        (/^(a|abbr|b|cite|code|em|i|span|strong|sub|sup|u|mark|q|small)$/.test(node.tagName) ? "" : " ")
      : ""

const text = (node: Node): string => wordsOf(rawText(node)).join(" ")

/** Spans of cells reach this far at most. */
const MOST_SPANNED = 100

const spanOf = (cell: Element, name: "colspan" | "rowspan"): number =>
  Math.min(MOST_SPANNED, Math.max(1, Number(attribute(cell, name) ?? 1) || 1))

const cellsOf = (table: Element): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  // What cells that span rows leave to the rows below, by column.
  let reaching: Array<{ words: string; left: number } | undefined> = []
  const visit = (node: Node): void => {
    if (!isElement(node)) return
    if (node.tagName !== "tr") {
      if (node === table || node.tagName !== "table") node.childNodes.forEach(visit)
      return
    }
    const row: Array<string> = []
    const open: typeof reaching = []
    const fill = () => {
      for (let above = reaching[row.length]; above !== undefined; above = reaching[row.length]) {
        open[row.length] = above.left > 1 ? { ...above, left: above.left - 1 } : undefined
        reaching[row.length] = undefined
        row.push(above.words)
      }
    }
    for (const cell of node.childNodes)
      if (isElement(cell)) {
        fill()
        const words = text(cell)
        const left = spanOf(cell, "rowspan") - 1
        for (let span = 0; span < spanOf(cell, "colspan"); span++) {
          if (left > 0) open[row.length] = { words, left }
          row.push(words)
        }
      }
    fill()
    reaching = open
    rows.push(row)
  }
  visit(table)
  return rows
}

const isFormula = (node: Element): boolean =>
  node.tagName === "math"
    ? attribute(node, "display") === "block"
    : attribute(node, "role") === "math" || attribute(node, "class") === "formula"

/** Text of a formula: a picture's alternative where it is drawn. */
const formulaText = (node: Node): string =>
  !isElement(node)
    ? rawText(node)
    : node.tagName === "img"
      ? (attribute(node, "alt") ?? "")
      : node.tagName.startsWith("annotation")
        ? ""
        : node.childNodes.map(formulaText).join("")

const captionOf = (figure: Element): string =>
  figure.childNodes
    .filter((node) => isElement(node) && node.tagName === "figcaption")
    .map(text)
    .join(" ")

/** Reads a document: the truth or what was made of it. Header, contents and style are left out. */
export const readContent = (html: string): Content => {
  const words: Array<string> = []
  const sections: Array<{ level: number; heading: string; content: string }> = []
  const tables: Array<ReadonlyArray<ReadonlyArray<string>>> = []
  const captions: Array<string> = []
  const formulas: Array<string> = []
  const likeHeadings: Array<string> = []
  let loose = ""
  const flush = () => {
    const added = wordsOf(loose)
    loose = ""
    words.push(...added)
    const last = sections.at(-1)
    if (last !== undefined) last.content += ` ${added.join(" ")}`
  }
  const visit = (node: Node): void => {
    if (!isElement(node)) {
      loose += rawText(node)
      return
    }
    if (
      /^(style|script|title|nav|header)$/.test(node.tagName) ||
      attribute(node, "class") === "skip" ||
      /^doc-(pagebreak|backlink)$/.test(attribute(node, "role") ?? "")
    )
      return
    if (/^h[1-6]$/.test(node.tagName)) {
      flush()
      const heading = text(node)
      words.push(...wordsOf(heading))
      sections.push({ level: Number(node.tagName.slice(1)), heading, content: "" })
      return
    }
    if (attribute(node, "class") === "like-heading") likeHeadings.push(text(node))
    if (node.tagName === "table" && attribute(node, "role") !== "presentation") tables.push(cellsOf(node))
    if (node.tagName === "figure" && captionOf(node) !== "") captions.push(captionOf(node))
    if (isFormula(node)) {
      formulas.push(formulaText(node))
      loose += ` ${formulaText(node)} `
      return
    }
    const isInline = /^(a|abbr|b|cite|code|em|i|span|strong|sub|sup|u|mark|q|small)$/.test(node.tagName)
    if (!isInline) loose += " "
    node.childNodes.forEach(visit)
    if (!isInline) loose += " "
  }
  parse(html).childNodes.forEach(visit)
  flush()
  return { words, sections, tables, captions, formulas, likeHeadings }
}

/** Sections without some headings, whose words go to the section above. */
const joined = (
  sections: ReadonlyArray<Section>,
  isNone: (heading: string) => boolean
): ReadonlyArray<Section> => {
  const kept: Array<Section> = []
  for (const section of sections) {
    const above = kept.at(-1)
    if (!isNone(section.heading)) kept.push(section)
    else if (above !== undefined)
      kept[kept.length - 1] = { ...above, content: `${above.content} ${section.heading}${section.content}` }
  }
  return kept
}

/** What was made, without headings of which the truth does not say whether they are: their words go to the section above. */
export const withoutLikeHeadings = (truth: Content, made: Content): Content => {
  const like = truth.likeHeadings
  // Lines of one heading may be paragraphs of their own.
  const open = new Set(
    like.flatMap((_, at) => [1, 2, 3].map((lines) => like.slice(at, at + lines).join(" ")))
  )
  return { ...made, sections: joined(made.sections, (heading) => open.has(heading)) }
}

const NUMBER = /^(?:(?:chapter|section|appendix)\s+)?(?:(?:\d+|[a-z]|[ivxlc]+)\s+)+(?=\S{2})/

/** Some classes print these as headings and some as words that run in: they count neither way. */
const NEUTRAL = /^(|abstract|keywords|contents|table of contents)$/

/** Sections as they are compared: headings without their numbers, which sources and prints write differently. */
export const comparedSections = ({ sections }: Content): ReadonlyArray<Section> =>
  joined(
    sections.map((section) => ({ ...section, heading: section.heading.replace(NUMBER, "") })),
    (heading) => NEUTRAL.test(heading)
  )

/** Length of the longest common subsequence, by Myers' greedy differences: quick where the two are alike. */
export const commonLength = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number => {
  const most = a.length + b.length
  const furthest = new Int32Array(2 * most + 3)
  for (let d = 0; d <= most; d++)
    for (let k = -d; k <= d; k += 2) {
      const at = k + most + 1
      let x =
        k === -d || (k !== d && (furthest[at - 1] ?? 0) < (furthest[at + 1] ?? 0))
          ? (furthest[at + 1] ?? 0)
          : (furthest[at - 1] ?? 0) + 1
      let y = x - k
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1
        y += 1
      }
      furthest[at] = x
      if (x >= a.length && y >= b.length) return (most - d) / 2
    }
  return 0
}

/** Reading order: twice the common subsequence over both lengths. */
export const readingOrderScore = (truth: Content, made: Content): number =>
  truth.words.length + made.words.length === 0
    ? 1
    : (2 * commonLength(truth.words, made.words)) / (truth.words.length + made.words.length)

interface Tree {
  readonly label: string
  readonly kind: "root" | "heading" | "content"
  readonly children: Array<Tree>
}

const treeOf = (document: Content): Tree => {
  const root: Tree = { label: "", kind: "root", children: [] }
  const open: Array<{ level: number; tree: Tree }> = [{ level: 0, tree: root }]
  for (const { content, heading, level } of comparedSections(document)) {
    while ((open.at(-1)?.level ?? 0) >= level) open.pop()
    const tree: Tree = { label: heading, kind: "heading", children: [] }
    if (content.trim() !== "") tree.children.push({ label: content.trim(), kind: "content", children: [] })
    open.at(-1)?.tree.children.push(tree)
    open.push({ level, tree })
  }
  return root
}

const renameCosts = new Map<string, number>()
const rename = (a: Tree, b: Tree): number => {
  if (a.kind !== b.kind) return 1
  if (a.label === b.label) return 0
  const key = `${a.label}\u0000${b.label}`
  let cost = renameCosts.get(key)
  if (cost === undefined) {
    const [x, y] = [a.label.split(" ").slice(0, 200), b.label.split(" ").slice(0, 200)]
    cost = 1 - (2 * commonLength(x, y)) / Math.max(1, x.length + y.length)
    renameCosts.set(key, cost)
  }
  return cost
}

/** Tree edit distance after Zhang and Shasha. */
const treeDistance = (one: Tree, other: Tree): number => {
  const order = (tree: Tree) => {
    const nodes: Array<Tree> = []
    const leftmost: Array<number> = []
    const visit = (node: Tree): number => {
      let first: number | undefined
      for (const child of node.children) {
        const left = visit(child)
        first ??= left
      }
      nodes.push(node)
      leftmost.push(first ?? nodes.length - 1)
      return leftmost.at(-1) ?? 0
    }
    visit(tree)
    const roots = leftmost.flatMap((left, at) => (leftmost.indexOf(left, at + 1) === -1 ? [at] : []))
    return { nodes, leftmost, roots }
  }
  const a = order(one)
  const b = order(other)
  const distance = a.nodes.map(() => new Float64Array(b.nodes.length))
  for (const i of a.roots)
    for (const j of b.roots) {
      const [li, lj] = [a.leftmost[i] ?? 0, b.leftmost[j] ?? 0]
      const [m, n] = [i - li + 2, j - lj + 2]
      const forest = Array.from({ length: m }, () => new Float64Array(n))
      const at = (x: number, y: number) => forest[x]?.[y] ?? 0
      const put = (x: number, y: number, value: number) => {
        const row = forest[x]
        if (row !== undefined) row[y] = value
      }
      for (let x = 1; x < m; x++) put(x, 0, x)
      for (let y = 1; y < n; y++) put(0, y, y)
      for (let x = 1; x < m; x++)
        for (let y = 1; y < n; y++) {
          const [p, q] = [x + li - 1, y + lj - 1]
          const [lp, lq] = [a.leftmost[p] ?? 0, b.leftmost[q] ?? 0]
          const either = Math.min(at(x - 1, y) + 1, at(x, y - 1) + 1)
          if (lp === li && lq === lj) {
            const [nodeA, nodeB] = [a.nodes[p], b.nodes[q]]
            const cost = nodeA === undefined || nodeB === undefined ? 1 : rename(nodeA, nodeB)
            const value = Math.min(either, at(x - 1, y - 1) + cost)
            put(x, y, value)
            const row = distance[p]
            if (row !== undefined) row[q] = value
          } else put(x, y, Math.min(either, at(lp - li, lq - lj) + (distance[p]?.[q] ?? 0)))
        }
    }
  return distance[a.nodes.length - 1]?.[b.nodes.length - 1] ?? 0
}

const sizeOf = ({ children }: Tree): number => 1 + children.reduce((sum, child) => sum + sizeOf(child), 0)

/** Headings: one minus the tree edit distance over the larger tree. */
export const headingScore = (truth: Content, made: Content): number => {
  const [a, b] = [treeOf(truth), treeOf(made)]
  return Math.max(0, 1 - treeDistance(a, b) / Math.max(1, Math.max(sizeOf(a), sizeOf(b)) - 1))
}

const relationsOf = (tables: Content["tables"]): Map<string, number> => {
  const relations = new Map<string, number>()
  const add = (a: string | undefined, b: string | undefined, way: string) => {
    if (a === undefined || b === undefined || a === "" || b === "") return
    const key = `${way}\u0000${a}\u0000${b}`
    relations.set(key, (relations.get(key) ?? 0) + 1)
  }
  for (const rows of tables)
    for (const [at, row] of rows.entries())
      for (const [column, cell] of row.entries()) {
        add(
          cell,
          row.slice(column + 1).find((next) => next !== ""),
          "right"
        )
        add(
          cell,
          rows
            .slice(at + 1)
            .map((below) => below[column])
            .find((next) => next !== undefined && next !== ""),
          "below"
        )
      }
  return relations
}

/** Tables: relations between neighbouring cells that are found, and that are true (ICDAR 2013). */
export const tableCounts = (
  truth: Content,
  made: Content
): { readonly found: number; readonly made: number; readonly truth: number } => {
  const [a, b] = [relationsOf(truth.tables), relationsOf(made.tables)]
  let found = 0
  let all = 0
  let wanted = 0
  for (const [key, count] of a) {
    wanted += count
    found += Math.min(count, b.get(key) ?? 0)
  }
  for (const count of b.values()) all += count
  return { found, made: all, truth: wanted }
}
