import { crosses } from "../../../../model/geometry.ts"
import { greatest, least } from "../../../../model/lists.ts"
import type { Segment } from "../../../lines/segment.ts"
import { OVERLAPPING } from "../cells/table-extent.ts"
import { NEAR } from "./grid-cells.ts"
import { placesOf, type Rule, type Rules } from "./rules.ts"

/** Most lines of a head, and most columns of a table. */
const MAX_LINES = 4
const MAX_COLUMNS = 60

/** The baselines of a head's lines, from above. */
const baselinesOf = (words: ReadonlyArray<Segment>): ReadonlyArray<number> => {
  const baselines: Array<number> = []
  for (const { baseline, size } of [...words].sort((a, b) => a.baseline - b.baseline))
    if (baseline - (baselines.at(-1) ?? -Infinity) > OVERLAPPING * size) baselines.push(baseline)
  return baselines
}

/**
 * A grid with the names above it that a level rule as wide as the grid closes, where no upright ones are drawn: names that are set
 * each in the middle of its column leave those out. Nothing wraps there, so that each line is a row.
 */
export const withHead = (grid: Rules, { across, down }: Rules, segments: ReadonlyArray<Segment>): Rules => {
  const [xs, ys] = [placesOf(grid.down), placesOf(grid.across)]
  const [left, right, top] = [xs[0] ?? 0, xs.at(-1) ?? 0, ys[0] ?? 0]
  if (
    xs.length < 3 ||
    xs.length > MAX_COLUMNS ||
    ys.length < 2 ||
    grid.down.some(({ from }) => from < top - NEAR)
  )
    return grid
  const above = greatest(
    across
      .filter(
        ({ at, from, to }) => at < top - NEAR && Math.abs(from - left) < NEAR && Math.abs(to - right) < NEAR
      )
      .map(({ at }) => at)
  )
  if (above === -Infinity) return grid
  const isDrawn = down.some(
    ({ at, from, to }) => at > left - NEAR && at < right + NEAR && from < top - NEAR && to > above + NEAR
  )
  if (isDrawn) return grid
  const words = segments.filter(
    ({ baseline, x0, x1 }) => baseline > above && baseline < top && x0 < right && x1 > left
  )
  const baselines = baselinesOf(words)
  const filled = xs.filter((x, at) =>
    words.some((one) => one.x0 > x - NEAR && one.x1 < (xs[at + 1] ?? 0) + NEAR)
  )
  if (filled.length < 2 || baselines.length > MAX_LINES) return grid
  if (words.some(({ x0, x1 }) => x0 < left - NEAR || x1 > right + NEAR)) return grid
  const ends = baselines.map((baseline, at) => {
    const next = baselines[at + 1]
    const size = least(words.map((one) => one.size))
    return next === undefined ? top : Math.max(baseline + NEAR / 2, next - OVERLAPPING * size)
  })
  const level = [above, ...ends.slice(0, -1)].map((at): Rule => ({ at, from: left, to: right }))
  const upright = baselines.flatMap((baseline, at) =>
    xs
      .filter((x) => !words.some((one) => Math.abs(one.baseline - baseline) < 1 && crosses(one, x, NEAR)))
      .map((x) => ({
        at: x,
        from: at === 0 ? above : (ends[at - 1] ?? above),
        to: ends[at] ?? top,
        joints: []
      }))
  )
  return { across: [...level, ...grid.across], down: [...grid.down, ...upright] }
}
