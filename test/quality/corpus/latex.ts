/** The structure of a LaTeX source, as LaTeXML reads it: headings, formulas, figures, tables, text. */
import {
  bodyOf,
  classesOf,
  documentOf,
  type Element,
  isElement,
  type Node,
  rewritten,
  tag,
  textOf
} from "./tree.ts"

const find = (node: Element, name: string): ReadonlyArray<Element> =>
  node.childNodes.flatMap((child) =>
    !isElement(child) ? [] : child.tagName === name ? [child] : find(child, name)
  )

const hasClass = (node: Element, name: string): boolean => classesOf(node).includes(name)

/** Words of a formula: scripts stand at their base, operators on their own. */
const mathText = (node: Node): string =>
  !isElement(node)
    ? textOf(node)
    : node.tagName.startsWith("annotation")
      ? ""
      : node.tagName === "mo"
        ? ` ${textOf(node)} `
        : node.childNodes.map(mathText).join(/^m(table|tr|frac)$/.test(node.tagName) ? " " : "")

/** One display formula a row that has a number of its own, one in all where rows have none. */
const formulas = (table: Element): string => {
  const rows = find(table, "tr")
  const groups: Array<string> = []
  let open = ""
  for (const row of rows) {
    const math = find(row, "math").map(mathText).join(" ")
    const number = find(row, "span")
      .filter((span) => hasClass(span, "ltx_tag_equation"))
      .map(textOf)
      .join(" ")
    if (math.trim() === "" && number === "") continue
    open += ` ${math}`
    if (number === "") continue
    groups.push(`${open} ${number}`)
    open = ""
  }
  if (open.trim() !== "") groups.push(open)
  return groups
    .map((group) => tag("div", group.replaceAll("&", "&amp;").replaceAll("<", "&lt;"), 'role="math"'))
    .join("")
}

/** Truth of a document that LaTeXML has converted to HTML. */
export const readLatex = (html: string): string => {
  const notes: Array<string> = []
  const body = rewritten(bodyOf(html), (node, inside) => {
    const is = (name: string) => hasClass(node, name)
    if (is("ltx_ERROR") || is("ltx_page_footer") || is("ltx_dates") || is("ltx_TOC") || is("ltx_rule"))
      return ""
    if (is("ltx_eqn_table")) return formulas(node)
    if (node.tagName === "math") {
      const text = mathText(node).replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      return node.attrs.some(({ name, value }) => name === "display" && value === "block")
        ? tag("div", text, 'role="math"')
        : text
    }
    if (is("ltx_note")) {
      const content = find(node, "span").flatMap((outer) => find(outer, "span"))
      // The mark stands twice within the note; its text goes to the end, as in the result.
      const text = content
        .map((one) =>
          rewritten(
            one.childNodes.filter(
              (child) =>
                !isElement(child) || !(hasClass(child, "ltx_note_mark") || hasClass(child, "ltx_tag"))
            ),
            () => undefined
          )
        )
        .join(" ")
      notes.push(tag("p", text))
      return is("ltx_role_footnote")
        ? rewritten(node.childNodes.slice(0, 2), (one) => (hasClass(one, "ltx_note_outer") ? "" : undefined))
        : ""
    }
    if (
      /^h[1-6]$/.test(node.tagName) &&
      (is("ltx_title_abstract") ||
        is("ltx_title_theorem") ||
        is("ltx_title_proof") ||
        is("ltx_title_keywords"))
    )
      return tag("p", inside())
    if (node.tagName === "figure") {
      if (is("ltx_table")) return tag("div", inside())
      return is("ltx_figure") && !is("ltx_figure_panel") ? tag("figure", inside()) : tag("div", inside())
    }
    // Nested panels and the lines of listings are laid out as tables, but are none.
    if (node.tagName === "table" && !is("ltx_tabular")) return tag("div", inside())
    return undefined
  })
  const title = /<title>([^<]*)/.exec(html)?.[1] ?? ""
  return documentOf(title, body + notes.join(""))
}
