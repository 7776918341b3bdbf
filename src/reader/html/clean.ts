import { fromParse5 } from "hast-util-from-parse5"
import { sanitize, type Schema } from "hast-util-sanitize"

import { element, type HtmlNode, serialize } from "../model/html-tree.ts"
import {
  COMMON_ATTRIBUTES,
  DROPPED,
  ELEMENTS,
  MATH_ATTRIBUTES,
  MATH_ELEMENTS,
  OWN_ATTRIBUTES
} from "./allowed.ts"
import { parseFragment } from "./parse-fragment.ts"
import { parseShallow } from "./shallow.ts"

type Nodes = ReturnType<typeof sanitize>
type Element = Extract<Nodes, { type: "element" }>
type Child = Element["children"][number]
type TopLevel = Extract<Nodes, { type: "root" }>["children"][number]
type Properties = Element["properties"]

/**
 * Longest answer that is read, characters: several times what a model writes for a page. Finding open elements is quadratic in
 * their depth, so that a longer one could stall a worker.
 */
const MAX_FRAGMENT = 200_000

/** hast names attributes as the DOM does. */
const PROPERTIES: ReadonlyMap<string, string> = new Map([
  ["colspan", "colSpan"],
  ["rowspan", "rowSpan"],
  ["datetime", "dateTime"]
])
const properties = (names: ReadonlyArray<string>): Array<string> =>
  // Attributes that only the layout tier may set are not accepted from a model.
  names.filter((name) => !name.startsWith("data-")).map((name) => PROPERTIES.get(name) ?? name)

const SCHEMA: Schema = {
  tagNames: [...ELEMENTS, ...MATH_ELEMENTS],
  attributes: {
    "*": properties(COMMON_ATTRIBUTES),
    ...Object.fromEntries([...OWN_ATTRIBUTES].map(([name, own]) => [name, properties(own)])),
    ...Object.fromEntries([...MATH_ELEMENTS].map((name) => [name, [...MATH_ATTRIBUTES]]))
  },
  protocols: { href: ["http", "https", "mailto", "tel", "ftp"], src: ["data"] },
  strip: [...DROPPED],
  // Assembly adds a prefix to the ids of each page.
  clobber: [],
  allowComments: false,
  allowDoctypes: false
}

const attributes = (of: Properties): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(of).map(([name, value]) => [
      name.toLowerCase(),
      value === true
        ? ""
        : Array.isArray(value)
          ? value.join(" ")
          : value === false || value === null
            ? undefined
            : value?.toString()
    ])
  )

const isKept = (node: TopLevel): node is Element | Extract<Child, { type: "text" }> =>
  node.type === "element" || node.type === "text"

const nodesOf = (nodes: ReadonlyArray<TopLevel>): ReadonlyArray<HtmlNode> =>
  nodes
    .filter(isKept)
    .map((node) =>
      node.type === "text"
        ? node.value
        : element(node.tagName, attributes(node.properties), nodesOf(node.children))
    )

const childrenOf = (node: Nodes): ReadonlyArray<TopLevel> =>
  node.type === "root"
    ? node.children.filter((child) => child.type !== "doctype")
    : node.type === "element"
      ? [node]
      : []

/** A model's fence of Markdown around its answer. */
const unfenced = (html: string): string => {
  const text = html.trim()
  const fence = /^```[a-z]*[^\S\n]*\n/i.exec(text)?.[0].length
  return fence !== undefined && text.length >= fence + 3 && text.endsWith("```")
    ? text.slice(fence, -3).replace(/\n$/, "")
    : html
}

/**
 * What may stay of a fragment that a model wrote. Sanitised as a tree, written out and read again: markup that two parses read
 * differently does not survive both.
 */
export const cleanFragment = (html: string): string => {
  const tree = fromParse5(parseShallow(unfenced(html.slice(0, MAX_FRAGMENT))))
  return serialize(parseFragment(serialize(nodesOf(childrenOf(sanitize(tree, SCHEMA))))))
}
