import { type HtmlElement, type HtmlNode, isElement, serialize, textOf } from "../model/html-tree.ts"
import { append } from "../model/lists.ts"
import type { BlockKind } from "../model/result-block.ts"
import { formulaText } from "./formula.ts"
import { type Inline, inlineOf, isBlank, isPageMark, pageOf, type PictureUse } from "./inline.ts"

/** A cell of a table. */
export interface Cell {
  /** Its lines, one a block within. */
  readonly lines: ReadonlyArray<ReadonlyArray<Inline>>
  readonly header: boolean
  readonly colspan: number
  readonly rowspan: number
}

export interface Item {
  /** Terms of a definition. */
  readonly terms?: ReadonlyArray<ReadonlyArray<Inline>>
  readonly blocks: ReadonlyArray<Block>
}

/** The neutral tree that all formats are written from. */
export interface Block {
  readonly kind: BlockKind
  /** From 1, where it begins; null where the document has no pages. */
  readonly page: number | null
  readonly id?: string
  readonly level?: number
  readonly line?: ReadonlyArray<Inline>
  /** Of code, with its line breaks. */
  readonly code?: string
  readonly ordered?: boolean
  readonly start?: number
  readonly items?: ReadonlyArray<Item>
  readonly rows?: ReadonlyArray<ReadonlyArray<Cell>>
  readonly caption?: ReadonlyArray<Inline>
  readonly picture?: PictureUse
  readonly blocks?: ReadonlyArray<Block>
}

const BLOCK =
  /^(?:blockquote|details|dl|div|fieldset|figcaption|figure|h[1-6]|header|hr|li|nav|ol|p|pre|section|table|ul)$/

/** Whether an element is a block, or has one in it; a formula has none. */
const holdsBlock = (node: HtmlElement): boolean =>
  BLOCK.test(node.name) ||
  (node.name !== "math" && node.children.some((child) => isElement(child) && holdsBlock(child)))

const whole = (text: string | undefined, fallback: number): number =>
  /^-?\d{1,9}$/.test(text ?? "") ? Number(text) : fallback

/** Reads the blocks of a result, piece by piece; it knows the page that it has come to. */
export class BlockReader {
  /** From 1. */
  page: number | null
  /** Pictures that are stored once, with their data where the piece has them. */
  readonly drawings: Array<{ readonly id: string; readonly source: string }> = []
  readonly #scans: boolean

  /** `scans`: the pictures of pages that were read from them are wanted, too. */
  constructor(page: number | null, { scans }: { readonly scans: boolean }) {
    this.page = page
    this.#scans = scans
  }

  /** The blocks of these nodes: loose words are paragraphs. */
  blocks(nodes: ReadonlyArray<HtmlNode>): ReadonlyArray<Block> {
    const blocks: Array<Block> = []
    let loose: Array<HtmlNode> = []
    const close = () => {
      append(blocks, this.#paragraph(loose))
      loose = []
    }
    for (const node of nodes) {
      if (isElement(node) && (isPageMark(node) ? node.name === "div" : holdsBlock(node))) {
        close()
        append(blocks, this.#block(node))
      } else if (!this.#isDrawing(node)) loose.push(node)
    }
    close()
    return blocks
  }

  /** Whether the node is a store of drawings, which are then kept. */
  #isDrawing(node: HtmlNode): boolean {
    if (!isElement(node) || node.attributes["class"] !== "store") return false
    for (const drawing of node.children.filter(isElement)) {
      const { href = "", id = "" } = drawing.attributes
      if (href !== "") this.drawings.push({ id, source: href })
    }
    return true
  }

  #line(nodes: ReadonlyArray<HtmlNode>): ReadonlyArray<Inline> {
    return inlineOf(nodes, (page) => (this.page = page))
  }

  #paragraph(nodes: ReadonlyArray<HtmlNode>, kind: BlockKind = "paragraph"): ReadonlyArray<Block> {
    const { page } = this
    const line = this.#line(nodes)
    if (isBlank(line)) return []
    const said = line.filter((part) => part.is !== "text" || part.text.trim() !== "")
    const [only] = said
    if (said.length === 1 && only?.is === "picture") return [{ kind: "picture", page, picture: only }]
    if (said.length === 1 && only?.is === "formula") return [{ kind: "formula", page, line: [only] }]
    return [{ kind, page, line }]
  }

