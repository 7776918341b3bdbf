/** HTML of others made into HTML of a known form: what every reader of a truth needs of parse5. */
import { createHash } from "node:crypto"

import { type DefaultTreeAdapterTypes, parse, parseFragment, serialize } from "parse5"

export type Node = DefaultTreeAdapterTypes.ChildNode
export type Element = DefaultTreeAdapterTypes.Element

export const isElement = (node: Node): node is Element => "tagName" in node

export const classesOf = (node: Element): ReadonlyArray<string> =>
  (node.attrs.find(({ name }) => name === "class")?.value ?? "").split(/\s+/)

export const textOf = (node: Node): string =>
  node.nodeName === "#text" && "value" in node
    ? node.value
    : isElement(node)
      ? node.childNodes.map(textOf).join("")
      : ""

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** An element as HTML: name, attributes and the HTML inside. */
export const tag = (name: string, inside: string, attributes = ""): string =>
  `<${name}${attributes === "" ? "" : ` ${attributes}`}>${inside}</${name}>`

/** What a rule makes of an element; nothing where the element is as any other. */
export type Rule = (node: Element, inside: () => string) => string | undefined

/** Words that are bold as a whole, however deep. */
const isBold = (node: Node): boolean =>
  !isElement(node)
    ? textOf(node).trim() === ""
    : /^(strong|b)$/.test(node.tagName) || (node.childNodes.length > 0 && node.childNodes.every(isBold))

/** A paragraph that is bold as a whole and no sentence: many writers know no headings, and whether it is one only they could say. */
export const likeHeading: Rule = (node, inside) => {
  const text = textOf(node)
  return node.tagName === "p" && isBold(node) && /\w/.test(text) && !/[.;,]\s*$/.test(text)
    ? tag("p", inside(), 'class="like-heading"')
    : undefined
}

const KEPT =
  /^(h[1-6]|p|ul|ol|li|dl|dt|dd|pre|blockquote|table|caption|thead|tbody|tr|th|td|figure|figcaption|math|div|section|br|em|strong|code|sub|sup)$/

/** The HTML of nodes by a rule: elements that say something of the structure stay, without attributes but spans of cells. */
export const rewritten = (nodes: ReadonlyArray<Node>, rule: Rule): string =>
  nodes
    .map((node) => {
      if (node.nodeName === "#text" && "value" in node) return escaped(node.value)
      if (!isElement(node)) return ""
      const inside = () => rewritten(node.childNodes, rule)
      const made = rule(node, inside)
      if (made !== undefined) return made
      if (/^(script|style|nav|head|svg|img|title)$/.test(node.tagName)) return ""
      if (!KEPT.test(node.tagName)) return inside()
      if (node.tagName === "br") return "<br>"
      const spans = node.attrs.filter(
        ({ name, value }) => /^(col|row)span$/.test(name) && /^\d+$/.test(value)
      )
      return tag(node.tagName, inside(), spans.map(({ name, value }) => `${name}="${value}"`).join(" "))
    })
    .join("")

export const bodyOf = (html: string): ReadonlyArray<Node> => {
  const root = parse(html).childNodes.find((node) => node.nodeName === "html")
  const body =
    root !== undefined && isElement(root)
      ? root.childNodes.find(({ nodeName }) => nodeName === "body")
      : undefined
  return body !== undefined && isElement(body) ? body.childNodes : []
}

/** A document of a body, in balanced HTML. */
export const documentOf = (title: string, body: string): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>${escaped(title)}</title></head><body>${serialize(parseFragment(body))}</body></html>\n`

export const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex")

/** Half of a document: by the hash of its package's name, so that variants of one text stay together. */
export const halfOf = (name: string): "seen" | "unseen" =>
  Number.parseInt(sha256(name).slice(0, 2), 16) % 2 === 0 ? "seen" : "unseen"
