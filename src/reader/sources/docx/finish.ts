import { serialize } from "../../model/html-tree.ts"
import { isTableCaption } from "../../stages/lines/markers.ts"
import type { Marks, Meaning } from "./package/marks.ts"

type Item = Extract<Meaning, { readonly kind: "item" }>

/** An open list, with what its next item counts by itself. */
interface OpenList {
  /** Index of its tag among the parts. */
  readonly at: number
  readonly isOrdered: boolean
  next: number | undefined
  /** Of its last item: how it counts, and what defines its list. */
  type: string | undefined
  definition: string | undefined
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
      else
        lists.push({
          at: parts.length,
          isOrdered: list === "ol",
          next: undefined,
          type: undefined,
          definition: undefined
        })
      parts.push(found)
      continue
    }
    const meaning = marks.meaningOf(digits)
    parts.push(meaning?.kind === "item" ? numbered(meaning, lists.at(-1), parts) : found)
  }
  return parts.join("") + html.slice(from)
}

const listTag = (type: string | undefined, value: number): string =>
  `<ol${value === 1 ? "" : ` start="${value}"`}${type === undefined ? "" : ` type="${type}"`}>`

/** An item's tag; its list says how it counts, and from where on. mammoth makes one list of two that stand one behind the other. */
const numbered = (
  { definition, label: { type, value } }: Item,
  list: OpenList | undefined,
  parts: Array<string>
): string => {
  if (list?.isOrdered !== true) return "<li>"
  const { definition: before, next: expected, type: as } = list
  list.next = value + 1
  list.type = type
  list.definition = definition
  if (expected === undefined) {
    parts[list.at] = listTag(type, value)
    return "<li>"
  }
  // A lower number or another number format begins another list; a gap in the numbers does not.
  if (type !== as || value < expected || (definition !== before && value !== expected))
    return `</ol>${listTag(type, value)}<li>`
  return expected === value ? "<li>" : `<li value="${value}">`
}

/** A cell that holds a number and nothing else keeps it. */
const withNumbersOfCells = (html: string, marks: Marks<Meaning>): string =>
  html.replaceAll(
    new RegExp(`(<t[dh][^<>]*>)<ol><li>${marks.pattern}</li></ol>(?=</t[dh]>)`, "g"),
    (found, cell: string, digits: string) => {
      const meaning = marks.meaningOf(digits)
      return meaning?.kind === "item" ? `${cell}<p>${serialize([meaning.label.text])}</p>` : found
    }
  )

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

const textOfHtml = (html: string): string => html.replaceAll(/<[^<>]*>/g, "").trim()

const [TABLE, TABLE_END] = ["<table>", "</table>"]

/** Whether a document puts captions below its tables: more of them follow a table than precede one. */
const namesBelow = (starts: ReadonlyArray<RegExpExecArray>, html: string): boolean => {
  const sides = starts.map(({ index }) => {
    const isBehind = html.endsWith(TABLE_END, index)
    const isBefore = html.startsWith(TABLE, html.indexOf("</p>", index) + "</p>".length)
    return isBehind === isBefore ? 0 : isBehind ? 1 : -1
  })
  return sides.reduce<number>((sum, side) => sum + side, 0) > 0
}

/** The place of a table that ends there and neither has a caption nor holds another table; -1 where none does. */
const tableAbove = (before: string): number => {
  if (!before.endsWith(TABLE_END)) return -1
  const at = before.lastIndexOf(TABLE)
  const isOne = before.indexOf(TABLE_END, at) === before.length - TABLE_END.length
  return isOne && !before.startsWith("<caption>", at + TABLE.length) ? at : -1
}

