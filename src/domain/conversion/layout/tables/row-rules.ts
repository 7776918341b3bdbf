import { greatest, least } from "../../../lists.ts"
import { CAPTION } from "../lines/markers.ts"
import { type Segment, segmentText } from "../lines/segment.ts"
import { NEAR, slotOf } from "./grid-cells.ts"
import { MOST_WITHOUT_ROWS, placesOf, ruleFamilies, type Rule, type Rules } from "./rules.ts"
import { overlaps } from "./table-cells.ts"
import { OVERLAPPING } from "./table-extent.ts"

/** Most such tables of a page, most columns of one, and most lines of its head. */
const MAX_TABLES = 60
const MAX_COLUMNS = 60
const MAX_HEAD = 4
/** Step of a head's lines, and of its last one from the rule below it, in font sizes. */
const LINE_STEP = 1.6
/** Fewest rules of a table. */
const FEWEST = 2
/** Part of the width that a rule of another thickness goes over. */
const WIDE = 0.9

/** Words above a place line by line, from below, those that stand beside one another taken together. */
const linesAbove = (segments: ReadonlyArray<Segment>, top: number): ReadonlyArray<ReadonlyArray<Segment>> => {
  const lines: Array<Array<Segment>> = []
  let last = top
  const above = segments.filter(({ baseline }) => baseline <= top)
  for (const segment of above.sort((a, b) => b.baseline - a.baseline)) {
    const line = lines.at(-1)
    if (line !== undefined && last - segment.baseline < OVERLAPPING * segment.size) line.push(segment)
    else {
      if (last - segment.baseline > LINE_STEP * segment.size || lines.length >= MAX_HEAD) break
      lines.push([segment])
      last = segment.baseline
    }
  }
  return lines
}

/** Whether words go over from one column to another, or stand out. */
const isOver = (
  { x0, x1 }: { readonly x0: number; readonly x1: number },
  xs: ReadonlyArray<number>
): boolean =>
  x0 < (xs[0] ?? 0) - NEAR || x1 > (xs.at(-1) ?? 0) + NEAR || xs.some((x) => x0 < x - NEAR && x1 > x + NEAR)

const columnsOf = (words: ReadonlyArray<Segment>, xs: ReadonlyArray<number>): number =>
  new Set(words.map(({ x0, x1 }) => slotOf(xs, (x0 + x1) / 2))).size

/** Where the names of columns begin above a rule: lines with words in columns, up to the last that has them in several. */
const topOfNames = (
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  top: number
): number | undefined => {
  let names: number | undefined
  for (const line of linesAbove(segments, top)) {
    if (line.some((one) => isOver(one, xs))) break
    const several = columnsOf(line, xs) > 1
    if (!several && names !== undefined) break
    if (several) names = least(line.map(({ y0 }) => y0)) - 1
  }
  return names
}

/** Where the row above the first rule begins: at a rule that is drawn in another way, as below the names of columns. */
const topOfRow = (
  across: ReadonlyArray<Rule>,
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  top: number
): number | undefined => {
  const [left, right] = [xs[0] ?? 0, xs.at(-1) ?? 0]
  const wide = across.filter(
    ({ at, from, to }) => at < top - NEAR && Math.min(to, right) - Math.max(from, left) > WIDE * (to - from)
  )
  const at = greatest(wide.map((rule) => rule.at))
  const length = wide.filter((rule) => at - rule.at < NEAR).reduce((sum, { from, to }) => sum + to - from, 0)
  const words = segments.filter(({ baseline }) => baseline > at && baseline < top)
  const lines = linesAbove(words, top)
  return length > WIDE * (right - left) &&
    lines.flat().length === words.length &&
    columnsOf(words, xs) > 1 &&
    !words.some((one) => isOver(one, xs))
    ? at
    : undefined
}

/** The parts that nearly all of these rules have. */
const partsOf = (rules: ReadonlyArray<{ readonly joints: ReadonlyArray<number> }>): ReadonlyArray<number> => {
  const kinds = Map.groupBy(rules, ({ joints }) => joints.map((x) => Math.round(x / NEAR)).join(" "))
  const most = [...kinds.values()].sort((a, b) => b.length - a.length)[0] ?? []
  return most.length < rules.length - 1 ? [] : (most[0]?.joints ?? [])
}