  /** A block with blocks in it; one without any is left out. */
  #around(kind: BlockKind, node: HtmlElement, more: Partial<Block> = {}): ReadonlyArray<Block> {
    const { page } = this
    const blocks = this.blocks(node.children)
    return blocks.length === 0 ? [] : [{ kind, page, ...more, blocks }]
  }

  #block(node: HtmlElement): ReadonlyArray<Block> {
    const { attributes, children, name } = node
    const { page } = this
    if (isPageMark(node)) {
      this.page = pageOf(node) ?? page
      return []
    }
    const id = attributes["id"] === undefined ? {} : { id: attributes["id"] }
    if (attributes["role"] === "doc-footnote") return this.#around("footnote", node, id)
    if (/^h[1-6]$/.test(name)) {
      const line = this.#line(children)
      return isBlank(line) ? [] : [{ kind: "heading", page, ...id, level: Number(name.slice(1)), line }]
    }
    switch (name) {
      case "p":
        return children.some((child) => isElement(child) && holdsBlock(child))
          ? this.blocks(children)
          : this.#paragraph(children, attributes["role"] === "note" ? "note" : "paragraph")
      case "ul":
      case "ol":
        return this.#list(node)
      case "dl":
        return this.#definitions(node)
      case "table":
        return this.#table(node)
      case "figure":
        return this.#figure(node)
      case "pre": {
        const code = textOf(children)
        return code.trim() === "" ? [] : [{ kind: "code", page, code }]
      }
      case "blockquote":
        return this.#around("quote", node)
      case "nav":
        return this.#around("contents", node)
      case "fieldset":
        return this.#group(node)
      case "math":
        return [
          {
            kind: "formula",
            page,
            line: [{ is: "formula", text: formulaText(node), mathml: serialize([node]) }]
          }
        ]
      case "hr":
        return [{ kind: "rule", page }]
      case "details":
        if (attributes["class"] === "scan" && !this.#scans) return []
        return this.blocks(children.filter((child) => !isElement(child) || child.name !== "summary"))
      default:
        return this.blocks(children)
    }
  }

  #list(node: HtmlElement): ReadonlyArray<Block> {
    const { page } = this
    const items = node.children
      .filter(isElement)
      .map(({ children }): Item => ({ blocks: this.blocks(children) }))
    if (items.length === 0) return []
    if (node.name === "ul") return [{ kind: "list", page, ordered: false, items }]
    const first = node.children.find(isElement)?.attributes["value"]
    const start = whole(first ?? node.attributes["start"], 1)
    return [{ kind: "list", page, ordered: true, start, items }]
  }

  #definitions(node: HtmlElement): ReadonlyArray<Block> {
    const { page } = this
    const items: Array<{ readonly terms: Array<ReadonlyArray<Inline>>; readonly blocks: Array<Block> }> = []
    for (const part of node.children.filter(isElement)) {
      const last = items.at(-1)
      const item = last === undefined || (part.name === "dt" && last.blocks.length > 0) ? undefined : last
      const current = item ?? { terms: [], blocks: [] }
      if (item === undefined) items.push(current)
      if (part.name === "dt") current.terms.push(this.#line(part.children))
      else append(current.blocks, this.blocks(part.children))
    }
    return items.length === 0 ? [] : [{ kind: "definitions", page, items }]
  }

  #figure(node: HtmlElement): ReadonlyArray<Block> {
    const { page } = this
    const captions = node.children.filter((child) => isElement(child) && child.name === "figcaption")
    const blocks = this.blocks(node.children.filter((child) => !captions.includes(child)))
    const line = this.#line(captions.flatMap((one) => (isElement(one) ? one.children : [])))
    const caption = isBlank(line) ? {} : { caption: line }
    const [only, ...others] = blocks
    if (only?.kind === "picture" && others.length === 0) return [{ ...only, ...caption }]
    return blocks.length === 0 && isBlank(line) ? [] : [{ kind: "figure", page, ...caption, blocks }]
  }

  #group(node: HtmlElement): ReadonlyArray<Block> {
    const legends = node.children.filter((child) => isElement(child) && child.name === "legend")
    const line = this.#line(legends.flatMap((one) => (isElement(one) ? one.children : [])))
    const rest = { ...node, children: node.children.filter((child) => !legends.includes(child)) }
    return this.#around("group", rest, isBlank(line) ? {} : { caption: line })
  }

  #table(node: HtmlElement): ReadonlyArray<Block> {
    const { page } = this
    const captions = node.children.filter(isElement).filter(({ name }) => name === "caption")
    const line = this.#line(captions.flatMap(({ children }) => children))
    const rows = rowsIn(node).map(({ children }) =>
      children.filter(isElement).map((cell) => this.#cell(cell))
    )
    if (rows.length === 0) return isBlank(line) ? [] : [{ kind: "paragraph", page, line }]
    return [{ kind: "table", page, ...(isBlank(line) ? {} : { caption: line }), rows }]
  }

  #cell({ attributes, children, name }: HtmlElement): Cell {
    return {
      lines: this.blocks(children).flatMap(linesOf),
      header: name === "th",
      colspan: Math.max(1, whole(attributes["colspan"], 1)),
      rowspan: Math.max(1, whole(attributes["rowspan"], 1))
    }
  }
}

const rowsIn = (node: HtmlElement): ReadonlyArray<HtmlElement> =>
  node.children
    .filter(isElement)
    .flatMap((part) =>
      part.name === "tr" ? [part] : /^t(?:head|body|foot)$/.test(part.name) ? rowsIn(part) : []
    )

/** The lines of a block where there is room for lines alone. */
const linesOf = (block: Block): ReadonlyArray<ReadonlyArray<Inline>> => {
  const { blocks = [], caption, code, items = [], line, picture, rows = [] } = block
  const text = (one: string): ReadonlyArray<Inline> => [{ is: "text", text: one }]
  return [
    ...(caption === undefined ? [] : [caption]),
    ...(line === undefined ? [] : [line]),
    ...(picture === undefined ? [] : [[{ is: "picture" as const, ...picture }]]),
    ...(code === undefined ? [] : code.split("\n").map(text)),
    ...items.flatMap((item) => [...(item.terms ?? []), ...item.blocks.flatMap(linesOf)]),
    ...rows.map((row) => row.flatMap(({ lines }) => lines.flatMap((one) => [...one, ...text(" ")]))),
    ...blocks.flatMap(linesOf)
  ]
}
