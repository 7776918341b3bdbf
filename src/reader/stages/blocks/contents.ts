import {
  type Block,
  type LinkSpan,
  type ListItem,
  type Span,
  textOfSpans,
  type TextSpan
} from "../../model/block.ts"
import type { OutlineEntry } from "../../model/page-content.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { isContentsTitle, lettersOf } from "../lines/heading-words.ts"
import type { Line } from "../lines/line.ts"
import { isListedEntry } from "../lines/section-number.ts"
import { type Segment, segmentText } from "../lines/segment.ts"
import { unnumbered } from "../profile/outline.ts"
import type { DocumentProfile } from "../profile/profile.ts"

/** Fewest lines with leaders that make a page a table of contents, and the least share of its lines. */
const MIN_ENTRIES = 5
const MIN_SHARE = 0.5
/** Most entries that may name an earlier page than the entry above: in a price list numbers go up and down. */
const MAX_BACK = 0.1

/** The page of an appendix or a chapter that counts its own has its letter or its number in front. */
const NUMBERED_ENTRY =
  /(?<!\.\s?)(?:\.\s?){4,}\s*(?<number>(?:(?:[a-z]|\d{1,3})[-–])?\d{1,4}|[ivxlc]{1,7})\s*$/i

/** Whether a page is a table of contents: most of its lines are words, leaders and a page's number, and those ascend. */
export const isContentsPage = ({ rows }: PageAnalysis): boolean => {
  const numbers = rows.flatMap(({ text }) => NUMBERED_ENTRY.exec(text)?.groups?.["number"] ?? [])
  if (numbers.length < MIN_ENTRIES || numbers.length < MIN_SHARE * rows.length) return false
  const printed = numbers.flatMap((number) => (/^\d+$/.test(number) ? Number(number) : []))
  const back = printed.filter((number, at) => number < (printed[at - 1] ?? 0)).length
  return back <= MAX_BACK * printed.length
}

/** Greatest number of lines of long titles between entries; least number of entries without leaders. */
const MOST_BETWEEN = 2
const MIN_LISTED = 3

/** How many lines below a title are entries, with leaders or without: none where their numbers descend. */
const entriesBelow = (lines: ReadonlyArray<Line>, title: number): number => {
  const from = title + 1
  let [to, entries, number] = [from, 0, 0]
  for (let at = from; at < lines.length && at - to <= MOST_BETWEEN; at++) {
    const line = lines[at]
    if (line === undefined || !isListedEntry(line)) continue
    const printed = Number(/(?<!\d)\d+$/.exec(line.text.trim())?.[0] ?? number)
    if (printed < number) break
    number = printed
    ;[to, entries] = [at + 1, entries + 1]
  }
  return entries < MIN_LISTED ? 0 : to - from
}

/**
 * Tables of contents among lines: titles, each with the entries below it up to `to`, and entries without a title, a few
 * of which have leaders. On a `titled` page they need no leaders: their title is above another column.
 */
export const contentsIn = (
  lines: ReadonlyArray<Line>,
  titled: boolean
): ReadonlyArray<{ readonly from: number; readonly to: number }> => {
  const found: Array<{ from: number; to: number }> = []
  for (let from = 0; from < lines.length; from++) {
    const line = lines[from]
    if (line === undefined) break
    const isTitle = isContentsTitle(line.text.trim())
    const entries = isTitle || isListedEntry(line) ? entriesBelow(lines, isTitle ? from : from - 1) : 0
    if (entries === 0) continue
    const to = from + entries + (isTitle ? 1 : 0)
    const leaders = lines.slice(from, to).filter(({ text }) => NUMBERED_ENTRY.test(text)).length
    if (isTitle || titled || leaders >= MIN_LISTED) found.push({ from, to })
    from = to - 1
  }
  return found
}

/** Whether words of a page, its running lines among them, are the title of a table of contents. */
export const isTitled = (segments: ReadonlyArray<Segment>): boolean =>
  segments.some((segment) => isContentsTitle(segmentText(segment).trim()))

/** Longest words between entries: a part's name, the first line of a long title. */
const MAX_BETWEEN = 100

/** An entry: its leaders are one sign. A listed one may have no leaders. */
const WRITTEN_ENTRY = /…\s*(?:(?:(?:[a-z]|\d{1,3})[-–])?\d{1,4}|[ivxlc]{1,7})\s*$/i
const LISTED_ENTRY = /[\s…](?:\d{1,4}|[ivxlc]{1,7})$/i

/** Whether a block of words is an entry, or has entries. */
const hasEntries = (block: Block): boolean =>
  block.kind === "paragraph"
    ? WRITTEN_ENTRY.test(textOfSpans(block.spans))
    : block.kind === "list" && block.items.some(({ blocks }) => blocks.some(hasEntries))

/** Whether a list below a heading that says so has entries alone. */
const isListed = (block: Block): boolean =>
  block.kind === "list" &&
  block.items.every(
    ({ blocks: [first] }) =>
      first?.kind === "paragraph" && LISTED_ENTRY.test(textOfSpans(first.spans).trimEnd())
  )

