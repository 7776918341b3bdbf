import { serialize } from "../../model/html-tree.ts"
import type { Marks, Meaning } from "./package/marks.ts"

type Item = Extract<Meaning, { readonly kind: "item" }>["label"]

/** An open list, with what its next item counts by itself. */
interface OpenList {
  /** Index of its tag among the parts. */
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

/** Blocks replace the paragraph of their mark; a paragraph with a number and nothing else is removed. */
const withWholes = (html: string, marks: Marks<Meaning>): string =>
  html.replaceAll(
    new RegExp(`<(p|li|h[1-6])>${marks.pattern}</\\1>`, "g"),
    (found, name: string, digits: string) => {
      const meaning = marks.meaningOf(digits)
      if (meaning?.kind === "drawn" && name === "p") return meaning.html
      return meaning?.kind === "item" || meaning?.kind === "words" ? "" : found
    }
  )

/** Cells that name their rows are heads of these. */
const withRowHeads = (html: string, marks: Marks<Meaning>): string => {
  const cell = new RegExp(`<td([^<>]*)>((?:<[a-z0-9]+>){0,4})${marks.pattern}|<td\\b|</td>`, "g")
  const ends: Array<string> = []
  return html.replaceAll(cell, (found, spans = "", before = "", digits?: string) => {
    if (found === "</td>") return ends.pop() ?? found
    const isHead = marks.meaningOf(digits)?.kind === "rowHead"
    ends.push(isHead ? "</th>" : "</td>")
    return isHead ? `<th${spans} scope="row">${before}` : found
  })
}

/** A paragraph of pictures alone. */
const PICTURES = /^<p>((?:<img [^<>]*>\s*)+)<\/p>$/

/** Moves captions into the tables and pictures next to them. Linear: each is looked for between two captions. */
const withCaptions = (html: string, marks: Marks<Meaning>): string => {
  const start = new RegExp(`<p>${marks.pattern}`, "g")
  const starts = [...html.matchAll(start)].filter(([, digits]) => marks.meaningOf(digits)?.kind === "caption")
  let before = html.slice(0, starts[0]?.index)
  const parts: Array<string> = []
  for (const [at, { 0: found, index }] of starts.entries()) {
    const part = html.slice(index + found.length, starts[at + 1]?.index)
    const end = part.indexOf("</p>")
    const [caption, after] = [part.slice(0, end), part.slice(end + "</p>".length)]
    const last = before.lastIndexOf("<p>")
    const above = last < 0 ? undefined : PICTURES.exec(before.slice(last))?.[1]
    const next = after.indexOf("</p>") + "</p>".length
    const below = PICTURES.exec(after.slice(0, next))?.[1]
    const figure = (pictures: string) => `<figure>${pictures}<figcaption>${caption}</figcaption></figure>`
    if (after.startsWith("<table>")) {
      parts.push(before, `<table><caption>${caption}</caption>`)
      before = after.slice("<table>".length)
    } else if (above !== undefined) {
      parts.push(before.slice(0, last), figure(above))
      before = after
    } else if (below !== undefined) {
      parts.push(before, figure(below))
      before = after.slice(next)
    } else {
      parts.push(before, `<p>${caption}</p>`)
      before = after
    }
  }
  return parts.join("") + before
}

/** mammoth writes notes' marks as plain links. */
const withNoteRoles = (html: string): string =>
  html.replaceAll(/<a href="#((?:foot|end)note-\d+)" id=/g, '<a role="doc-noteref" href="#$1" id=')

/** Replaces the marks in mammoth's HTML by what they represent. */
export const finish = (html: string, marks: Marks<Meaning>): string =>
  withNoteRoles(
    withCaptions(withNumbers(withWholes(withRowHeads(html, marks), marks), marks), marks)
  ).replaceAll(new RegExp(marks.pattern, "g"), (_, digits: string) => {
    const meaning = marks.meaningOf(digits)
    switch (meaning?.kind) {
      case "formula":
      case "drawn":
        return meaning.html
      // The paragraph is not a list item after all.
      case "item":
        return serialize([`${meaning.label.text} `])
      case "words":
        return serialize([`${meaning.text} `])
      default:
        return ""
    }
  })
