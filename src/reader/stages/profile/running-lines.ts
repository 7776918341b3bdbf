import { greatest } from "../../model/lists.ts"
import type { PageContent, TextRun } from "../../model/page-content.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import type { Line } from "../lines/line.ts"
import { LEADER_LINE } from "../lines/markers.ts"
import { isPageNumber, saysPage } from "../lines/page-numbers.ts"
import { segmentText, lengthOf } from "../lines/segment.ts"
import { type DocumentProfile, parseKey } from "./profile.ts"
import { namesColumns } from "./repeated-names.ts"
import { halfKeys, MARGIN, marginKey, marginRows, numberKeys, slotsNear, turnedKey } from "./statistics.ts"

/** Pages that have to agree before a line counts as running: two of a few, three of many. */
const AGREEING = (pages: number): number => (pages <= 5 ? 2 : 3)
/**
 * Least number of pages that agree: on one half of a line, or on the distance between the number next to a running
 * title and the page's index.
 */
const ALIKE = 3
/** Running lines are not set larger than this, in sizes of running text. */
export const MAX_RUNNING_SIZE = 1.25

/** White space that parts a page's number from its text, in font sizes. */
const NUMBER_GAP = 2.5

/** A line apart from a page's number in its margin is a running title up to this length. */
const MAX_TITLE = 120
/**
 * Outer share of the page's height in which a bare number next to words is the page number, from the second page on.
 */
const OUTER = 0.08

/**
 * True when the outermost row of a margin is a page number, alone or next to a running title, so that no other page has
 * to agree.
 */
const isOwnNumber = (
  { bodySize, numberLead }: DocumentProfile,
  row: Line,
  next: Line | undefined,
  { index, height }: PageContent
): boolean => {
  // Where other pages show how they are numbered, it may be near the text: below an article's first page, say.
  const small = row.size <= bodySize * MAX_RUNNING_SIZE
  if (small && numberLead !== undefined && isPageNumber(row.text, index + numberLead)) return true
  if (next !== undefined && Math.abs(next.baseline - row.baseline) <= NUMBER_GAP * row.size) return false
  if (isPageNumber(row.text, index + 1)) return true
  const [first, last] = [row.segments[0], row.segments.at(-1)]
  if (first === undefined || last === undefined || first === last || row.text.length > MAX_TITLE) return false
  const outer = row.baseline < OUTER * height || row.baseline > (1 - OUTER) * height
  return [first, last].some((segment) => {
    const text = segmentText(segment)
    return saysPage(text, index + 1) || (outer && index > 0 && isPageNumber(text, index + 1))
  })
}

/** Greatest number of lines of a notice in the margin; turned heads of columns have more. */
const MAX_NOTICE_LINES = 2

/** True when turned text is on several pages: a notice of who downloaded the document. */
export const isRunningAside = ({ statistics }: DocumentProfile, runs: ReadonlyArray<TextRun>): boolean =>
  statistics.indexes.length > 1 &&
  new Set(runs.map(({ baseline }) => Math.round(baseline))).size <= MAX_NOTICE_LINES &&
  (statistics.margins[turnedKey(runs)] ?? 0) >= AGREEING(statistics.indexes.length)

/** Whether so many pages have a line near this one's place that is counted under the same key. */
const agree = (
  { statistics }: DocumentProfile,
  line: Line,
  keysOf: (slot: number) => ReadonlyArray<string>,
  least: number
): boolean => {
  const keys = slotsNear(line).map(keysOf)
  return Array.from({ length: greatest(keys.map(({ length }) => length)) }, (_, at) =>
    keys.reduce((sum, of) => sum + (statistics.margins[of[at] ?? ""] ?? 0), 0)
  ).some((pages) => pages >= least)
}

const hasPageNumber = (profile: DocumentProfile, line: Line, page: number): boolean =>
  agree(profile, line, (slot) => numberKeys(line, page, slot), ALIKE)

const isRunning = (profile: DocumentProfile, line: Line, page: number): boolean => {
  const pages = profile.statistics.indexes.length
  if (pages < 2 || line.size > profile.bodySize * MAX_RUNNING_SIZE) return false
  if (LEADER_LINE.test(line.text)) return false
  return (
    agree(profile, line, (slot) => [marginKey(line, slot)], AGREEING(pages)) ||
    agree(profile, line, (slot) => halfKeys(line, slot), ALIKE) ||
    hasPageNumber(profile, line, page)
  )
}

