import { firstNotBefore, greatest, least } from "../../../lists.ts"
import type { Drawing } from "../../page-content.ts"
import { NEAR } from "./grid-cells.ts"

/** A straight line on the page: along the width at `at`, or along the height. */
export interface Rule {
  readonly at: number
  readonly from: number
  readonly to: number
}

/** What is thicker is a box, points. */
const THICK = 2.5
/** Part of the page's height up to which a box may be a cell. */
const TALLEST = 0.5
/** A page with more is a drawing, not tables; also keeps the search for neighbours small. */
const MAX_RULES = 3000

/** Lines across a page, and lines down it. */
export interface Rules {
  readonly across: ReadonlyArray<Rule>
  readonly down: ReadonlyArray<Rule>
}

/** The straight lines of a page, and the sides of its boxes. */
export const rulesOf = (drawings: ReadonlyArray<Drawing>, width: number, height: number): Rules => {
  const across: Array<Rule> = []
  const down: Array<Rule> = []
  for (const drawing of drawings) {
    if (drawing.kind !== "path") continue
    const { x0, x1, y0, y1 } = drawing.box
    const w = x1 - x0
    const h = y1 - y0
    if (h <= THICK && w > 8) across.push({ at: (y0 + y1) / 2, from: x0, to: x1 })
    else if (w <= THICK && h > 5) down.push({ at: (x0 + x1) / 2, from: y0, to: y1 })
    else if (w > 12 && h > 6 && x0 > -THICK && y0 > -THICK && x1 < width + THICK && h < TALLEST * height) {
      across.push({ at: y0, from: x0, to: x1 }, { at: y1, from: x0, to: x1 })
      down.push({ at: x0, from: y0, to: y1 }, { at: x1, from: y0, to: y1 })
    }
  }
  return across.length + down.length > MAX_RULES ? { across: [], down: [] } : { across, down }
}

/** Upright rules that go on below one another, by their places: what draws row by row draws them in pieces. */
const abutting = (
  sorted: ReadonlyArray<{ readonly rule: Rule; readonly index: number }>
): ReadonlyArray<readonly [number, number]> => {
  const downwards = sorted.toSorted(
    (a, b) => Math.round(a.rule.at) - Math.round(b.rule.at) || a.rule.from - b.rule.from
  )
  return downwards.flatMap(({ index, rule }, at) => {
    const next = downwards[at + 1]
    return next !== undefined &&
      Math.abs(next.rule.at - rule.at) < 1 &&
      Math.abs(next.rule.from - rule.to) < 1
      ? [[index, next.index] as const]
      : []
  })
}

/** Groups of rules that touch, directly or through others. */
export const networks = ({ across, down }: Rules): ReadonlyArray<Rules> => {
  const parents = Array.from({ length: across.length + down.length }, (_, at) => at)
  const root = (at: number): number => {
    let top = at
    while (parents[top] !== top) {
      const up = parents[parents[top] ?? top] ?? top
      parents[top] = up
      top = up
    }
    return top
  }
  const sorted = down.map((rule, index) => ({ rule, index })).sort((a, b) => a.rule.at - b.rule.at)
  for (const [upper, lower] of abutting(sorted))
    parents[root(across.length + lower)] = root(across.length + upper)
  for (const [index, rule] of across.entries()) {
    // The first upright rule that is not left of this one.
    let low = firstNotBefore(sorted, (other) => other.rule.at < rule.from - NEAR)
    for (; low < sorted.length; low++) {
      const other = sorted[low]
      if (other === undefined || other.rule.at > rule.to + NEAR) break
      if (other.rule.from - NEAR <= rule.at && rule.at <= other.rule.to + NEAR)
        parents[root(across.length + other.index)] = root(index)
    }
  }
  const found = new Map<number, { across: Array<Rule>; down: Array<Rule> }>()
  for (const at of parents.keys()) {
    const top = root(at)
    const network = found.get(top) ?? { across: [], down: [] }
    found.set(top, network)
    const rule = across[at]
    if (rule !== undefined) network.across.push(rule)
    else {
      const upright = down[at - across.length]
      if (upright !== undefined) network.down.push(upright)
    }
  }
  return [...found.values()]
}

/** Borders go from one upright rule to another, or further than all of them; what ends in between underlines a cell's words. */
const borders = ({ across, down }: Rules): Rules => {
  const xs = placesOf(down)
  const [left, right] = [xs[0] ?? 0, xs.at(-1) ?? 0]
  const meets = (x: number): boolean =>
    x < left || x > right || xs.some((place) => Math.abs(place - x) < NEAR + 2)
  return { across: across.filter(({ from, to }) => meets(from) && meets(to)), down }
}

