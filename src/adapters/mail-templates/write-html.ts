import type { Block, Cell, MailContent, Words } from "./mail-content.ts"
import { STYLE, STYLE_SHEET, type Child, element, writeDocument } from "./tree.ts"

const layoutTable = (attributes: Readonly<Record<string, string>>, cell: Child): Child =>
  element(
    "table",
    { role: "presentation", cellpadding: "0", cellspacing: "0", border: "0", ...attributes },
    element("tbody", {}, element("tr", {}, cell))
  )

const word = (part: Words): Child => {
  if (typeof part === "string") return part
  if ("strong" in part) return element("strong", {}, part.strong)
  return part.url === undefined
    ? part.link
    : element("a", { href: part.url, class: "link", style: STYLE.link }, part.link)
}

const paragraph = (words: ReadonlyArray<Words>): Child =>
  element("p", { class: "ink", style: STYLE.paragraph }, ...words.map(word))

const button = (text: string, url: string): Child =>
  layoutTable(
    { style: STYLE.buttonTable },
    element(
      "td",
      { class: "fill", style: STYLE.buttonCell },
      element("a", { href: url, class: "onfill", style: STYLE.button }, text)
    )
  )

const table = ({ caption, columns, rows, total }: Block & { readonly piece: "table" }): Child => {
  const styleOf = (index: number, styles: Readonly<Record<"figures" | "own" | "other", string>>) => {
    const { figures = false, own = false } = columns[index] ?? {}
    return figures ? styles.figures : own ? styles.own : styles.other
  }
  const HEADER = { figures: STYLE.headerFigure, own: STYLE.headerOwn }
  const header = (scope: "col" | "row", cell: Cell, index: number) => {
    // The name of a column is a word of our own, whatever is in its cells.
    const style = styleOf(index, { ...HEADER, other: scope === "col" ? STYLE.headerOwn : STYLE.header })
    return element("th", { scope, class: "ink", style }, word(cell))
  }
  const DATA = { figures: STYLE.dataFigure, own: STYLE.dataOwn, other: STYLE.data }
  const row = (cells: ReadonlyArray<Cell>) =>
    element(
      "tr",
      {},
      ...cells.map((cell, index) =>
        index === 0
          ? header("row", cell, index)
          : element("td", { class: "ink", style: styleOf(index, DATA) }, word(cell))
      )
    )
  return element(
    "table",
    { style: STYLE.table },
    element("caption", { class: "ink", style: STYLE.caption }, caption),
    element("thead", {}, element("tr", {}, ...columns.map(({ name }, index) => header("col", name, index)))),
    element("tbody", {}, ...rows.map(row)),
    total === undefined ? undefined : element("tfoot", {}, row(total.map((strong) => ({ strong }))))
  )
}

const block = (part: Block): Child => {
  switch (part.piece) {
    case "paragraph":
      return paragraph(part.words)
    case "heading":
      return element("h2", { class: "ink", style: STYLE.heading }, part.text)
    case "quote":
      return element("blockquote", { class: "ink", dir: "auto", style: STYLE.quote }, part.text)
    case "button":
      return part.url === undefined ? paragraph([part.text]) : button(part.text, part.url)
    case "list":
      return element(
        "ul",
        { class: "ink", style: STYLE.list },
        ...part.items.map((words) => element("li", {}, ...words.map(word)))
      )
    case "table":
      return table(part)
  }
}

/** The mail as an HTML document: laid out by tables marked as presentation, with one first-level heading. */
export const writeHtml = ({ blocks, footer, preview, subject, title }: MailContent): string => {
  const head = element(
    "head",
    {},
    element("meta", { charset: "utf-8" }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("meta", { name: "supported-color-schemes", content: "light dark" }),
    element("title", {}, subject),
    element("style", {}, STYLE_SHEET)
  )
  const brand = element(
    "div",
    { role: "banner" },
    element("p", { class: "muted", style: STYLE.footnote }, "Postlane")
  )
  const main = element(
    "div",
    { role: "main" },
    element("h1", { class: "ink", style: STYLE.title }, title),
    ...blocks.map(block)
  )
  const notes =
    footer.length === 0
      ? undefined
      : element(
          "div",
          { role: "contentinfo", class: "line", style: STYLE.footer },
          ...footer.map((words) =>
            element("p", { class: "muted", style: STYLE.footnote }, ...words.map(word))
          )
        )
  const card = layoutTable(
    { class: "card", style: STYLE.card },
    element("td", {}, element("div", { class: "pad", style: STYLE.cell }, brand, main), notes)
  )
  const body = element(
    "body",
    { class: "ground", style: STYLE.body },
    element("div", { style: STYLE.preview }, preview),
    layoutTable(
      { class: "ground", style: STYLE.outer },
      element("td", { align: "center", class: "pad", style: STYLE.cell }, card)
    )
  )
  return writeDocument(element("html", { lang: "en", dir: "ltr" }, head, body))
}
