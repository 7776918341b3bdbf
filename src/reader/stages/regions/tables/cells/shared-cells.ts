import type { Line } from "../../../lines/line.ts"
import type { Segment } from "../../../lines/segment.ts"
import type { PlacedCell } from "./table-cells.ts"

/** A cell of a line that takes up more words. */
export interface GrowingCell extends PlacedCell {
  readonly segments: Array<Segment>
}

/** A first cell that is vertically centred on several lines, and the baselines of the first and the last of them. */
interface SharedCell {
  readonly cell: GrowingCell
  readonly first: number
  readonly last: number
}

/** Greatest distance of a cell from the middle of its lines, in font sizes. */
const OFF_MIDDLE = 0.35

/**
 * First cells that rows share, each centred on its rows. The first row has to be without one, and the others have to be
 * centred on rows, too, so that all rows are used up; otherwise the result is empty.
 */
export const sharedCells = (
  lines: ReadonlyArray<{ readonly line: Line; readonly cells: ReadonlyArray<GrowingCell> }>,
  head: number
): ReadonlyArray<SharedCell> => {
  const body = lines.filter(({ line }) => line.baseline > head)
  const rows = body.filter(({ cells }) => cells.some(({ from }) => from > 0))
  const names = body.flatMap(({ cells, line }) =>
    cells.filter(({ from, to }) => from === 0 && to === 0).map((cell) => ({ cell, line }))
  )
  if (names.length === 0 || names.length >= rows.length) return []
  if (rows[0]?.cells.some(({ from }) => from === 0) !== false) return []
  const shared: Array<SharedCell> = []
  let at = 0
  for (const { cell, line } of names) {
    const first = rows[at]?.line.baseline ?? Infinity
    const last = rows.findIndex(
      (row, to) =>
        to >= at && Math.abs((first + row.line.baseline) / 2 - line.baseline) < OFF_MIDDLE * line.size
    )
    if (last === -1) return []
    shared.push({ cell, first, last: rows[last]?.line.baseline ?? first })
    at = last + 1
  }
  return at === rows.length ? shared : []
}
