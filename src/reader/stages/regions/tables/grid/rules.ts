import { firstNotBefore, greatest, least } from "../../../../model/lists.ts"
import type { Box, Drawing } from "../../../../model/page-content.ts"
import { NEAR } from "./grid-cells.ts"

/** A straight line on the page: along the width at `at`, or along the height. */
export interface Rule {
  readonly at: number
  readonly from: number
  readonly to: number
  /** True for the side of a box. */
  readonly side?: boolean
}

/** A rule along the height. */
interface Upright extends Rule {
  /** Places where its parts meet: TeX draws one part for each row. */
  readonly joints: ReadonlyArray<number>
}

/** What is thicker is a box, points. */
const THICK = 2.5
/** Part of the page's height up to which a box may be a cell. */
const TALLEST = 0.5
/** A page with more is a drawing, not tables; also keeps the search for neighbours small. */
const MAX_RULES = 3000

export interface Rules {
  readonly across: ReadonlyArray<Rule>
  readonly down: ReadonlyArray<Upright>
}

/** Rules this near to each other are parts of one, points. */
const SAME_PLACE = 1

/** Rules of one direction, parts that meet made one. */
const joined = (parts: ReadonlyArray<Rule>): ReadonlyArray<Upright> => {
  const sorted = [...parts].sort((a, b) => a.at - b.at)
  const rules: Array<Upright> = []
  for (let first = 0; first < sorted.length;) {
    const at = sorted[first]?.at ?? 0
    let end = first + 1
    while ((sorted[end]?.at ?? Infinity) - at <= SAME_PLACE) end += 1
    let open: { at: number; from: number; to: number; side: boolean; joints: Array<number> } | undefined
    for (const { from, to, side = false } of sorted.slice(first, end).sort((a, b) => a.from - b.from)) {
      if (open === undefined || from > open.to + NEAR) {
        open = { at, from, to, side, joints: [] }
        rules.push(open)
        continue
      }
      if (from > open.to - NEAR && to > open.to + NEAR) open.joints.push((from + open.to) / 2)
      open.to = Math.max(open.to, to)
      open.side &&= side
    }
    first = end
  }
  return rules
}

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
      across.push({ at: y0, from: x0, to: x1, side: true }, { at: y1, from: x0, to: x1, side: true })
      down.push({ at: x0, from: y0, to: y1, side: true }, { at: x1, from: y0, to: y1, side: true })
    }
  }
  return across.length + down.length > MAX_RULES ? { across: [], down: [] } : { across, down: joined(down) }
}

/** Greatest thickness of a bar below the column names, in points. */
const BAR = 6

/** Bars that are thicker than rules, and no boxes. */
export const barsOf = (drawings: ReadonlyArray<Drawing>): ReadonlyArray<Rule> =>
  drawings.slice(0, MAX_RULES).flatMap(({ box: { x0, x1, y0, y1 }, kind }) => {
    const isBar = kind === "path" && y1 - y0 > THICK && y1 - y0 <= BAR && x1 - x0 > 8
    return isBar ? [{ at: (y0 + y1) / 2, from: x0, to: x1 }] : []
  })

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
  const found = new Map<number, { across: Array<Rule>; down: Array<Upright> }>()
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
export const borders = ({ across, down }: Rules): Rules => {
  const xs = placesOf(down)
  const [left, right] = [xs[0] ?? 0, xs.at(-1) ?? 0]
  const meets = (x: number): boolean =>
    x < left || x > right || xs.some((place) => Math.abs(place - x) < NEAR + 2)
  return { across: across.filter(({ from, to }) => meets(from) && meets(to)), down }
}

/** Closes a table that is too wide for its page at the page's edge, where its rules extend beyond it. */
const closedByEdge = ({ across, down }: Rules, width: number): Rules => {
  const cut = across.filter(({ to }) => to > width + NEAR)
  if (cut.length < 2) return { across, down }
  const ats = cut.map(({ at }) => at)
  return { across, down: [...down, { at: width, from: least(ats), to: greatest(ats), joints: [] }] }
}

/** The first and the last level rule, each with its parts: word processors draw one a column. */
const outermost = (across: ReadonlyArray<Rule>): readonly [Rule, Rule] | undefined => {
  const ats = across.map(({ at }) => at)
  const whole = (at: number): Rule => {
    const parts = across.filter((rule) => Math.abs(rule.at - at) <= SAME_PLACE)
    return { at, from: least(parts.map(({ from }) => from)), to: greatest(parts.map(({ to }) => to)) }
  }
  return across.length === 0 ? undefined : [whole(least(ats)), whole(greatest(ats))]
}

/** Greatest length of upright rules beyond the last level one, where a row is cut by a page's end, in points. */
const GOES_ON = 6

/**
 * Closes a row that continues on the next page, and has no border at the page's end, at the ends of its upright rules.
 */
