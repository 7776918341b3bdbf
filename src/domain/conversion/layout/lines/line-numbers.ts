import { greatest, least } from "../../../lists.ts"
import type { Line } from "./line.ts"
import { type Segment, segmentText } from "./segment.ts"

/** Fewest numbers of lines on a page. */
const MIN_NUMBERS = 5
/** Edges within this many points are one column's. */
const SAME_EDGE = 2
/** Share of the numbers that follow on the one above at the usual step, and of those that have a line of text beside them. */
const FOLLOWING = 0.85
const BESIDE = 0.5
/** Width of a line of text, as a share of the page's. */
const TEXT_WIDTH = 0.25
/** How far the text stands from its number at most, in the number's font sizes. */
const FURTHEST = 12

const NUMBER = /^\d{1,5}$/

/** Whether numbers, from top to bottom, count lines: each is ahead of the one above by the same 1, 2, 5 or 10. */
const count = (numbers: ReadonlyArray<Segment>): boolean => {
  const steps = numbers
    .slice(1)
    .map((one, at) => Number(segmentText(one)) - Number(segmentText(numbers[at] ?? one)))
  return [1, 2, 5, 10].some((step) => steps.filter((one) => one === step).length >= FOLLOWING * steps.length)
}

/**
 * Leaves out the numbers of lines, which stand in a column of their own outside of the text. Numbers of a table's rows have cells
 * beside them, not lines.
 */
export const withoutLineNumbers = (
  segments: ReadonlyArray<Segment>,
  pageWidth: number
): ReadonlyArray<Segment> => {
  const columns = new Map<number, Array<Segment>>()
  for (const segment of segments) {
    if (segment.characters > 5 || !NUMBER.test(segmentText(segment))) continue
    const edge = Math.round(segment.x1 / SAME_EDGE)
    const column = columns.get(edge)
    if (column === undefined) columns.set(edge, [segment])
    else column.push(segment)
  }
  const numbers = new Set<Segment>()
  for (const column of columns.values()) {
    if (column.length < MIN_NUMBERS) continue
    column.sort((a, b) => a.baseline - b.baseline)
    if (count(column)) for (const one of column) numbers.add(one)
  }
  if (numbers.size === 0) return segments
  const text = segments.filter((segment) => !numbers.has(segment))
  const [left, right] = [least(text.map(({ x0 }) => x0)), greatest(text.map(({ x1 }) => x1))]
  const wide = new Set(
    text.filter(({ x0, x1 }) => x1 - x0 > TEXT_WIDTH * pageWidth).map(({ baseline }) => Math.round(baseline))
  )
  const outside = [...numbers].filter(
    ({ size, x0, x1 }) =>
      (x1 < left && left - x1 < FURTHEST * size) || (x0 > right && x0 - right < FURTHEST * size)
  )
  const beside = outside.filter(({ baseline }) =>
    [-1, 0, 1].some((near) => wide.has(Math.round(baseline) + near))
  )
  const found = new Set(beside.length >= BESIDE * outside.length ? outside : [])
  return found.size === 0 ? segments : segments.filter((segment) => !found.has(segment))
}

/** Part of a line that is monospaced, its number aside, where it is one of a listing. */
const LISTING = 0.9

const lettersOf = (segments: ReadonlyArray<Segment>): number =>
  segments.reduce((sum, { characters }) => sum + characters, 0)

/** What code says about itself: words in another face after it on its line. */
const COMMENT = /^(?:\/[*/]|#|--|;|%)/

/** Whether lines are those of a listing: monospaced, but for numbers before them and comments after them. */
export const areListed = (lines: ReadonlyArray<Line>): boolean => {
  const own = lines.map(({ segments: [first, ...rest] }) => {
    const isNumber = first !== undefined && NUMBER.test(segmentText(first).trim())
    const comment = rest.findIndex((segment) => COMMENT.test(segmentText(segment)))
    const code = comment === -1 ? rest : rest.slice(0, comment)
    return lettersOf(first === undefined || isNumber ? code : [first, ...code])
  })
  return (
    own.some((letters) => letters > 0) &&
    lines.every(({ monospace, segments }, at) => monospace * lettersOf(segments) >= LISTING * (own[at] ?? 0))
  )
}