/** Moves captions into the tables and pictures next to them. Linear: each is looked for between two captions. */
const withCaptions = (html: string, marks: Marks<Meaning>): string => {
  const start = new RegExp(`<p>${marks.pattern}`, "g")
  const starts = [...html.matchAll(start)].filter(([, digits]) => marks.meaningOf(digits)?.kind === "caption")
  const areBelow = namesBelow(starts, html)
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
    const table = tableAbove(before)
    const isAbove = after.startsWith(TABLE) && above === undefined
    if (table >= 0 && (areBelow || !isAbove) && isTableCaption(textOfHtml(caption))) {
      const inside = before.slice(table + TABLE.length)
      parts.push(before.slice(0, table), `${TABLE}<caption>${caption}</caption>${inside}`)
      before = after
    } else if (isAbove) {
      parts.push(before, `${TABLE}<caption>${caption}</caption>`)
      before = after.slice(TABLE.length)
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

const BLOCK = /^(?:p|li|h[1-6]|pre|caption|figcaption|td|th)$/

/** Blocks and tables that run from the right say so; a bookmark in each is the mark of it. */
const withDirections = (html: string, marks: Marks<Meaning>): string => {
  const mark = `<a id="${marks.pattern}"></a>`
  if (!new RegExp(mark).test(html)) return html
  const parts: Array<string> = []
  const open: Array<{ readonly name: string; readonly at: number }> = []
  let from = 0
  for (const { 0: tag, 1: digits, 2: closing, 3: name = "", index } of html.matchAll(
    new RegExp(`${mark}|<(/?)([a-z][a-z0-9]*)(?:\\s[^<>]*)?>`, "g")
  )) {
    parts.push(html.slice(from, index))
    from = index + tag.length
    const kind = marks.meaningOf(digits)?.kind
    if (kind === "paragraphFromRight" || kind === "tableFromRight") {
      const isTable = kind === "tableFromRight"
      const at = open.findLast((one) => (isTable ? one.name === "table" : BLOCK.test(one.name)))?.at
      const begin = at === undefined ? undefined : parts[at]
      if (at !== undefined && begin !== undefined && !begin.includes(" dir="))
        parts[at] = begin.replace(/>$/, ' dir="rtl">')
      continue
    }
    if (closing === "/") open.pop()
    else if (digits === undefined && !tag.endsWith("/>")) open.push({ name, at: parts.length })
    parts.push(tag)
  }
  return parts.join("") + html.slice(from)
}

/** Parts in other formats replace their paragraph, last: their lists are not the document's. */
const withChunks = (html: string, marks: Marks<Meaning>): string =>
  html.replaceAll(new RegExp(`<p>${marks.pattern}</p>`, "g"), (found, digits: string) => {
    const meaning = marks.meaningOf(digits)
    return meaning?.kind === "chunk" ? meaning.html : found
  })

/** mammoth writes notes' marks as plain links, with a number also where the author has written the mark, and raised once more. */
const withNoteRoles = (html: string, marks: Marks<Meaning>): string =>
  html
    .replaceAll(/<a href="#((?:foot|end)note-\d+)" id=/g, '<a role="doc-noteref" href="#$1" id=')
    .replaceAll(
      new RegExp(`\\[\\d{1,6}\\](</a></sup>)${marks.pattern}([^<>]{1,40}?)${marks.pattern}`, "g"),
      (found, end: string, begin: string, mark: string) =>
        marks.meaningOf(begin)?.kind === "noteMark" ? `${mark}${end}` : found
    )
    .replaceAll(/<sup>(<sup><a role="doc-noteref" [^<>]*>[^<>]*<\/a><\/sup>)<\/sup>/g, "$1")

/** Replaces the marks in mammoth's HTML by what they represent. */
export const finish = (html: string, marks: Marks<Meaning>): string =>
  withChunks(
    [withRowHeads, withNumbersOfCells, withWholes, withNumbers, withCaptions, withDirections].reduce(
      (written, step) => step(written, marks),
      withNoteRoles(html, marks)
    ),
    marks
  ).replaceAll(new RegExp(marks.pattern, "g"), (_, digits: string) => {
    const meaning = marks.meaningOf(digits)
    switch (meaning?.kind) {
      case "formula":
      case "field":
      case "chunk":
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
