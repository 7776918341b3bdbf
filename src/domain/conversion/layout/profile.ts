import type { PageAnalysis } from "./analysis.ts"
import type { Line } from "./line.ts"
import { LEADER_LINE } from "./markers.ts"
import {
  isBoldLine,
  marginKey,
  marginRows,
  numberKeys,
  type PageStatistics,
  slotsNear,
  styleKey
} from "./statistics.ts"

/** What holds for a whole document, worked out from counts. */
export interface DocumentProfile {
  /** Size of running text, points. */
  readonly bodySize: number
  /** Running text is bold (a poster, a slide). */
  readonly bodyBold: boolean
  /** Heading levels by `styleKey`. */
  readonly levels: ReadonlyMap<string, number>
  readonly statistics: PageStatistics
}

/** From how much above the running text's size a line may be a heading. */
const LARGER = 1.06
/** Bold lines that are smaller than this, in sizes of running text, are no headings. */
const SMALLEST = 0.88
/** Sizes this near are one rank. */
const SAME_RANK = 1.035
/** A style with a larger share of the document's characters is text, not headings. */
const MAX_HEADING_SHARE = 0.2
/** Deepest level that sizes give. */
const MAX_LEVEL = 6

const parseKey = (key: string): { readonly size: number; readonly bold: boolean } => ({
  size: Number.parseInt(key, 10) / 4,
  bold: key.endsWith("b")
})

/** Works the profile out. */
export const profileOf = (statistics: PageStatistics): DocumentProfile => {
  const styles = Object.entries(statistics.styles).map(([key, count]) => ({
    key,
    ...parseKey(key),
    ...count
  }))
  const total = styles.reduce((sum, { bold, characters }) => sum + (bold ? 0 : characters), 0)
  // Characters of bold lines are also counted under their size.
  const body = styles
    .filter(({ bold }) => !bold)
    .reduce<(typeof styles)[number] | undefined>(
      (best, style) => (best === undefined || style.characters > best.characters ? style : best),
      undefined
    )
  const bodySize = body?.size ?? 10
  const boldBody = statistics.styles[styleKey(bodySize, true)]
  const bodyBold = body !== undefined && boldBody !== undefined && boldBody.characters > 0.6 * body.characters
  const candidates = styles
    .filter(
      ({ bold, characters, lines, size }) =>
        lines > 0 &&
        (size >= bodySize * LARGER || (bold && !bodyBold && size >= bodySize * SMALLEST)) &&
        characters <= MAX_HEADING_SHARE * total
    )
    .sort((a, b) => b.size - a.size || Number(b.bold) - Number(a.bold))
  // One that is met on a single page is no rank of its own, unless there is nothing else: a title, a cover.
  const regular = candidates.filter(({ pages }) => pages > 1 || statistics.indexes.length <= 4)
  const levels = new Map<string, number>()
  const largestRegular = regular[0]?.size ?? 0
  const title = candidates.find(({ first, size }) => first <= 1 && size > largestRegular * SAME_RANK)
  const titled = title !== undefined && !regular.includes(title)
  let level = titled ? 1 : 0
  let rank = Infinity
  let rankBold = true
  for (const style of candidates) {
    if (!regular.includes(style)) {
      // What a title page says in other sizes stands beside the chapters, not above them.
      const large = style.size > largestRegular * SAME_RANK
      levels.set(
        style.key,
        large ? (style.size * SAME_RANK >= (title?.size ?? 0) ? 1 : 2) : Math.max(1, level)
      )
      continue
    }
    const larger = style.size >= bodySize * LARGER
    // Above the text's size bold and plain of one size are one rank; at the text's size only bold counts.
    if (rank / style.size > SAME_RANK || (!larger && rankBold !== style.bold)) {
      level = Math.min(MAX_LEVEL, level + 1)
      rank = style.size
      rankBold = style.bold
    }
    levels.set(style.key, level)
  }
  return { bodySize, bodyBold, levels, statistics }
}

/** The level of a line that is a heading by its looks; undefined for running text. */
export const levelOf = (profile: DocumentProfile, line: Line): number | undefined =>
  profile.levels.get(styleKey(line.size, isBoldLine(line))) ??
  (line.size >= profile.bodySize * LARGER ? nearestLevel(profile, line.size) : undefined)

const nearestLevel = ({ levels }: DocumentProfile, size: number): number | undefined => {
  let best: number | undefined
  let distance = 0.04
  for (const [key, level] of levels) {
    const away = Math.abs(parseKey(key).size / size - 1)
    if (away < distance) {
      distance = away
      best = level
    }
  }
  return best
}

/** Pages that have to agree before a line counts as running: two of a few, three of many. */
const AGREEING = (pages: number): number => (pages <= 5 ? 2 : 3)
/** Pages on which the number beside a running title has to be as far ahead of the page's. */
const NUMBERED = 3
/** Running lines are not set larger than this, in sizes of running text. */
const MAX_RUNNING_SIZE = 1.25

const isRunning = ({ bodySize, statistics }: DocumentProfile, line: Line, page: number): boolean => {
  if (statistics.indexes.length < 2 || line.size > bodySize * MAX_RUNNING_SIZE) return false
  if (LEADER_LINE.test(line.text)) return false
  const slots = slotsNear(line)
  const pagesWith = (keys: ReadonlyArray<string>): number =>
    keys.reduce((sum, key) => sum + (statistics.margins[key] ?? 0), 0)
  if (pagesWith(slots.map((slot) => marginKey(line, slot))) >= AGREEING(statistics.indexes.length))
    return true
  // One key for each end that has a number.
  const numbered = slots.map((slot) => numberKeys(line, page, slot))
  const ends = Math.max(...numbered.map(({ length }) => length))
  return Array.from({ length: ends }, (_, end) =>
    pagesWith(numbered.flatMap((keys) => keys[end] ?? []))
  ).some((pages) => pages >= NUMBERED)
}

/** Most that running lines make up of what a page has on average; pages that look alike throughout have a form, not a header. */
const MAX_RUNNING_SHARE = 0.25

/** The page's running headers and footers: from either edge inwards, as far as lines are running. */
export const runningLines = (profile: DocumentProfile, analysis: PageAnalysis): ReadonlySet<Line> => {
  const { foot, head } = marginRows(analysis)
  const running = new Set<Line>()
  for (const rows of [head, foot])
    for (const row of rows) {
      if (!isRunning(profile, row, analysis.page.index)) break
      running.add(row)
    }
  if (running.size === 0) return running
  let characters = 0
  for (const { text } of running) characters += text.length
  const all = Object.entries(profile.statistics.styles).reduce(
    (sum, [key, style]) => sum + (parseKey(key).bold ? 0 : style.characters),
    0
  )
  return characters <= (MAX_RUNNING_SHARE * all) / profile.statistics.indexes.length ? running : new Set()
}
