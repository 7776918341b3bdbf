import { acrossOf } from "../../../../model/geometry.ts"
import { greatest, least } from "../../../../model/lists.ts"
import type { FontFace } from "../../../../model/page-content.ts"
import { SAME_LINE } from "../../../lines/line.ts"
import { lookOf, type Segment, isBoldThroughout } from "../../../lines/segment.ts"
import { type Drawn, type DrawnRow } from "./drawn-rows.ts"

/** True when a line is the title of the cells drawn below it, and not a line of its cell. */
const isTitleOf = (
  title: ReadonlyArray<Segment>,
  rest: ReadonlyArray<Segment>,
  fonts: ReadonlyArray<FontFace>
): boolean => {
  const standsOut = (segment: Segment): boolean => {
    const look = lookOf(segment.pieces, fonts, 0)
    return look === "italic" || look === "underlined" || isBoldThroughout(segment, fonts)
  }
  return title.every(standsOut) && !rest.some(standsOut)
}

const cellOf = (cell: Drawn, segments: ReadonlyArray<Segment>): Drawn => ({
  ...cell,
  segments: [...segments],
  ...acrossOf(segments),
  first: least(segments.map(({ baseline }) => baseline)),
  last: greatest(segments.map(({ baseline }) => baseline)),
  end: segments.at(-1)?.x1 ?? cell.end
})

/**
 * A row, and before it the title right above it, which is drawn before the first cell: all other cells are below the
 * title.
 */
export const withoutTitle = (row: DrawnRow, fonts: ReadonlyArray<FontFace>): ReadonlyArray<DrawnRow> => {
  const [cell, ...others] = row.cells
  if (cell === undefined || others.length === 0) return [row]
  const within = SAME_LINE * cell.size
  const isFirst = ({ baseline }: Segment) => baseline <= cell.first + within
  const [above, rest] = [cell.segments.filter(isFirst), cell.segments.filter((segment) => !isFirst(segment))]
  if (rest.length === 0 || !isTitleOf(above, rest, fonts)) return [row]
  const [title, first] = [cellOf(cell, above), cellOf(cell, rest)]
  if (others.some((other) => other.first < first.first - within)) return [row]
  return [
    { cells: [title], top: title.first, bottom: title.last, right: title.x1 },
    { ...row, cells: [first, ...others], top: least([first, ...others].map((one) => one.first)) }
  ]
}
