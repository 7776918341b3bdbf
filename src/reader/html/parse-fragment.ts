import type { DefaultTreeAdapterTypes } from "parse5"

import type { HtmlNode } from "../model/html-tree.ts"
import { append } from "../model/lists.ts"
import {
  safeAddress,
  COMMON_ATTRIBUTES,
  DROPPED,
  ELEMENTS,
  INPUT_TYPE,
  MATH_ATTRIBUTES,
  MATH_ELEMENTS,
  OWN_ATTRIBUTES,
  VALUES
} from "./allowed.ts"
import { parseShallow } from "./shallow.ts"

const dropped: ReadonlySet<string> = new Set(DROPPED)
const attributesOf = new Map(
  [...OWN_ATTRIBUTES].map(([name, own]) => [name, new Set([...COMMON_ATTRIBUTES, ...own])])
)
const common: ReadonlySet<string> = new Set(COMMON_ATTRIBUTES)
const ofMath: ReadonlySet<string> = new Set([...COMMON_ATTRIBUTES, ...MATH_ATTRIBUTES])

const isAllowed = (name: string, attribute: string, value: string): boolean => {
  if (name === "input" && attribute === "type") return INPUT_TYPE.test(value)
  return VALUES.get(attribute)?.test(value) ?? true
}

const attributes = (
  name: string,
  all: DefaultTreeAdapterTypes.Element["attrs"],
  math: boolean
): Record<string, string> => {
  const allowed = math ? ofMath : (attributesOf.get(name) ?? common)
  const kept: Record<string, string> = {}
  for (const { name: attribute, value } of all) {
    if (!allowed.has(attribute) || !isAllowed(name, attribute, value)) continue
    if (attribute !== "href") kept[attribute] = value
    else if (/^#[^\s"'<>]{1,200}$/.test(value)) kept[attribute] = value
    else {
      const address = safeAddress(value)
      if (address !== undefined) kept[attribute] = address
    }
  }
  return kept
}

const nodesOf = (
  children: ReadonlyArray<DefaultTreeAdapterTypes.ChildNode>,
  math: boolean
): Array<HtmlNode> => {
  const nodes: Array<HtmlNode> = []
  for (const child of children) {
    if (child.nodeName === "#text" && "value" in child) {
      const last = nodes.at(-1)
      if (typeof last === "string") nodes[nodes.length - 1] = last + child.value
      else nodes.push(child.value)
      continue
    }
    if (!("tagName" in child) || dropped.has(child.tagName)) continue
    const name = child.tagName
    const isMath = name === "math" || math
    const known = isMath ? MATH_ELEMENTS.has(name) : ELEMENTS.has(name)
    const inside = nodesOf(child.childNodes, isMath)
    if (known) nodes.push({ name, attributes: attributes(name, child.attrs, isMath), children: inside })
    else append(nodes, inside)
  }
  return nodes
}

/** Parses a fragment as a browser would, and keeps only what the allow-list has. */
export const parseFragment = (html: string): ReadonlyArray<HtmlNode> =>
  nodesOf(parseShallow(html).childNodes, false)
