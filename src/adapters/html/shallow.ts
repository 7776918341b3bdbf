import { defaultTreeAdapter as adapter, type DefaultTreeAdapterTypes, parseFragment } from "parse5"

/** Deepest nesting that is kept: the tree walkers are recursive. Pages have twenty levels. */
const MAX_DEPTH = 200

/** Elements whose text is not for readers. */
const SILENT = /^(script|style|template)$/

type Parent = DefaultTreeAdapterTypes.ParentNode
type Child = DefaultTreeAdapterTypes.ChildNode

const hasChildren = (node: Child): node is DefaultTreeAdapterTypes.Element => "childNodes" in node

/** The text under a node, without recursion. */
const textUnder = (node: Parent): string => {
  let text = ""
  const open: Array<Child> = [...node.childNodes].reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.nodeName === "#text" && "value" in next) text += next.value
    else if (hasChildren(next) && !SILENT.test(next.tagName))
      for (let at = next.childNodes.length - 1; at >= 0; at--) {
        const child = next.childNodes[at]
        if (child !== undefined) open.push(child)
      }
  }
  return text
}

/** Reads HTML as a browser would; elements that are nested too deep give their text alone. */
export const parseShallow = (html: string): DefaultTreeAdapterTypes.DocumentFragment => {
  const fragment = parseFragment(html)
  let level: ReadonlyArray<Parent> = [fragment]
  for (let depth = 0; level.length > 0; depth++) {
    const below = level.flatMap((node) => node.childNodes.filter(hasChildren))
    if (depth < MAX_DEPTH) level = below
    else {
      for (const node of below) {
        const text = adapter.createTextNode(textUnder(node))
        node.childNodes = []
        if (!SILENT.test(node.tagName)) adapter.appendChild(node, text)
      }
      break
    }
  }
  return fragment
}
