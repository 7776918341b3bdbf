import { element, type HtmlElement, type HtmlNode, isElement, lineOf } from "../model/html-tree.ts"

/** The ids of paragraphs that are notes of the table above them. */
const TABLE_NOTE = /^p\d+-table-note-\d+$/

/** True when a mark on its page refers to a note. */
const isReferred = (node: HtmlNode): boolean =>
  isElement(node) && (node.attributes["role"] === "doc-backlink" || node.children.some(isReferred))

/** The mark that a note begins with, and its id; undefined where the block is not an unreferenced note. */
const noteOf = (block: HtmlElement): readonly [mark: string, id: string] | undefined => {
  const { id = "", role } = block.attributes
  const isNote = block.name === "p" ? TABLE_NOTE.test(id) : role === "doc-footnote" && !isReferred(block)
  const [first] = block.children
  const sign = isElement(first) && first.name === "p" ? first.children[0] : first
  return isNote && id !== "" && isElement(sign) && sign.name === "sup" ? [lineOf([sign]), id] : undefined
}

const linked = (node: HtmlNode, notes: ReadonlyMap<string, string>): HtmlNode => {
  // A link already leads to a note of its page.
  if (!isElement(node) || node.name === "a") return node
  const id = node.name === "sup" ? notes.get(lineOf([node])) : undefined
  if (id !== undefined) return element("a", { role: "doc-noteref", href: `#${id}` }, [node])
  return element(
    node.name,
    node.attributes,
    node.children.map((child) => linked(child, notes))
  )
}

/**
 * A table that was joined over pages, with its marks linked to the notes below its last part; other blocks unchanged.
 */
export const withNotesBelow = (joined: HtmlElement, below: ReadonlyArray<HtmlElement>): HtmlElement => {
  if (joined.name !== "table" && joined.name !== "div") return joined
  const notes = new Map<string, string>()
  for (const block of below) {
    const [mark, id] = noteOf(block) ?? []
    // The first note that has a mark is the one that it means.
    if (mark !== undefined && id !== undefined && !notes.has(mark)) notes.set(mark, id)
  }
  if (notes.size === 0) return joined
  return { ...joined, children: joined.children.map((child) => linked(child, notes)) }
}
