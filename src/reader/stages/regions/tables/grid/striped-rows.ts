import { crosses } from "../../../../model/geometry.ts"
import { greatest, least } from "../../../../model/lists.ts"
import type { Segment } from "../../../lines/segment.ts"
import { NEAR } from "./grid-cells.ts"
import { placesOf, type Rule, type Rules } from "./rules.ts"

/** Fewest columns, and most of them. */
const FEWEST = 3
const MOST = 60
/** Greatest height of a row without a ground, in font sizes. */
const TALLEST = 8

interface Extent {
  readonly xs: ReadonlyArray<number>
  readonly top: number
  readonly bottom: number
}

const extentOf = ({ across, down }: Rules): Extent => {
  const ats = across.map(({ at }) => at)
  return { xs: placesOf(down), top: least(ats), bottom: greatest(ats) }
}

const areAlike = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): boolean =>
  a.length === b.length && a.every((x, at) => Math.abs(x - (b[at] ?? 0)) <= NEAR)

/** The words between two grounds, if they are a row: none crosses a column's side, and some are in two columns. */
const isRow = (words: ReadonlyArray<Segment>, xs: ReadonlyArray<number>): boolean => {
  const columns = words.map((one) => xs.findLastIndex((x) => x <= one.x0 + NEAR))
  return (
    new Set(columns).size > 1 &&
    !words.some((one) => xs.some((x) => crosses(one, x, NEAR))) &&
    !columns.some((at) => at < 0 || at >= xs.length - 1)
  )
}

/**
 * Joins the grounds of every other row, drawn cell by cell, with the rows between them, which have none. Each of those is
 * one row, however many lines it has. From the top down. Linear in the grounds, but for sorting.
 */
export const withRowsBetween = (
  networks: ReadonlyArray<Rules>,
  segments: ReadonlyArray<Segment>
): ReadonlyArray<Rules> => {
  const known = networks.map((rules) => ({ rules, ...extentOf(rules) })).sort((a, b) => a.top - b.top)
  const joined: Array<(typeof known)[number]> = []
  for (const one of known) {
    const { rules, top, xs } = one
    const at = joined.findLastIndex((other) => areAlike(other.xs, xs))
    const above = joined[at]
    const isTable = xs.length > FEWEST && xs.length <= MOST + 1
    const words =
      above === undefined || !isTable
        ? []
        : segments.filter(
            ({ baseline, x0, x1 }) =>
              baseline > above.bottom && baseline < top && x0 < greatest(xs) && x1 > least(xs)
          )
    const size = words[0]?.size ?? 0
    if (above === undefined || top - above.bottom > TALLEST * size || !isRow(words, xs)) {
      joined.push(one)
      continue
    }
    const down = xs.map((x) => ({ at: x, from: above.bottom, to: top, joints: [], side: true }))
    const merged: Rules = {
      across: [...above.rules.across, ...rules.across] satisfies ReadonlyArray<Rule>,
      down: [...above.rules.down, ...rules.down, ...down]
    }
    joined[at] = { rules: merged, xs, top: above.top, bottom: one.bottom }
  }
  return joined.map(({ rules }) => rules)
}