/** A table that is too wide for its page is cut off by the page's edge: that closes it where its rules go on over it. */
const closedByEdge = ({ across, down }: Rules, width: number): Rules => {
  const cut = across.filter(({ to }) => to > width + NEAR)
  if (cut.length < 2) return { across, down }
  const ats = cut.map(({ at }) => at)
  return { across, down: [...down, { at: width, from: least(ats), to: greatest(ats) }] }
}

/** The least width of a column at an open side, points. */
const SIDE = 12

/** A table with open sides: its level rules, the first and the last among them, go on over the outermost upright ones. */
const closedBySides = ({ across, down }: Rules): Rules => {
  const [left, right] = [least(down.map(({ at }) => at)), greatest(down.map(({ at }) => at))]
  const [top, bottom] = [least(across.map(({ at }) => at)), greatest(across.map(({ at }) => at))]
  const closing = (at: number, over: ReadonlyArray<Rule>): ReadonlyArray<Rule> => {
    const ends = [top, bottom].every((y) => over.some((rule) => Math.abs(rule.at - y) < NEAR))
    return ends && bottom - top > NEAR ? [{ at, from: top, to: bottom }] : []
  }
  const [from, to] = [least(across.map((rule) => rule.from)), greatest(across.map((rule) => rule.to))]
  if (across.length < 2 || down.length === 0) return { across, down }
  const sides = [
    ...(from < left - SIDE
      ? closing(
          from,
          across.filter((rule) => Math.abs(rule.from - from) < NEAR)
        )
      : []),
    ...(to > right + SIDE
      ? closing(
          to,
          across.filter((rule) => Math.abs(rule.to - to) < NEAR)
        )
      : [])
  ]
  return { across, down: [...down, ...sides] }
}

/** Rows without level rules between them: all upright rules are drawn in pieces, one a row. */
const closedByJoints = ({ across, down }: Rules): Rules => {
  const columns = Map.groupBy(down, ({ at }) => Math.round(at))
  const joints = [...columns.values()].map((pieces) =>
    pieces
      .toSorted((a, b) => a.from - b.from)
      .flatMap((piece, at, { [at - 1]: above }) =>
        above !== undefined && Math.abs(above.to - piece.from) < 1 ? [piece.from] : []
      )
  )
  const [first = [], ...others] = joints
  const [from, to] = [least(across.map((rule) => rule.from)), greatest(across.map((rule) => rule.to))]
  const ys = first
    .filter((y) =>
      others.every((other) => (other[firstNotBefore(other, (at) => at < y - 1)] ?? Infinity) <= y + 1)
    )
    .filter((y) => !across.some(({ at }) => Math.abs(at - y) <= NEAR + 1))
  return across.length === 0 || others.length === 0
    ? { across, down }
    : { across: [...across, ...ys.map((at) => ({ at, from, to }))], down }
}

/** How far upright rules go on over the last level one where a row is cut by a page's end, points. */
const GOES_ON = 6

/** A row that goes on over a page has no border where the page ends: the ends of its upright rules close it. */
const closedByEnds = ({ across, down }: Rules): Rules => {
  const [left, right] = [least(down.map(({ at }) => at)), greatest(down.map(({ at }) => at))]
  const [top, bottom] = [least(across.map(({ at }) => at)), greatest(across.map(({ at }) => at))]
  const closing = (over: ReadonlyArray<Rule>, at: number): ReadonlyArray<Rule> => {
    const isClosed = [left, right].every((x) => over.some((rule) => Math.abs(rule.at - x) < NEAR))
    return isClosed ? [{ at, from: left, to: right }] : []
  }
  const above = down.filter(({ from }) => from < top - GOES_ON)
  const below = down.filter(({ to }) => to > bottom + GOES_ON)
  if (across.length === 0 || above.length + below.length === 0) return { across, down }
  return {
    across: [
      ...across,
      ...closing(above, least(above.map(({ from }) => from))),
      ...closing(below, greatest(below.map(({ to }) => to)))
    ],
    down
  }
}

/** Positions of rules, those that nearly agree merged into one. */
export const placesOf = (rules: ReadonlyArray<Rule>): ReadonlyArray<number> => {
  const places: Array<number> = []
  for (const at of rules.map((rule) => rule.at).sort((a, b) => a - b))
    if (places.length === 0 || at - (places.at(-1) ?? at) > NEAR + 1) places.push(at)
  return places
}

/** The rules of a network as the borders of a table's cells, those of its open sides and rows among them. */
export const bordersOf = (network: Rules, width: number): Rules =>
  borders(closedBySides(closedByJoints(closedByEnds(closedByEdge(network, width)))))
