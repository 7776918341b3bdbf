import { element, type HtmlElement, type HtmlNode, isElement, isEmpty } from "./tree.ts"

/** Deepest nesting that is kept; below it only text is. */
export const MAX_DEPTH = 250

/** Block-level elements. */
export const BLOCKS: ReadonlySet<string> = new Set([
  "blockquote",
  "details",
  "dl",
  "div",
  "figure",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "ol",
  "p",
  "pre",
  "table",
  "ul"
])
/** How many columns a row has. */
export const columnsOf = (row: HtmlElement): number =>
  row.children.reduce(
    (sum, cell) => sum + (isElement(cell) ? Math.max(1, Number(cell.attributes["colspan"] ?? 1)) : 0),
    0
  )

/** A table's first row. */
export const firstRow = (table: HtmlElement): HtmlElement | undefined => {
  for (const part of table.children) {
    if (!isElement(part)) continue
    if (part.name === "tr") return part
    const row = part.children.find((child) => isElement(child) && child.name === "tr")
    if (isElement(row)) return row
  }
  return undefined
}

/** Whether it contains block elements. */
export const holdsBlocks = (nodes: ReadonlyArray<HtmlNode>): boolean =>
  nodes.some(
    (node) =>
      isElement(node) && (BLOCKS.has(node.name) || (node.name !== "math" && holdsBlocks(node.children)))
  )

/** Collects the ids of nodes. */
export const collectIds = (nodes: ReadonlyArray<HtmlNode>, ids: Set<string>, depth = 0): void => {
  for (const node of nodes) {
    if (!isElement(node) || depth > MAX_DEPTH) continue
    const id = node.attributes["id"]
    if (id !== undefined && id !== "") ids.add(id)
    collectIds(node.children, ids, depth + 1)
  }
}

/** Splits a group without meaning into its blocks, and paragraphs of the loose content between them. */
export const grouped = (children: ReadonlyArray<HtmlNode>): ReadonlyArray<HtmlNode> => {
  const all: Array<HtmlNode> = []
  let inline: Array<HtmlNode> = []
  const close = () => {
    if (!isEmpty(inline)) all.push(element("p", {}, inline))
    inline = []
  }
  for (const child of children) {
    if (isElement(child) && BLOCKS.has(child.name)) {
      close()
      all.push(child)
    } else inline.push(child)
  }
  close()
  return all
}