/** Upright rules in each row, but where words go over them. */
const uprightIn = (
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  ys: ReadonlyArray<number>
): Rules["down"] => {
  const rows = Map.groupBy(segments, ({ y0, y1 }) => slotOf(ys, (y0 + y1) / 2))
  return xs.flatMap((at) =>
    ys.slice(0, -1).flatMap((from, row) => {
      const pieces = rows.get(row)?.flatMap((one) => one.pieces) ?? []
      const over = pieces.some(({ x0, x1 }) => x0 < at - NEAR && x1 > at + NEAR)
      return over ? [] : [{ at, from, to: ys[row + 1] ?? from, joints: [] }]
    })
  )
}

/** Places of rules, those of each table apart: between two of them stands text, or a caption. */
const tablesOf = (
  places: ReadonlyArray<number>,
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<number>> => {
  const bands = Map.groupBy(segments, ({ baseline }) => slotOf(places, baseline))
  const tables: Array<Array<number>> = []
  for (const [at, place] of places.entries()) {
    const words = bands.get(at - 1) ?? []
    const [first] = words
    const isText =
      first !== undefined &&
      words.some((one) => isOver(one, xs)) &&
      words.some(({ baseline }) => Math.abs(baseline - first.baseline) > OVERLAPPING * first.size)
    const apart = isText || words.some((one) => CAPTION.test(segmentText(one)))
    if (apart || tables.length === 0) tables.push([place])
    else tables.at(-1)?.push(place)
  }
  return tables
}

/** Whether each row begins with one line: then one rule stands below each of them. */
const areSingle = (
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  ys: ReadonlyArray<number>
): boolean => {
  const firsts = segments.filter((one) => slotOf(xs, (one.x0 + one.x1) / 2) === 0)
  const rows = Map.groupBy(firsts, ({ y0, y1 }) => slotOf(ys, (y0 + y1) / 2))
  return ys.slice(0, -1).every((_, row) => {
    const baselines = rows.get(row)?.map(({ baseline }) => baseline) ?? []
    return baselines.length > 0 && greatest(baselines) - least(baselines) < 1
  })
}

/** What may be a table: its rules' places, where its columns meet, and the words between its sides. */
interface Found {
  readonly drawn: ReadonlyArray<number>
  readonly xs: ReadonlyArray<number>
  readonly inside: ReadonlyArray<Segment>
}

/** The tables that rules may be of which begin and end below one another. */
const foundIn = (
  rules: ReadonlyArray<Rule & { readonly joints: ReadonlyArray<number> }>,
  segments: ReadonlyArray<Segment>
): ReadonlyArray<Found> => {
  const joints = partsOf(rules)
  const [left, right] = [least(rules.map(({ from }) => from)), greatest(rules.map(({ to }) => to))]
  const xs = [left, ...joints, right]
  if (xs.length < 3 || xs.length > MAX_COLUMNS) return []
  const inside = segments.filter((one) => overlaps({ x0: left, x1: right }, one))
  return tablesOf(placesOf(rules), inside, xs)
    .filter(({ length }) => length >= FEWEST)
    .map((drawn) => ({ drawn, xs, inside }))
}

/**
 * Grids of tables that have a rule below each row and none between columns: where each is drawn cell by cell, as word processors
 * and browsers do, its parts tell of the columns. Words that go over them are in a cell over both. `bars`: those below heads.
 */
export const rowGrids = (
  across: ReadonlyArray<Rule>,
  bars: ReadonlyArray<Rule>,
  segments: ReadonlyArray<Segment>
): ReadonlyArray<Rules> => {
  const level = [...across, ...bars]
  return ruleFamilies(across)
    .filter((rules) => rules.length >= FEWEST && rules.some(({ joints }) => joints.length > 0))
    .slice(0, MAX_TABLES)
    .flatMap((rules) => foundIn(rules, segments))
    .slice(0, MAX_TABLES)
    .flatMap(({ drawn, inside, xs }): ReadonlyArray<Rules> => {
      const row = topOfRow(level, inside, xs, drawn[0] ?? 0)
      const known = row === undefined ? drawn : [row, ...drawn]
      if (known.length <= MOST_WITHOUT_ROWS && !areSingle(inside, xs, known)) return []
      const names = topOfNames(inside, xs, known[0] ?? 0)
      const ys = names === undefined ? known : [names, ...known]
      const [from = 0, to = 0] = [xs[0], xs.at(-1)]
      return [{ across: ys.map((at) => ({ at, from, to })), down: uprightIn(inside, xs, ys) }]
    })
}
