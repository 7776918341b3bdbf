import { defaultTreeAdapter as tree, type DefaultTreeAdapterTypes, html, serialize } from "parse5"

/** A node of a document under construction; a string is text, and never anything else. */
export type Child = DefaultTreeAdapterTypes.Element | string | undefined

/** Makes an element; an attribute that is `undefined` is left out. */
export const element = (
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  ...children: ReadonlyArray<Child>
): DefaultTreeAdapterTypes.Element => {
  const attrs = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ name: key, value }]
  )
  const made = tree.createElement(name, html.NS.HTML, attrs)
  for (const child of children) {
    if (typeof child === "string") tree.insertText(made, child)
    else if (child !== undefined) tree.appendChild(made, child)
  }
  return made
}

/** The document with this root, written out as the HTML standard says: every text and attribute escaped. */
export const writeDocument = (root: DefaultTreeAdapterTypes.Element): string => {
  const document = tree.createDocument()
  tree.setDocumentType(document, "html", "", "")
  tree.appendChild(document, root)
  return serialize(document)
}
