import { serialize } from "../../domain/conversion/html/tree.ts"
import type { Marks, Meaning } from "./marks.ts"

type Item = Extract<Meaning, { readonly kind: "item" }>["label"]

/** A list that is open, as it is written: what its next item counts by itself. */
interface OpenList {
  /** Where its tag stands among the parts. */
  readonly at: number
  readonly isOrdered: boolean
  next: number | undefined
}

/** Gives lists and their items the numbers that the document gave them. */
const withNumbers = (html: string, marks: Marks<Meaning>): string => {
  const tag = new RegExp(`<(ol|ul|/ol|/ul)>|<li>${marks.pattern}`, "g")
  const parts: Array<string> = []
  const lists: Array<OpenList> = []
  let from = 0
  for (const { 0: found, 1: list, 2: digits, index } of html.matchAll(tag)) {
    parts.push(html.slice(from, index))
    from = index + found.length
    if (list !== undefined) {
      if (list.startsWith("/")) lists.pop()
      else lists.push({ at: parts.length, isOrdered: list === "ol", next: undefined })
      parts.push(found)
      continue
    }
    const meaning = marks.meaningOf(digits)
    parts.push(meaning?.kind === "item" ? numbered(meaning.label, lists.at(-1), parts) : found)
  }
  return parts.join("") + html.slice(from)
}

/** An item's tag; its list says how it counts, and from where on. */
const numbered = ({ type, value }: Item, list: OpenList | undefined, parts: Array<string>): string => {
  if (list?.isOrdered !== true) return "<li>"
  const expected = list.next
  list.next = value + 1
  if (expected === undefined) {
    const start = value === 1 ? "" : ` start="${value}"`
    parts[list.at] = `<ol${start}${type === undefined ? "" : ` type="${type}"`}>`
    return "<li>"
  }
  return expected === value ? "<li>" : `<li value="${value}">`
}

/** What stands for blocks takes its paragraph's place; what has a number and nothing else goes. */
const withWholes = (html: string, marks: Marks<Meaning>): string =>
  html.replaceAll(
    new RegExp(`<(p|li|h[1-6])>${marks.pattern}</\\1>`, "g"),
    (found, name: string, digits: string) => {
      const meaning = marks.meaningOf(digits)
      if (meaning?.kind === "drawn" && name === "p") return meaning.html
      return meaning?.kind === "item" || meaning?.kind === "words" ? "" : found
    }
  )

/** Puts captions to the tables and pictures beside them. */
const withCaptions = (html: string, mark: string): string => {
  const caption = `<p>${mark}((?:(?!</p>).)*)</p>`
  const pictures = "<p>((?:<img [^<>]*>\\s*)+)</p>"
  return html
    .replaceAll(new RegExp(`${caption}<table>`, "gs"), "<table><caption>$2</caption>")
    .replaceAll(new RegExp(`${pictures}${caption}`, "gs"), "<figure>$1<figcaption>$3</figcaption></figure>")
    .replaceAll(new RegExp(`${caption}${pictures}`, "gs"), "<figure>$3<figcaption>$2</figcaption></figure>")
}

/** mammoth writes notes' marks as plain links. */
const withNoteRoles = (html: string): string =>
  html.replaceAll(/<a href="#((?:foot|end)note-\d+)" id=/g, '<a role="doc-noteref" href="#$1" id=')

/** What marks stand for takes their place in mammoth's HTML. */
export const finish = (html: string, marks: Marks<Meaning>): string =>
  withNoteRoles(withCaptions(withNumbers(withWholes(html, marks), marks), marks.pattern)).replaceAll(
    new RegExp(marks.pattern, "g"),
    (_, digits: string) => {
      const meaning = marks.meaningOf(digits)
      switch (meaning?.kind) {
        case "formula":
        case "drawn":
          return meaning.html
        // Where it is no item after all.
        case "item":
          return serialize([`${meaning.label.text} `])
        case "words":
          return serialize([`${meaning.text} `])
        default:
          return ""
      }
    }
  )
