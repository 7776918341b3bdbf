import { greatest, least } from "../../../../model/lists.ts"
import type { Drawing } from "../../../../model/page-content.ts"
import type { Line } from "../../../lines/line.ts"

/**
 * Drawings without those of running headers and footers. Word processors set these as tables with borders, which would
 * become part of neighbouring tables. They begin beyond or at the running lines and end before the text does.
 */
export const withoutRunningBorders = (
  drawings: ReadonlyArray<Drawing>,
  rows: ReadonlyArray<Line>,
  running: ReadonlySet<Line>
): ReadonlyArray<Drawing> => {
  const text = rows.filter((row) => !running.has(row))
  if (running.size === 0 || text.length === 0) return drawings
  const [top, bottom] = [least(text.map(({ y0 }) => y0)), greatest(text.map(({ y1 }) => y1))]
  const head = greatest([...running].filter(({ y1 }) => y1 <= top).map(({ y1 }) => y1))
  const foot = least([...running].filter(({ y0 }) => y0 >= bottom).map(({ y0 }) => y0))
  return drawings.filter(
    ({ box: { y0, y1 }, kind }) => kind !== "path" || !((y0 < head && y1 < top) || (y1 > foot && y0 > bottom))
  )
}