/** A number of so many, as slides have it. */
const COUNTER = /(?:^|\s)\d+\s*\/\s*\d+$/

/** Largest share of a page's average content that running lines make up without a page's number: pages alike throughout are a form. */
const MAX_RUNNING_SHARE = 0.25
/**
 * Largest share of the page for running lines with a page number: slides have little other text, but a line that is all
 * of most pages is their text.
 */
const MAX_NUMBERED_SHARE = 0.75

/** Greatest step from one line of a text to the next, in font sizes. */
const TEXT_STEP = 1.75

/**
 * True when three rows continue line by line into a page's text: sections that begin with the same words, and no
 * running header.
 */
const areText = ([, , last]: ReadonlyArray<Line>, beyond: Line | undefined): boolean =>
  last !== undefined &&
  beyond?.size === last.size &&
  Math.abs(beyond.baseline - last.baseline) < TEXT_STEP * last.size

/** Whether two rows have the same words, size and left edge, but for a point. */
const areAlike = (row: Line, other: Line): boolean =>
  row.text === other.text &&
  row.size === other.size &&
  Math.abs(row.x0 - other.x0) < 1 &&
  /\p{L}/u.test(row.text)

/** The second or the second last row, next to the outermost one. */
const neighbour = (rows: ReadonlyArray<Line>, row: Line): Line | undefined =>
  rows[0] === row ? rows[1] : rows.at(-2)

/** Greatest number of drawings on a page that are only rules and frames. */
const FEW_DRAWINGS = 20

/** A number with its usual punctuation, and no words. */
const isBareNumber = (text: string): boolean => !/\p{L}{2}/u.test(text)

/** True when a page has nothing but its running lines: then they are its content. */
const isAllThatIsThere = ({ page, readable, rows }: PageAnalysis, running: ReadonlyArray<Line>): boolean =>
  readable.turned.length === 0 &&
  page.drawings.length <= FEW_DRAWINGS &&
  !page.drawings.some(({ kind }) => kind === "image") &&
  rows.every((row) => running.includes(row) || isBareNumber(row.text))

/** The page's running headers and footers: from either edge inwards, as far as lines are running. */
export const runningLines = (profile: DocumentProfile, analysis: PageAnalysis): ReadonlySet<Line> => {
  const { foot, head } = marginRows(analysis)
  const margins = new Set([...head, ...foot])
  // A text that says the same at several places begins or ends some pages with it.
  const isSaidAgain = (row: Line) =>
    analysis.rows.some((other) => !margins.has(other) && areAlike(row, other))
  const running = new Set<Line>()
  const numbered = new Set<Line>()
  for (const rows of [head, foot]) {
    const found: Array<Line> = []
    for (const [at, row] of rows.entries()) {
      const own = at === 0 && isOwnNumber(profile, row, neighbour(analysis.rows, row), analysis.page)
      if (!own && (!isRunning(profile, row, analysis.page.index) || isSaidAgain(row))) break
      const below = head[at + 1] ?? analysis.rows[at + 1]
      if (rows === head && namesColumns(row, below, analysis.page, MARGIN * analysis.page.height)) break
      found.push(row)
      if (own || COUNTER.test(row.text) || hasPageNumber(profile, row, analysis.page.index)) numbered.add(row)
    }
    const beyond = analysis.rows.at(rows === head ? found.length : -1 - found.length)
    // The page number is above such a text, too.
    const first = found[0] !== undefined && numbered.has(found[0]) ? found.slice(0, 1) : []
    for (const row of areText(found, beyond) ? first : found) running.add(row)
  }
  if (running.size === 0) return running
  const all = Object.entries(profile.statistics.styles).reduce(
    (sum, [key, style]) => sum + (parseKey(key).bold ? 0 : style.characters),
    0
  )
  const average = all / profile.statistics.indexes.length
  const lines = [...running]
  const alike = lengthOf(lines.filter((line) => !numbered.has(line))) > MAX_RUNNING_SHARE * average
  const left = alike ? lines.filter((line) => numbered.has(line)) : lines
  const found = lengthOf(left) <= MAX_NUMBERED_SHARE * average ? left : []
  return new Set(isAllThatIsThere(analysis, found) ? found.filter(({ text }) => isBareNumber(text)) : found)
}
