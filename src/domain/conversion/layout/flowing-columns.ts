import type { Column, Row } from "./line-cells.ts"
import { SENTENCE_END } from "./paragraphs.ts"
import { segmentText } from "./segment.ts"

/** Part of a column's width that a line fills which goes on in the next. */
const FULL = 0.9
const MIN_LETTERS = 45

/**
 * Whether lines go on below one another in a column though there are words beside each of them: text beside text, or labels in a
 * margin. Cells that are wrapped leave their neighbours' lines empty.
 */
export const flowsOn = (rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column>): boolean => {
  let pairs = 0
  let flowing = 0
  for (const [at, row] of rows.entries()) {
    const below = rows[at + 1]
    if (below === undefined || row.cells.length < columns.length || below.cells.length < columns.length)
      continue
    pairs += 1
    const flows = row.cells.some((cell, index) => {
      const [box, column, last] = [row.bounds[index], columns[index], cell.at(-1)]
      if (box === undefined || column === undefined || last === undefined) return false
      const letters = cell.reduce((sum, { characters }) => sum + characters, 0)
      const filled = box.x1 - column.x0 > FULL * (column.x1 - column.x0)
      const next = below.cells[index]?.[0]
      return (
        letters > MIN_LETTERS &&
        filled &&
        next !== undefined &&
        /^\p{Ll}/u.test(segmentText(next)) &&
        !SENTENCE_END.test(segmentText(last).trim())
      )
    })
    if (flows) flowing += 1
  }
  return flowing > 0.4 * pairs
}
