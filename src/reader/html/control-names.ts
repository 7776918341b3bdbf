import { type HtmlElement, type HtmlNode, isElement, textOf } from "../model/html-tree.ts"
import { BLOCKS, HELD, MAX_DEPTH, rowsOf } from "./repair.ts"

const CONTROLS: ReadonlySet<string> = new Set(["input", "select", "textarea"])
const TICK = /^(?:checkbox|radio)$/

/** Longest name, characters. */
const MAX_NAME = 120

const isControl = (node: HtmlNode): boolean => isElement(node) && CONTROLS.has(node.name)

const wordsOf = (nodes: ReadonlyArray<HtmlNode>): string =>
  nodes
    .map((node) => (typeof node === "string" ? node : isControl(node) ? " " : textOf([node])))
    .join("")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/[:：]$/, "")
    .trimEnd()
    .slice(0, MAX_NAME)

const controlsIn = (node: HtmlElement, depth = 0): ReadonlyArray<HtmlElement> =>
  isControl(node)
    ? [node]
    : depth > MAX_DEPTH
      ? []
      : node.children.filter(isElement).flatMap((child) => controlsIn(child, depth + 1))

/** Names the controls of one line: by the words around one that is alone, else by those next to each. */
const nameLine = (line: ReadonlyArray<HtmlNode>, names: Map<HtmlElement, string>): void => {
  const places = line.flatMap((node, at) => (isControl(node) ? [at] : []))
  for (const [index, at] of places.entries()) {
    const control = line[at]
    if (!isElement(control)) continue
    const before = wordsOf(line.slice((places[index - 1] ?? -1) + 1, at))
    const behind = wordsOf(line.slice(at + 1, places[index + 1]))
    const isTick = TICK.test(control.attributes["type"] ?? "")
    const [first, second] = isTick ? [behind, before] : [before, behind]
    const name = places.length === 1 ? wordsOf(line) : first || second
    if (name !== "") names.set(control, name)
  }
}

interface RowCell {
  readonly words: string
  readonly own: ReadonlyArray<HtmlElement>
}

const cellsOf = ({ children }: HtmlElement): ReadonlyArray<RowCell> =>
  children.filter(isElement).map((cell) => ({ words: wordsOf([cell]), own: controlsIn(cell) }))

/** Names the controls that are alone in their cell: a tick by the cell behind it, others by what begins their row and heads their column. */
const nameTable = (table: HtmlElement, names: Map<HtmlElement, string>): void => {
  const [head, ...rows] = rowsOf(table).map(cellsOf)
  for (const row of head === undefined ? [] : [head, ...rows])
    for (const [at, { own, words }] of row.entries()) {
      const [control, more] = own
      if (control === undefined || more !== undefined || words !== "") continue
      const [next, begins] = [row[at + 1], row.slice(0, at).find((cell) => cell.words !== "")]
      const isTick = TICK.test(control.attributes["type"] ?? "")
      const above = row === head || head?.length !== row.length ? undefined : head[at]
      const heads = above?.own.length === 0 ? above.words : ""
      const said = [begins?.words ?? "", heads].filter((name) => name !== "").join(", ")
      const name = isTick && heads === "" && next?.own.length === 0 ? next.words || said : said
      if (name !== "") names.set(control, name.slice(0, MAX_NAME))
    }
}

/** What the words of their line call the controls that no label names; in a table those of other cells. */
export const controlNames = (nodes: ReadonlyArray<HtmlNode>): ReadonlyMap<HtmlElement, string> => {
  const names = new Map<HtmlElement, string>()
  const look = (siblings: ReadonlyArray<HtmlNode>, outer: number): void => {
    let line: Array<HtmlNode> = []
    const close = () => {
      nameLine(line, names)
      line = []
    }
    const add = (node: HtmlNode, depth: number): void => {
      if (typeof node === "string" || isControl(node)) line.push(node)
      else if (depth > MAX_DEPTH) return
      else if (node.name === "table") {
        close()
        look(node.children, depth + 1)
        nameTable(node, names)
      } else if (BLOCKS.has(node.name) || HELD.has(node.name) || node.name === "br") {
        close()
        look(node.children, depth + 1)
      } else for (const child of node.children) add(child, depth + 1)
    }
    for (const node of siblings) add(node, outer)
    close()
  }
  look(nodes, 0)
  return names
}
