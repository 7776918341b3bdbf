import { asList, asParagraph, type List, type ListItem } from "../../model/block.ts"
/** An index at a book's end: words with the pages that they are on, each an item. */
import { greatest, least } from "../../model/lists.ts"
import { type InlineContext, spansOf } from "../lines/inline.ts"
import type { Line } from "../lines/line.ts"

/** Fewest entries of a column, and the least share of its lines, but for heads, that end in pages. */
const MIN_ENTRIES = 5
const MIN_SHARE = 0.6
/** Greatest number of lines without a page number between two with one. */
const MOST_BETWEEN = 3
/** Least share of the entries that name an earlier page than the entry above: in a table of contents pages ascend. */
const MIN_BACK = 0.15
/** Edges that differ by less are one, in font sizes. */
const SAME_EDGE = 0.5
/** Greatest distance from the column's right edge of a line that continues below, in font sizes. */
const FULL = 5
/** Limit on levels of entries. */
const MOST_LEVELS = 4
const ALL_BOLD = 0.85

const PAGE = /^(?:\d{1,4}|[ivxlc]{1,7})(?:\s?[–-]\s?\d{1,4})?(?:ff?\.?)?$/
const LED_PAGE = /[.…]\s*(?:\d{1,4}(?:\s?[–-]\s?\d{1,4})?|[ivxlc]{1,7})$/
const LEADERS = /\.\s?\.|…/

/**
 * The page numbers at the end of a line, behind a comma or leaders; undefined where there are no numbers, or they do
 * not ascend.
 */
const pagesOf = ({ text }: Line): ReadonlyArray<number> | undefined => {
  const parts = text.split(",").map((part) => part.trim())
  const words = parts.findLastIndex((part) => !PAGE.test(part))
  const before = parts[words] ?? ""
  const led = LEADERS.test(before) ? LED_PAGE.exec(before) : null
  if (led === null && words === parts.length - 1) return undefined
  const pages = [...(led === null ? [] : [led[0]]), ...parts.slice(words + 1)]
  const numbers = pages.flatMap((page) => Number(/\d+/.exec(page)?.[0] ?? []))
  return numbers.every((page, at) => page >= (numbers[at - 1] ?? 0)) ? numbers : undefined
}

/** True when a line has only page numbers: it continues the entry above. */
const isRest = ({ text }: Line): boolean =>
  text.split(",").every((part) => PAGE.test(part.trim()) || /^(?:[.…]\s*)*$/.test(part.trim())) ||
  /^(?:[.…]\s*)+[\divxlc]/.test(text)

/** Whether a line is a letter of the alphabet above its entries, or other words in bold. */
const isHead = (line: Line): boolean =>
  pagesOf(line) === undefined && (/^\s*\S\s*$/u.test(line.text) || line.bold > ALL_BOLD)

/** True when a line continues below: it is full, or its last word is cut. */
const goesOn = ({ hyphenated, size, x1 }: Line, right: number): boolean =>
  x1 > right - FULL * size || hyphenated

/**
 * True when the line below, which ends in page numbers, is a separate, indented entry, as a function's files are below
 * its name.
 */
const isOver = (line: Line | undefined, next: Line | undefined, right: number): boolean =>
  line !== undefined &&
  next !== undefined &&
  next.x0 > line.x0 + SAME_EDGE * line.size &&
  !goesOn(line, right)

/** Lines of an index, `from` the first on up to `to`. */
interface IndexLines {
  readonly from: number
  readonly to: number
}

/** Index entries among a column's lines, from one letter of the alphabet to the next. Linear. */
export const indexLines = (lines: ReadonlyArray<Line>): ReadonlyArray<IndexLines> => {
  const pages = lines.map(pagesOf)
  const right = greatest(lines.map(({ x1 }) => x1))
  const hasInner = (at: number): boolean =>
    pages[at + 1] !== undefined && isOver(lines[at], lines[at + 1], right)
  const found: Array<IndexLines> = []
  for (let from = 0; from < lines.length; from++) {
    if (pages[from] === undefined && !hasInner(from)) continue
    let [to, ended, heads] = [from, 0, 0]
    const first: Array<number> = []
    for (let at = from; at < lines.length && at - to <= MOST_BETWEEN; at++) {
      const [line, of] = [lines[at], pages[at]]
      if (line === undefined) continue
      if (of === undefined) {
        if (isHead(line) || hasInner(at)) heads += 1
        continue
      }
      ;[to, ended] = [at + 1, ended + 1]
      if (of[0] !== undefined && !isRest(line)) first.push(of[0])
    }
    const back = first.filter((page, at) => page < (first[at - 1] ?? 0)).length
    const isIndex = first.length >= MIN_ENTRIES && back >= MIN_BACK * first.length
    if (isIndex && ended >= MIN_SHARE * (to - from - heads)) {
      let begun = from
      for (let at = from; at <= to; at++) {
        const line = lines[at]
        if (at < to && line !== undefined && !isHead(line)) continue
        if (at > begun) found.push({ from: begun, to: at })
        begun = at + 1
      }
    }
    from = to - 1
  }
  return found
}

interface Entry {
  readonly level: number
  readonly lines: Array<Line>
}

/** Entries by indent. A line continues the one above where that ends in no page number. */
const entriesOf = (lines: ReadonlyArray<Line>, right: number): ReadonlyArray<Entry> => {
  const edges: Array<number> = [least(lines.map(({ x0 }) => x0))]
  const entries: Array<Entry> = []
  for (const [at, line] of lines.entries()) {
    const above = lines[at - 1]
    const isCut =
      above !== undefined &&
      pagesOf(above) === undefined &&
      goesOn(above, right) &&
      line.x0 > (edges.at(-1) ?? 0) + SAME_EDGE * line.size
    const last = entries.at(-1)
    if (last !== undefined && (isCut || isRest(line))) {
      last.lines.push(line)
      continue
    }
    const outer = Math.max(
      0,
      edges.findLastIndex((edge) => edge < line.x0 + SAME_EDGE * line.size)
    )
    edges.length = outer + 1
    const isInner = line.x0 > (edges[outer] ?? 0) + SAME_EDGE * line.size && edges.length < MOST_LEVELS
    if (isInner) edges.push(line.x0)
    entries.push({ level: edges.length - 1, lines: [line] })
  }
  return entries
}

const listOf = (entries: ReadonlyArray<Entry>, top: number | undefined, context: InlineContext): List => {
  const level = least(entries.map((entry) => entry.level))
  const starts = entries.flatMap((entry, at) => (at === 0 || entry.level === level ? [at] : []))
  const items = starts.flatMap((start, at): ReadonlyArray<ListItem> => {
    const [entry, ...inner] = entries.slice(start, starts[at + 1])
    if (entry === undefined) return []
    const words = asParagraph({ spans: spansOf(entry.lines, context) })
    return [{ blocks: [words, ...(inner.length === 0 ? [] : [listOf(inner, undefined, context)])] }]
  })
  return asList(items, { top })
}

/** A list of lines that {@link indexLines} found; `right`: where the column ends. Entries that are set in are lists in their entry. */
export const indexOf = (lines: ReadonlyArray<Line>, right: number, context: InlineContext): List =>
  listOf(entriesOf(lines, right), lines[0]?.y0, context)
