/** An element of an HTML document, names in lower case. */
export interface HtmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<HtmlNode>
}

/** A string is text, and never markup. */
export type HtmlNode = HtmlElement | string

const VOID: ReadonlySet<string> = new Set(["br", "col", "hr", "img", "input", "meta", "wbr"])

/** Whether an element has no content, and no closing tag. */
export const isVoid = (name: string): boolean => VOID.has(name)

/** Makes an element; an attribute that is `undefined` is left out. */
export const element = (
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  children: ReadonlyArray<HtmlNode> = []
): HtmlElement => {
  const kept: Record<string, string> = {}
  for (const key in attributes) {
    const value = attributes[key]
    if (value !== undefined) kept[key] = value
  }
  return { name, attributes: kept, children }
}

export const isElement = (node: HtmlNode | undefined): node is HtmlElement => typeof node === "object"

/** Characters that are not allowed in HTML. */
const CONTROL = /(?![\t\n])[\p{Cc}\ufdd0-\ufdef\ufffe\uffff]/gu

/** A text without the characters that are not allowed in HTML. */
export const allowedText = (text: string): string => text.toWellFormed().replaceAll(CONTROL, "")

const SPECIAL = /[&<>\u00a0]/g
const SPECIAL_QUOTED = /[&<>"\u00a0]/g
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["\u00a0", "&nbsp;"]
])

/** Whether a text needs any escaping; most need none. */
const PECULIAR = /[^\n\t !#-%'-;=?-~\u00a1-\ud7ff]/

const escaped = (text: string, special: RegExp): string =>
  PECULIAR.test(text) ? written(text, special) : text

const written = (text: string, special: RegExp): string =>
  allowedText(text).replaceAll(special, (sign) => ENTITIES.get(sign) ?? sign)

const write = (node: HtmlNode, parts: Array<string>): void => {
  if (typeof node === "string") {
    parts.push(escaped(node, SPECIAL))
    return
  }
  parts.push("<", node.name)
  for (const key in node.attributes)
    parts.push(" ", key, '="', escaped(node.attributes[key] ?? "", SPECIAL_QUOTED), '"')
  parts.push(">")
  if (isVoid(node.name)) return
  // A parser drops the first line break of a pre.
  const [first] = node.children
  if (node.name === "pre" && typeof first === "string" && first.startsWith("\n")) parts.push("\n")
  for (const child of node.children) write(child, parts)
  parts.push("</", node.name, ">")
}

/** Serialises nodes: every text and attribute escaped, every element closed. */
export const serialize = (nodes: ReadonlyArray<HtmlNode>): string => {
  const parts: Array<string> = []
  for (const node of nodes) write(node, parts)
  return parts.join("")
}

const gather = (node: HtmlNode, parts: Array<string>): void => {
  if (typeof node === "string") parts.push(node)
  else if (node.name === "br") parts.push("\n")
  else for (const child of node.children) gather(child, parts)
}

/** The text of nodes, with unchanged white space. */
export const textOf = (nodes: ReadonlyArray<HtmlNode>): string => {
  const parts: Array<string> = []
  for (const node of nodes) gather(node, parts)
  return parts.join("")
}

/** The text on one line. */
export const lineOf = (nodes: ReadonlyArray<HtmlNode>): string => textOf(nodes).replaceAll(/\s+/g, " ").trim()

/** Whether nothing of it can be read or seen. */
export const isEmpty = (nodes: ReadonlyArray<HtmlNode>): boolean =>
  nodes.every((node) =>
    typeof node === "string"
      ? node.trim() === ""
      : !["img", "svg", "input", "select", "textarea", "button", "math", "hr"].includes(node.name) &&
        node.attributes["role"] !== "doc-pagebreak" &&
        isEmpty(node.children)
  )

const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["nbsp", "\u00a0"]
])

/** A text without the escapes that {@link serialize} writes; it writes no others. */
export const unescaped = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|nbsp);/g, (all, name: string) => CHARACTERS.get(name) ?? all)
