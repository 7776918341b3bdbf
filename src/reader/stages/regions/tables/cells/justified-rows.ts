import { acrossOf } from "../../../../model/geometry.ts"
import { greatest, least } from "../../../../model/lists.ts"
import { type Segment, piecesOf } from "../../../lines/segment.ts"
import { wordsIn } from "./narrow-columns.ts"

/** How near to the margins a text's full lines begin and end, points. */
const AT_MARGIN = 1
/** By how much white differs that is dealt out evenly on a line, at most, and as it does from line to line, in font sizes. */
const EVEN = 0.06
const OTHER = 0.04

/** What widens the white behind it. */
const STOPS = /[.,:;!?)]$/

/** The white between the words of a line, but behind stops. */
const whiteIn = (line: ReadonlyArray<Segment>): ReadonlyArray<number> => {
  const words = wordsIn(piecesOf(line)).toSorted((a, b) => a.x0 - b.x0)
  return words.slice(1).flatMap(({ size, x0 }, at) => {
    const before = words[at]
    return before === undefined || STOPS.test(before.text) ? [] : [(x0 - before.x1) / size]
  })
}

/**
 * Whether lines that may be cut into cells are those of a justified text in a narrow column: each reaches from margin to margin, with the same
 * white between all of its words, and other white than the other lines. The white of columns is wider than that within cells, or
 * the same on each line.
 */
export const areJustified = (lines: ReadonlyArray<ReadonlyArray<Segment>>): boolean => {
  const ends = lines.map(acrossOf)
  const all = acrossOf(ends)
  if (!ends.every(({ x0, x1 }) => x0 - all.x0 < AT_MARGIN && all.x1 - x1 < AT_MARGIN)) return false
  const white = lines.map(whiteIn).filter(({ length }) => length > 1)
  const usual = white.map(least)
  return (
    white.every((gaps, at) => greatest(gaps) - (usual[at] ?? 0) < EVEN) &&
    greatest(usual) - least(usual) > OTHER
  )
}

/** White that parts no words, in font sizes: a mark behind a word of another face. */
const NONE = 0.1
/** Fewest words of a line beyond its cells, and the part of a table's rows that are lines. */
const WORDS_BESIDE = 4
const PART_OF_ROWS = 0.5

/**
 * Whether at least half of the rows are justified lines, with equal gaps between cells and within them: words then begin below others
 * by chance. Cells of one word each may be as far apart, too.
 */
export const areDealtOut = (rows: ReadonlyArray<ReadonlyArray<ReadonlyArray<Segment>>>): boolean => {
  const dealt = rows.filter((cells) => {
    const white = whiteIn(cells.flat()).filter((one) => one > NONE)
    return white.length >= cells.length - 1 + WORDS_BESIDE && greatest(white) - least(white) < EVEN
  })
  return rows.length > 0 && dealt.length >= PART_OF_ROWS * rows.length
}
