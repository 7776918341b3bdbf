import { append, greatest, least } from "../../../model/lists.ts"
import type { Line } from "../../lines/line.ts"
import { piecesOf } from "../../lines/segment.ts"
import { beginsWithWord, census, type FormulaContext, isProse } from "./census.ts"

/**
 * Step below which lines are parts of one formula, such as halves of a fraction, in font sizes: lines of a text are
 * further apart.
 */
const TIGHT = 0.98
/** Largest size of a limit or script on a separate line, in sizes of the text. */
export const SMALL = 0.86
/** Greatest distance of such a limit or script from its sign, in font sizes. */
const NEAR = 1.75
/** Greatest such distance in a line of text, where it is a script. */
const NEAR_PROSE = 0.6
/** Longest limit, characters. */
const MAX_FRAGMENT = 48
/** Limit on lines of one formula. */
const MAX_LINES = 40
/** Greatest distance of a fraction's bar from the lines over and under it, in font sizes. */
const AT_BAR = 1.1
/** Greatest distance of a root's lower end from the line under it, in font sizes. */
const ROOT_AT_BAR = 0.4
/** Distance below the line above, in font sizes, from which on a line is not under a bar within it. */
const BELOW = 0.75
/** Length by which such a bar must extend beyond the wider of the lines, in font sizes. */
const BEYOND = 0.6

/** Lines that are too near to each other for text, and the limits around them. */
export interface Zone {
  from: number
  to: number
  readonly lines: Array<Line>
  /** Its last line that is not a fragment. */
  full: Line | undefined
}

/** Whether a line is a limit, a script or another small part of a formula. */
const isFragment = ({ segments, size, text }: Line, { bodySize, fonts }: FormulaContext): boolean =>
  size < SMALL * bodySize && text.length <= MAX_FRAGMENT && census(piecesOf(segments), fonts).words <= 1

/** Fewest cells of a row that are not the terms of a formula. */
const CELLS = 3

/** True when the segments of two lines are below one another, cell by cell. */
export const areCells = (line: Line, other: Line): boolean =>
  line.segments.length >= CELLS &&
  other.segments.length === line.segments.length &&
  line.segments.every((cell, at) => {
    const beside = other.segments[at]
    return beside !== undefined && beside.x0 < cell.x1 && beside.x1 > cell.x0
  })

/** Greatest number of lines from the numerator to the denominator: the line with the fraction is between them. */
const OVER = 3

/** True when a bar between two lines makes a fraction: it is as wide as the wider of them. */
const isFraction = (over: Line, under: Line, { bars }: FormulaContext): boolean =>
  !areCells(over, under) &&
  bars.some((bar) => {
    const { size } = under
    if (bar.y0 < over.baseline - 0.1 * size || bar.y1 > under.baseline) return false
    if (bar.y0 - over.baseline > AT_BAR * size) return false
    // Under a root the line is lower, at the same height of the root.
    const isNear = under.baseline - bar.y1 < AT_BAR * size || under.y0 - bar.y1 < ROOT_AT_BAR * size
    if (!isNear) return false
    const x0 = Math.min(over.x0, under.x0)
    const x1 = Math.max(over.x1, under.x1)
    return Math.abs(bar.x0 - x0) < BEYOND * size && Math.abs(bar.x1 - x1) < BEYOND * size
  })

/**
 * True when a line is too near to the one above for text. The last line of a text may be near to the formula below it.
 */
const isTight = ({ lines }: Zone, above: Line, next: Line, context: FormulaContext): boolean => {
  const [step, aside] = [next.baseline - above.baseline, next.x0 - above.x1]
  if (step >= TIGHT * Math.max(above.size, next.size)) return false
  if (lines.length > 1 || (step <= BELOW * next.size && aside <= next.size)) return true
  const { fonts } = context
  const relates = () => census(piecesOf(above.segments), fonts).relates
  return !isProse(above, context) && (!beginsWithWord(above, fonts) || relates())
}

/** Upper and lower ends of brackets that are drawn in parts, and the parts between them. */
const TOP = /[\u239b\u239e\u23a1\u23a4\u23a7\u23ab]/u
const BOTTOM = /[\u239d\u23a0\u23a3\u23a6\u23a9\u23ad]/u
const PART = /[\u239b-\u23ad]/u

