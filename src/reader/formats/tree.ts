import type { DefaultTreeAdapterTypes } from "parse5"

import { parseShallow } from "../html/shallow.ts"
import type { HtmlNode } from "../model/html-tree.ts"

/** Elements that are not for readers. */
const SILENT = /^(?:script|style|template|title|head|object|iframe)$/

const nodesOf = (children: ReadonlyArray<DefaultTreeAdapterTypes.ChildNode>): ReadonlyArray<HtmlNode> => {
  const nodes: Array<HtmlNode> = []
  for (const child of children) {
    if (child.nodeName === "#text" && "value" in child) {
      const last = nodes.at(-1)
      if (typeof last === "string") nodes[nodes.length - 1] = last + child.value
      else nodes.push(child.value)
    } else if ("tagName" in child && !SILENT.test(child.tagName)) {
      const attributes: Record<string, string> = {}
      for (const { name, value } of child.attrs) attributes[name] = value
      nodes.push({ name: child.tagName, attributes, children: nodesOf(child.childNodes) })
    }
  }
  return nodes
}

/** Reads a piece of a result as a browser would, with all its attributes. */
export const treeOf = (html: string): ReadonlyArray<HtmlNode> => nodesOf(parseShallow(html).childNodes)
