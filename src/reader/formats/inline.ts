import { type HtmlElement, type HtmlNode, isElement, serialize, textOf } from "../model/html-tree.ts"
import { formulaText } from "./formula.ts"

/** How words are set apart. */
export type Mark = "strong" | "emphasis" | "deleted" | "sub" | "sup"

/** A control of a form. */
interface Field {
  readonly type: string
  readonly name: string
  readonly value: string
  readonly checked: boolean
}

/** A picture where it is used. `source`: its data, or the name of the drawing that has them. */
export interface PictureUse {
  readonly alt: string
  readonly index: number | null
  readonly source: string | undefined
}

/** A part of a line. */
export type Inline =
  | { readonly is: "text" | "code"; readonly text: string }
  | { readonly is: "break" }
  | { readonly is: "mark"; readonly mark: Mark; readonly children: ReadonlyArray<Inline> }
  | { readonly is: "link"; readonly href: string; readonly children: ReadonlyArray<Inline> }
  | ({ readonly is: "picture" } & PictureUse)
  | { readonly is: "formula"; readonly text: string; readonly mathml: string }
  | { readonly is: "field"; readonly text: string; readonly field: Field }

const MARKS: ReadonlyMap<string, Mark> = new Map<string, Mark>([
  ["strong", "strong"],
  ["b", "strong"],
  ["em", "emphasis"],
  ["i", "emphasis"],
  ["cite", "emphasis"],
  ["dfn", "emphasis"],
  ["var", "emphasis"],
  ["del", "deleted"],
  ["s", "deleted"],
  ["sub", "sub"],
  ["sup", "sup"]
])

const CODE: ReadonlySet<string> = new Set(["code", "kbd", "samp"])
const CONTROLS: ReadonlySet<string> = new Set(["input", "select", "textarea", "button"])

/** Text with white space as HTML shows it. */
const collapsed = (text: string): string => text.replaceAll(/[ \t\n\r\f]+/g, " ")

export const isPageMark = ({ attributes: { role } }: HtmlElement): boolean => role === "doc-pagebreak"

/** The page that a mark begins, from 1. */
export const pageOf = ({ attributes: { id = "" } }: HtmlElement): number | undefined => {
  const number = /^page-(\d{1,7})$/.exec(id)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** A picture that is an element of its own, or a use of one that is stored once; undefined for a store. */
const pictureUse = ({ attributes, children, name }: HtmlElement): PictureUse | undefined => {
  if (name === "img") return useOf(attributes["data-picture"], attributes["alt"], attributes["src"])
  if (attributes["class"] === "store") return undefined
  const use = children.filter(isElement).find((child) => child.name === "use")
  return useOf(use?.attributes["data-picture"], attributes["aria-label"], use?.attributes["href"])
}

const useOf = (index: string | undefined, alt = "", source?: string): PictureUse => ({
  alt: collapsed(alt).trim(),
  index: index === undefined ? null : Number(index),
  source
})

/** The options that are chosen, or the first, as a browser shows it. */
const chosen = ({ attributes, children }: HtmlElement): string => {
  const options = children.filter(isElement)
  const selected = options.filter((option) => option.attributes["selected"] !== undefined)
  const shown = selected.length > 0 || attributes["multiple"] !== undefined ? selected : options.slice(0, 1)
  return shown.map((option) => collapsed(textOf([option])).trim()).join(", ")
}

/** A control and its text: a box, or what is filled in. */
const fieldOf = (node: HtmlElement): Inline => {
  const { attributes, name } = node
  const type = name === "input" ? (attributes["type"] ?? "text") : name
  const checked = attributes["checked"] !== undefined
  const value =
    name === "select" ? chosen(node) : name === "input" ? (attributes["value"] ?? "") : textOf([node])
  const text =
    type === "checkbox"
      ? checked
        ? "[x]"
        : "[ ]"
      : type === "radio"
        ? checked
          ? "(x)"
          : "( )"
        : collapsed(value).trim() || "____"
  return { is: "field", text, field: { type, name: attributes["aria-label"] ?? "", value, checked } }
}

/**
 * The line of these nodes. Page marks and links back from notes are the converter's, and left out; `onPage` hears of the pages that
 * begin within.
 */
export const inlineOf = (
  nodes: ReadonlyArray<HtmlNode>,
  onPage: (page: number) => void
): ReadonlyArray<Inline> =>
  nodes.flatMap((node): ReadonlyArray<Inline> => {
    if (typeof node === "string") return [{ is: "text", text: collapsed(node) }]
    const { attributes, name } = node
    if (isPageMark(node)) {
      const page = pageOf(node)
      if (page !== undefined) onPage(page)
      return []
    }
    if (attributes["role"] === "doc-backlink" || name === "summary") return []
    if (name === "br") return [{ is: "break" }]
    if (name === "img" || name === "svg") {
      const use = pictureUse(node)
      return use === undefined ? [] : [{ is: "picture", ...use }]
    }
    if (name === "math") return [{ is: "formula", text: formulaText(node), mathml: serialize([node]) }]
    if (CONTROLS.has(name)) return [fieldOf(node)]
    if (CODE.has(name)) return [{ is: "code", text: collapsed(textOf([node])).trim() }]
    const children = inlineOf(node.children, onPage)
    if (name === "a" && attributes["href"] !== undefined)
      return [{ is: "link", href: attributes["href"], children }]
    const mark = MARKS.get(name)
    return mark === undefined ? children : [{ is: "mark", mark, children }]
  })

/** The text of a line as it is: white space at its ends, too. */
const rawText = (line: ReadonlyArray<Inline>): string =>
  line
    .map((part) => {
      switch (part.is) {
        case "break":
          return "\n"
        case "mark":
        case "link":
          return rawText(part.children)
        case "picture":
          return part.alt === "" ? "" : `[${part.alt}]`
        default:
          return part.text
      }
    })
    .join("")

/** The text of a line: a description in brackets for a picture, a line break for a break. */
export const plainText = (line: ReadonlyArray<Inline>): string =>
  rawText(line)
    .replaceAll("\u00a0", " ")
    .replaceAll(/ +/g, " ")
    .replaceAll(/ ?\n ?/g, "\n")
    .trim()

/** Whether there is nothing to write of a line. */
export const isBlank = (line: ReadonlyArray<Inline>): boolean =>
  plainText(line) === "" && !line.some(({ is }) => is === "picture")

/** What is in a line, at any depth. */
export const partsOf = (line: ReadonlyArray<Inline>): ReadonlyArray<Inline> =>
  line.flatMap((part) => ("children" in part ? [part, ...partsOf(part.children)] : [part]))