/** Whether a sign is a part of a bracket that is drawn in parts, as high as several lines. */
export const isBracketPart = (sign: string): boolean => PART.test(sign)

/** Whether a line holds a part of a bracket that was begun, and has not ended yet, on a zone's lines: rows of a matrix. */
const isBracketed = ({ lines }: Zone, next: Line): boolean => {
  const parts = lines.flatMap(({ segments }) => piecesOf(segments).filter(({ text }) => PART.test(text)))
  return (
    parts.length > 0 &&
    piecesOf(next.segments).some(({ run, text, x0 }) => {
      const same = PART.test(text) ? parts.filter((part) => Math.abs(part.x0 - x0) < 0.1 * run.size) : []
      return same.some((part) => TOP.test(part.text)) && !same.some((part) => BOTTOM.test(part.text))
    })
  )
}

/** Distance of a fragment from a zone that it may belong to; Infinity where it does not. */
const distance = (zone: Zone, fragment: Line, context: FormulaContext): number => {
  if (zone.lines.length >= MAX_LINES) return Infinity
  const { bodySize } = context
  const near = zone.full !== undefined && isProse(zone.full, context) ? NEAR_PROSE : NEAR
  const away = least(zone.lines.map(({ baseline }) => Math.abs(baseline - fragment.baseline)))
  const x0 = least(zone.lines.map((line) => line.x0)) - bodySize
  const x1 = greatest(zone.lines.map((line) => line.x1)) + bodySize
  return away < near * bodySize && fragment.x0 > x0 && fragment.x1 < x1 ? away : Infinity
}

/** Fragments between two zones, shared out to them. The order of lines is never broken: those that belong above come first, those that belong below last. */
const shareOut = (
  fragments: ReadonlyArray<number>,
  lines: ReadonlyArray<Line>,
  [before, next]: readonly [Zone | undefined, Zone | undefined],
  context: FormulaContext
): ReadonlyArray<Zone> => {
  const far = (zone: Zone | undefined, at: number): number => {
    const line = lines[at]
    return zone === undefined || line === undefined ? Infinity : distance(zone, line, context)
  }
  let start = 0
  for (; before !== undefined && start < fragments.length; start++) {
    const at = fragments[start] ?? 0
    const [up, line] = [far(before, at), lines[at]]
    if (line === undefined || up === Infinity || up > far(next, at)) break
    before.lines.push(line)
    before.to = at + 1
  }
  let end = fragments.length
  for (; next !== undefined && end > start; end--) {
    const at = fragments[end - 1] ?? 0
    const line = lines[at]
    if (line === undefined || far(next, at) === Infinity) break
    next.lines.unshift(line)
    next.from = at
  }
  return fragments.slice(start, end).flatMap((at) => {
    const line = lines[at]
    return line === undefined ? [] : [{ from: at, to: at + 1, lines: [line], full: undefined }]
  })
}

/** Groups lines into zones; fragments go with the nearest line above or below. */
export const zonesOf = (lines: ReadonlyArray<Line>, context: FormulaContext): ReadonlyArray<Zone> => {
  const zones: Array<Zone> = []
  let zone: Zone | undefined
  // Fragments above the zone, and those below it so far: a limit may be over its second line alone.
  let [leading, fragments]: [Array<number>, Array<number>] = [[], []]
  const close = (): void => {
    append(zones, shareOut(leading, lines, [zones.at(-1), zone], context))
    if (zone !== undefined) zones.push(zone)
    leading = fragments
    fragments = []
  }
  for (const [at, line] of lines.entries()) {
    if (isFragment(line, context)) {
      fragments.push(at)
      continue
    }
    const above = zone?.full
    if (
      zone !== undefined &&
      above !== undefined &&
      zone.lines.length < MAX_LINES &&
      (isTight(zone, above, line, context) ||
        isBracketed(zone, line) ||
        zone.lines.slice(-OVER).some((over) => isFraction(over, line, context)))
    ) {
      for (const fragment of fragments) {
        const small = lines[fragment]
        if (small !== undefined) zone.lines.push(small)
      }
      fragments = []
      zone.lines.push(line)
      zone.full = line
      zone.to = at + 1
      continue
    }
    close()
    zone = { from: at, to: at + 1, lines: [line], full: line }
  }
  close()
  zone = undefined
  close()
  return zones
}