/**
 * Number of blocks from one on that make up a table of contents, and where the search ended: no entry is between its
 * last and `end`.
 */
const entriesFrom = (
  blocks: ReadonlyArray<Block>,
  from: number,
  { headed, whole }: { readonly headed: boolean; readonly whole: boolean }
): { readonly count: number; readonly end: number } => {
  let [to, at] = [from, from]
  for (; at < blocks.length; at++) {
    const block = blocks[at]
    if (block === undefined) break
    const listed = hasEntries(block) || (whole && block.kind === "list") || (headed && isListed(block))
    const between = block.kind === "paragraph" && textOfSpans(block.spans).length <= MAX_BETWEEN
    if (!listed && !between) break
    if (listed) to = at + 1
  }
  return { count: to - from, end: at }
}

/**
 * Sets what a page lists of the document apart from its text: below a heading that says so, or on a page that is a table of contents
 * as a `whole`.
 */
export const withContentsApart = (blocks: ReadonlyArray<Block>, whole: boolean): ReadonlyArray<Block> => {
  const result: Array<Block> = []
  /** Up to this block no entry follows. */
  let without = 0
  for (let at = 0; at < blocks.length;) {
    const block = blocks[at]
    if (block === undefined) break
    const headed = block.kind === "heading" && isContentsTitle(textOfSpans(block.spans).trim())
    const from = headed ? at + 1 : at
    const found =
      headed || (whole && at >= without) ? entriesFrom(blocks, from, { headed, whole }) : undefined
    if (found === undefined || found.count === 0) {
      without = found?.end ?? without
      result.push(block)
      at += 1
      continue
    }
    const to = from + found.count
    result.push({ kind: "contents", top: block.top, blocks: blocks.slice(at, to) })
    at = to
  }
  return result
}

/** The pages that entries of a table of contents name. */
interface ContentsTargets {
  readonly pageCount: number
  /** Pages (from 0) by the letters of the outline's titles. */
  readonly titles: ReadonlyMap<string, ReadonlySet<number>>
  /** By how much printed numbers are ahead of pages counted from 0; undefined where the margins do not show it. */
  readonly lead: number | undefined
}

/** Targets of entries, by the outline and the page numbers in the margins. */
export const contentsTargets = (
  pageCount: number,
  outline: ReadonlyArray<OutlineEntry>,
  { numberLead }: DocumentProfile
): ContentsTargets => {
  const titles = new Map<string, Set<number>>()
  for (const { page, title } of outline) {
    if (page === undefined) continue
    for (const key of new Set([lettersOf(title), lettersOf(unnumbered(title))])) {
      if (key === "") continue
      const pages = titles.get(key)
      if (pages === undefined) titles.set(key, new Set([page]))
      else pages.add(page)
    }
  }
  return { pageCount, titles, lead: numberLead }
}

/** An entry's words, the leaders, and the number of its page. */
const ENTRY = /^(?<title>.*?[^\s.…])(?<between>[\s.…]+)(?<number>\d{1,4}|[ivxlc]{1,7})\s*$/isu

/** The page (from 0) that an entry names; undefined where neither outline nor margins show it. */
export const targetOf = (
  text: string,
  { lead, pageCount, titles }: ContentsTargets,
  listed: boolean
): number | undefined => {
  const { between = "", number = "", title } = ENTRY.exec(text)?.groups ?? {}
  if (title === undefined) return undefined
  const printed = /^\d/.test(number) && lead !== undefined ? Number(number) - lead : undefined
  const pages = titles.get(lettersOf(title)) ?? titles.get(lettersOf(unnumbered(title)))
  // "Exercises" may be in every chapter.
  if (pages?.size === 1) return [...pages][0]
  const isEntry = listed || between.includes("…")
  return isEntry && printed !== undefined && printed >= 0 && printed < pageCount ? printed : undefined
}

const isText = (span: Span): span is TextSpan => span.kind === "text"

/** An entry's words as one link; unchanged where they contain a link of the document's own, or lead nowhere. */
const linkedEntry = (
  spans: ReadonlyArray<Span>,
  targets: ContentsTargets,
  listed: boolean
): ReadonlyArray<Span> => {
  if (!spans.every(isText)) return spans
  const page = targetOf(textOfSpans(spans), targets, listed)
  if (page === undefined) return spans
  const link: LinkSpan = { kind: "link", target: { kind: "page", page }, spans }
  return [link]
}

/** Blocks of a table of contents, with its entries as links to the pages that they name. */
export const withContentsLinks = (
  blocks: ReadonlyArray<Block>,
  targets: ContentsTargets,
  listed = false
): ReadonlyArray<Block> =>
  blocks.map((block): Block => {
    switch (block.kind) {
      case "paragraph":
        return { ...block, spans: linkedEntry(block.spans, targets, listed) }
      case "list":
        return {
          ...block,
          items: block.items.map((item): ListItem => ({
            ...item,
            blocks: withContentsLinks(item.blocks, targets, true)
          }))
        }
      case "contents":
        return { ...block, blocks: withContentsLinks(block.blocks, targets) }
      default:
        return block
    }
  })