const closedByEnds = ({ across, down }: Rules): Rules => {
  const ends = outermost(across)
  if (ends === undefined) return { across, down }
  const [first, last] = ends
  // A ground's sides end with it.
  const lines = down.filter(({ side }) => side !== true)
  const [left, right] = [least(lines.map(({ at }) => at)), greatest(lines.map(({ at }) => at))]
  const closing = (
    next: Rule,
    goesOn: (rule: Rule) => boolean,
    end: (rules: ReadonlyArray<Rule>) => number
  ) => {
    const over = lines.filter(goesOn)
    const isClosed =
      over.length > 0 && [left, right].every((x) => over.some((rule) => Math.abs(rule.at - x) < NEAR))
    // Without a frame a row is as wide as the neighbouring rule.
    return isClosed ? [{ at: end(over), from: Math.min(left, next.from), to: Math.max(right, next.to) }] : []
  }
  const above = closing(
    first,
    ({ from }) => from < first.at - GOES_ON,
    (rules) => least(rules.map(({ from }) => from))
  )
  const below = closing(
    last,
    ({ to }) => to > last.at + GOES_ON,
    (rules) => greatest(rules.map(({ to }) => to))
  )
  return { across: [...across, ...above, ...below], down }
}

/** Overhang of level rules that is as wide as a column, points. */
const AS_COLUMN = 12

/** Level rules that extend beyond the outermost upright ones, equally at both ends: columns without a side. */
export const closedBySides = ({ across, down }: Rules): Rules => {
  const ends = outermost(across)
  if (ends === undefined) return { across, down }
  const [first, last] = ends
  if (last.at - first.at < NEAR) return { across, down }
  const ats = down.map(({ at }) => at)
  const side = (at: number, other: number, over: number): ReadonlyArray<Upright> =>
    over > AS_COLUMN && Math.abs(at - other) < NEAR ? [{ at, from: first.at, to: last.at, joints: [] }] : []
  return {
    across,
    down: [
      ...side(first.from, last.from, least(ats) - first.from),
      ...down,
      ...side(first.to, last.to, first.to - greatest(ats))
    ]
  }
}

/** Adds row ends where all upright rules are drawn again, though no rule is drawn across. */
const withRowEnds = ({ across, down }: Rules): Rules => {
  const joints = down
    .flatMap((rule) => rule.joints.map((at) => ({ at, x: rule.at })))
    .sort((a, b) => a.at - b.at)
  // Rows go as far as the level rules do, beyond the outermost upright ones, too.
  const [from, to] = [least(across.map((rule) => rule.from)), greatest(across.map((rule) => rule.to))]
  const ends: Array<Rule> = []
  for (let first = 0; first < joints.length;) {
    const at = joints[first]?.at ?? 0
    let end = first + 1
    while ((joints[end]?.at ?? Infinity) - at <= SAME_PLACE) end += 1
    const xs = joints.slice(first, end).map(({ x }) => x)
    const passing = down.filter((rule) => rule.from < at - NEAR && rule.to > at + NEAR).length
    const isDrawn = across.some((rule) => Math.abs(rule.at - at) <= NEAR + 1)
    if (xs.length === passing && !isDrawn)
      ends.push({ at, from: least([...xs, from]), to: greatest([...xs, to]) })
    first = end
  }
  return { across: [...across, ...ends], down }
}

/** Rules that touch, with those that a table has without drawing them: where it, or a row of it, ends. */
export const closedRules = (network: Rules, width: number): Rules =>
  closedByEnds(closedByEdge(withRowEnds(network), width))

/** Positions of rules, those that nearly agree merged into one. */
export const placesOf = (rules: ReadonlyArray<Rule>): ReadonlyArray<number> => {
  const places: Array<number> = []
  for (const at of rules.map((rule) => rule.at).sort((a, b) => a - b))
    if (places.length === 0 || at - (places.at(-1) ?? at) > NEAR + 1) places.push(at)
  return places
}

const beginningAlike = (across: ReadonlyArray<Upright>): ReadonlyArray<ReadonlyArray<Upright>> => [
  ...Map.groupBy(across, ({ from, to }) => `${Math.round(from / 4)}:${Math.round(to / 4)}`).values()
]

/** Greatest number of level rules in a table without any between its rows: above, below its header, and at its end. */
export const MOST_WITHOUT_ROWS = 3

/** Level rules, those that meet made one, by where they begin and end. */
export const ruleFamilies = (across: ReadonlyArray<Rule>): ReadonlyArray<ReadonlyArray<Upright>> =>
  beginningAlike(joined(across))

/**
 * Level rules with the same ends. Rules that browsers draw cell by cell count as one, unless there is one for each row,
 * which shows cells.
 */
export const alikeRules = (across: ReadonlyArray<Rule>): ReadonlyArray<ReadonlyArray<Rule>> => {
  const few: Array<ReadonlyArray<Upright>> = []
  const parts: Array<Upright> = []
  for (const rules of ruleFamilies(across))
    if (rules.length <= MOST_WITHOUT_ROWS) few.push(rules)
    else
      for (const { joints, ...rule } of rules)
        for (const [at, from] of [rule.from, ...joints].entries())
          parts.push({ ...rule, from, to: joints[at] ?? rule.to, joints: [] })
  return [...few, ...beginningAlike(parts)]
}

/** Areas with three or more level rules of the same ends: a table, possibly with columns as near as words. */
export const tableFrames = (
  drawings: ReadonlyArray<Drawing>,
  width: number,
  height: number
): ReadonlyArray<{ readonly box: Box }> =>
  alikeRules(rulesOf(drawings, width, height).across)
    .filter((rules) => rules.length > 2)
    .map((rules) => {
      const ats = rules.map(({ at }) => at)
      const [x0, x1] = [least(rules.map(({ from }) => from)), greatest(rules.map(({ to }) => to))]
      return { box: { x0, y0: least(ats), x1, y1: greatest(ats) } }
    })
