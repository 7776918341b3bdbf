import { type DefaultTreeAdapterTypes, parse } from "parse5"

/** An element of a parsed mail. */
export interface Found {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** All text in it. */
  readonly text: string
}

const textOf = (node: DefaultTreeAdapterTypes.Node): string => {
  if ("value" in node) return node.value
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : ""
}

const within = (node: DefaultTreeAdapterTypes.Node): ReadonlyArray<Found> => {
  const inner = "childNodes" in node ? node.childNodes.flatMap(within) : []
  if (!("tagName" in node)) return inner
  const attributes = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]))
  return [{ name: node.tagName, attributes, text: textOf(node) }, ...inner]
}

/** Every element, in order, as a browser would read the document. */
export const elementsOf = (html: string): ReadonlyArray<Found> => within(parse(html))

/** The elements of one name. */
export const named = (html: string, ...names: ReadonlyArray<string>): ReadonlyArray<Found> =>
  elementsOf(html).filter(({ name }) => names.includes(name))

/** Names of elements and of their attributes, in order: what values must not change. */
export const shapeOf = (html: string): ReadonlyArray<string> =>
  elementsOf(html).map(({ attributes, name }) => `${name} ${Object.keys(attributes).join(" ")}`)
