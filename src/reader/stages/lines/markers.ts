import type { Line } from "./line.ts"
import { segmentText } from "./segment.ts"

/** What a list item begins with. */
export interface Marker {
  readonly ordered: boolean
  /** Characters up to the item's words. */
  readonly length: number
  /** How many of them are no words of the item: a mark that says whether something is done is one of them. */
  readonly skipped: number
  /** The item's number, where it is ordered. */
  readonly number: number | undefined
  readonly style: "1" | "a" | "A" | "i" | "I" | undefined
  /** The punctuation around the number, so that `1.` and `(1)` are not one list. */
  readonly dress: string
}

const BULLET = /^([•◦▪▫‣⁃∙●○■□◆◇►▶➢➤✦❖·*–—-]|[\ue000-\uf8ff])(?:\s+|$)/u
/** Characters that are always bullets, even when the words follow without a space. */
const SURE_BULLET = /^[•◦▪‣●■◆►➢❖\ue000-\uf8ff]\s*/u
/** Marks that say of their item that it holds, or does not, or is to be done. */
const SAYING = /^[✓✔✗✘✕☐☑☒🗹🗷](?:\s+|$)/u
/** No list has 500 items: "XML." and "did." end sentences. */
const NUMBERED = /^(\(?)(\d{1,3}|[ivxlc]{1,6}|[IVXLC]{1,6}|[a-zA-Z])([.)])(?:\s+|$)/
/** A day with its month and year, alone on its line ("17. Januar 2022"), and a person's initials ("A. B. Stone"): no items. */
const NO_ITEM = /^(?:\d{1,2}\. \p{L}+ \d{4}$|(?:\p{Lu}\. ){2,4}\p{Lu}\p{Ll})/u

const ROMAN: ReadonlyMap<string, number> = new Map([
  ["i", 1],
  ["v", 5],
  ["x", 10],
  ["l", 50],
  ["c", 100],
  ["d", 500],
  ["m", 1000]
])

/** The value of a Roman numeral; undefined where it is not one. */
export const romanValue = (text: string): number | undefined => {
  let sum = 0
  let last = 0
  for (const letter of text.toLowerCase().split("").reverse()) {
    const value = ROMAN.get(letter)
    if (value === undefined) return undefined
    sum += value < last ? -value : value
    last = Math.max(last, value)
  }
  return sum
}

/** The marker that a line begins with. A single letter that is also a Roman numeral counts as one where it is `i`, `v` or `x`. */
export const markerOf = (text: string): Marker | undefined => {
  const saying = SAYING.exec(text)
  const bullet = saying ?? SURE_BULLET.exec(text) ?? BULLET.exec(text)
  if (bullet !== null)
    return {
      ordered: false,
      length: bullet[0].length,
      skipped: saying === null ? bullet[0].length : 0,
      number: undefined,
      style: undefined,
      dress: text.charAt(0)
    }
  const numbered = NUMBERED.exec(text)
  if (numbered === null || NO_ITEM.test(text.trimEnd())) return undefined
  const [all, open = "", value = "", close = ""] = numbered
  const dress = open + close
  const [length, skipped] = [all.length, all.length]
  if (/^\d/.test(value)) return { ordered: true, length, skipped, number: Number(value), style: "1", dress }
  const upper = value === value.toUpperCase()
  if (value.length > 1 || /^[ivx]$/i.test(value))
    return { ordered: true, length, skipped, number: romanValue(value), style: upper ? "I" : "i", dress }
  return {
    ordered: true,
    length,
    skipped,
    number: value.toLowerCase().charCodeAt(0) - 96,
    style: upper ? "A" : "a",
    dress
  }
}

/** Whether a marker is a bullet and nothing else, even in code. */
export const isSureBullet = ({ dress, ordered }: Marker): boolean => !ordered && SURE_BULLET.test(dress)

/** Whether an item with `next` may follow one with `before` in one list. */
export const follows = (before: Marker, next: Marker): boolean => {
  if (before.ordered !== next.ordered) return false
  if (!before.ordered) return true
  return before.dress === next.dress && next.number === (before.number ?? 0) + 1
}

/** A line of a table of contents: words, leaders, a page, which an appendix or a chapter may count for itself: A-1, 3-12. */
export const LEADER_LINE = /(?<!\.\s?)(?:\.\s?){4,}\s*(?:(?:(?:[a-z]|\d{1,3})[-–])?(?:\d+|[ivxlc]+)\s*)?$/i

