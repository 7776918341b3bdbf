import { defaultTreeAdapter as tree, type DefaultTreeAdapterTypes, html, serialize } from "parse5"

/** Colours: at least 4.5 to 1 for every text on its ground, in light and in dark (axe checks both). */
const LIGHT = {
  ground: "#f3f4f6",
  card: "#ffffff",
  ink: "#1b1f24",
  muted: "#4b5563",
  line: "#c6ccd3",
  link: "#0b57d0",
  onLink: "#ffffff"
}
const DARK = {
  ground: "#0f1115",
  card: "#191c22",
  ink: "#e8eaed",
  muted: "#b3bac3",
  line: "#4a515b",
  link: "#8ab4f8",
  onLink: "#0b1220"
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const TEXT = `${FONT};font-size:16px;line-height:1.5;color:${LIGHT.ink}`

/** Styles on the elements themselves: what clients keep that drop the style sheet. */
export const STYLE = {
  body: `margin:0;padding:0;background-color:${LIGHT.ground}`,
  preview: "display:none;max-height:0;overflow:hidden",
  outer: `width:100%;background-color:${LIGHT.ground}`,
  card: `width:100%;max-width:600px;margin:0 auto;background-color:${LIGHT.card}`,
  cell: "padding:24px",
  title: `${TEXT};font-size:24px;line-height:1.25;font-weight:700;margin:0 0 16px`,
  heading: `${TEXT};font-size:18px;line-height:1.3;font-weight:700;margin:24px 0 8px`,
  paragraph: `${TEXT};margin:0 0 16px;overflow-wrap:anywhere`,
  quote: `${TEXT};margin:0 0 16px;padding:0 0 0 16px;border-left:4px solid ${LIGHT.line};white-space:pre-wrap;overflow-wrap:anywhere`,
  list: `${TEXT};margin:0 0 16px;padding:0 0 0 24px;overflow-wrap:anywhere`,
  link: `color:${LIGHT.link};text-decoration:underline`,
  buttonTable: "margin:0 0 16px",
  buttonCell: `background-color:${LIGHT.link};border-radius:6px`,
  button: `${FONT};display:inline-block;padding:12px 20px;font-size:16px;line-height:1.5;font-weight:700;color:${LIGHT.onLink};text-decoration:none`,
  table: "width:100%;border-collapse:collapse;margin:0 0 16px",
  caption: `${TEXT};text-align:left;font-weight:700;padding:0 0 8px`,
  header: `${TEXT};text-align:left;vertical-align:top;padding:8px 8px 8px 0;border-bottom:1px solid ${LIGHT.line};overflow-wrap:anywhere;min-width:96px`,
  headerOwn: `${TEXT};text-align:left;vertical-align:top;padding:8px 8px 8px 0;border-bottom:1px solid ${LIGHT.line}`,
  headerFigure: `${TEXT};text-align:right;vertical-align:top;padding:8px 0 8px 8px;border-bottom:1px solid ${LIGHT.line}`,
  dataOwn: `${TEXT};text-align:left;vertical-align:top;padding:8px 8px 8px 0;border-bottom:1px solid ${LIGHT.line}`,
  data: `${TEXT};text-align:left;vertical-align:top;padding:8px 8px 8px 0;border-bottom:1px solid ${LIGHT.line};overflow-wrap:anywhere`,
  dataFigure: `${TEXT};text-align:right;vertical-align:top;padding:8px 0 8px 8px;border-bottom:1px solid ${LIGHT.line};white-space:nowrap`,
  footer: `padding:16px 24px 24px;border-top:1px solid ${LIGHT.line}`,
  footnote: `${FONT};font-size:14px;line-height:1.5;color:${LIGHT.muted};margin:0 0 8px;overflow-wrap:anywhere`
} as const

/** What dark mode and narrow screens change; by class, since it has to win over the styles on the elements. */
export const STYLE_SHEET = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.ground{background-color:${DARK.ground}!important}
.card{background-color:${DARK.card}!important}
.ink{color:${DARK.ink}!important;border-color:${DARK.line}!important}
.muted{color:${DARK.muted}!important}
.line{border-color:${DARK.line}!important}
.link{color:${DARK.link}!important}
.fill{background-color:${DARK.link}!important}
.onfill{color:${DARK.onLink}!important}
}
@media (max-width:440px){
.pad{padding:12px!important}
}`

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