/** A line of an index, its parts set apart by tabs: words, what leaders are left, pages. */
const INDEX_LINE = /(?<!\.)(?:^|\s)\.(?: \.)+\s*\d{1,4}(?:\s?[,–-]\s?\d{1,4})*,?$/

/**
 * True when a line leads to pages, as in a table of contents or an index. `parts`: its pieces, separated by gaps; dots
 * that are a separate piece are missing values, and not leaders.
 */
export const leadsToPages = (parts: ReadonlyArray<string>): boolean =>
  parts.some((part) => LEADER_LINE.test(part)) || INDEX_LINE.test(parts.map((part) => part.trim()).join("\t"))

/** What a figure's or table's caption begins with, in the languages that documents are met in most; `number` is its number. */
export const CAPTION =
  /^(?:figure|fig\.|table|tab\.|abbildung|abb\.|tabelle|figura|figuur|figur|tableau|tabla|tabela|tabell?a?|tabel|tabulka|taulukko|kuva|rysunek|obrázek|táblázat|ábra|şekil|tablo|bảng|hình|рис\.|рисунок|таблица|таблиця|listing|chart|exhibit|表|図|图|圖|그림|표)\s*(?<number>\d+(?:[.-]\d+)*|[A-Z][.-]?\d+|[IVX]+)?\s*(?:[.:–|-]?(?:\s|$)|[—：])/iu

/** Whether a caption is a table's. */
export const isTableCaption = (text: string): boolean =>
  /^(?:tab[le.u]|taulukko|táblázat|bảng|таблиц|表|표)/iu.test(text)

/** What ends a caption's number. */
const ENDS_NUMBER = /[.:–|—：-]\s*$/u

/** A caption's beginning. */
interface CaptionStart {
  readonly table: boolean
  /** Whether a mark ends its number. */
  readonly marked: boolean
  /** What follows its number. */
  readonly rest: string
}

/** How a caption with a number begins. "Table 3 shows …" is prose: a caption continues with a mark, a capital letter, or not at all. */
export const captionStart = (text: string): CaptionStart | undefined => {
  const match = CAPTION.exec(text)
  if (match?.groups?.["number"] === undefined) return undefined
  const rest = text.slice(match[0].length)
  const marked = ENDS_NUMBER.test(match[0])
  if (!marked && rest !== "" && !/^[\p{Lu}\p{N}(“"]/u.test(rest)) return undefined
  return { table: isTableCaption(text), marked, rest }
}

/** White space before the page number of a table of contents, in font sizes. */
const PAGE_GAP = 1.5

/** Whether a line is an entry of a table of contents: words, white space or leaders, a page number. */
export const endsInPageNumber = ({ segments, size, text }: Line): boolean => {
  const [before, last] = [segments.at(-2), segments.at(-1)]
  if (LEADER_LINE.test(text)) return true
  return (
    before !== undefined &&
    last !== undefined &&
    last.x0 - before.x1 > PAGE_GAP * size &&
    /^(\d{1,4}|[ivxlc]{1,7})$/.test(segmentText(last).trim())
  )
}

/**
 * The kind of thing that a prototype declares, at the end of its line: `[Function]`, `[user option]`; `(operation)`
 * next to parameters.
 */
const KIND = /^\[(?:\p{Lu}[\p{L} -]{2,40}|\p{Ll}[\p{Ll}-]{1,20} [\p{L} -]{2,40})\]$/u
const KIND_BESIDE_PARAMETERS = /^\(\p{Ll}[\p{L} -]{2,40}\)$/u
/** White space before it, in font sizes. */
const KIND_APART = 2

/** Parameters, right behind the name that they belong to. */
const PARAMETERS = /[\p{L}\p{N}_]\(/u

/** True when a line is a prototype that ends with the kind of thing that it declares. */
export const isPrototype = ({ segments, size, text }: Line): boolean => {
  const [before, last] = [segments.at(-2), segments.at(-1)]
  if (before === undefined || last === undefined || last.x0 - before.x1 < KIND_APART * size) return false
  const kind = segmentText(last).trim()
  // Units below column names are in brackets, too.
  return KIND.test(kind) || (KIND_BESIDE_PARAMETERS.test(kind) && PARAMETERS.test(text))
}
