import { crosses, middleX, middleY } from "../../../../model/geometry.ts"
import { greatest, least } from "../../../../model/lists.ts"
import { CAPTION } from "../../../lines/markers.ts"
import { type Segment, segmentText } from "../../../lines/segment.ts"
import { overlaps } from "../cells/table-cells.ts"
import { OVERLAPPING } from "../cells/table-extent.ts"
import { NEAR, slotOf, isOver } from "./grid-cells.ts"
import { borders, MOST_WITHOUT_ROWS, placesOf, type Rule, ruleFamilies, type Rules } from "./rules.ts"

/** Most tables of a page, and most columns of one. */
const MAX_TABLES = 60
const MAX_COLUMNS = 60
/** Greatest gap between lines of a row, and between a row and its rule, in font sizes. */
const APART = 1
/** Part of the bands between rules that hold one row. */
const MOSTLY = 0.7

/** True when words span columns, or extend beyond them. */
const isOut = ({ pieces, x0, x1 }: Segment, xs: ReadonlyArray<number>): boolean =>
  x0 < (xs[0] ?? 0) - NEAR || x1 > (xs.at(-1) ?? 0) + NEAR || pieces.some((piece) => isOver(piece, xs))

const isCaption = (one: Segment): boolean => CAPTION.test(segmentText(one))

const columnOf = (one: Segment, xs: ReadonlyArray<number>): number => slotOf(xs, middleX(one))

/** Words by line, from above (`way` 1) or from below (-1). */
const linesIn = (words: ReadonlyArray<Segment>, way: 1 | -1 = 1): ReadonlyArray<ReadonlyArray<Segment>> => {
  const lines: Array<Array<Segment>> = []
  let last = -Infinity
  for (const one of [...words].sort((a, b) => way * (a.baseline - b.baseline))) {
    const line = lines.at(-1)
    if (line === undefined || way * one.baseline - last > OVERLAPPING * one.size) lines.push([one])
    else line.push(one)
    last = way * one.baseline
  }
  return lines
}

/** Whether words between two rules are a row: some column has one line, while several rows leave none with less than that. */
const isRow = (words: ReadonlyArray<Segment>, xs: ReadonlyArray<number>): boolean =>
  words.length === 0 ||
  [...Map.groupBy(words, (one) => columnOf(one, xs)).values()].some((cell) => linesIn(cell).length === 1)

/**
 * How far a row reaches above a table's first rule (`way` -1), as names of columns do, or below its last one (1), where a page ends or
 * no rule closes the table: lines with words in several columns, and those of one below them.
 */
const reachOf = (
  words: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  at: number,
  way: 1 | -1
): number => {
  let [reach, edge] = [at, at]
  const beyond = words.filter(({ baseline }) => way * (baseline - at) > 0)
  for (const line of linesIn(beyond, way)) {
    const [top, bottom] = [least(line.map(({ y0 }) => y0)), greatest(line.map(({ y1 }) => y1))]
    const gap = way < 0 ? edge - bottom : top - edge
    if (gap > APART * (line[0]?.size ?? 0) || line.some((one) => isOut(one, xs) || isCaption(one))) break
    const several = new Set(line.map((one) => columnOf(one, xs))).size > 1
    if (!several && way > 0 && reach === at) break
    edge = way < 0 ? top : bottom
    if (several || way > 0) reach = edge + way
  }
  return reach
}

/** The columns of rules that are mostly drawn in parts, at the same places but for a joint that was not found. */
const columnsOf = (rules: ReturnType<typeof ruleFamilies>[number]): ReadonlyArray<number> => {
  const parts = rules.filter(({ joints }) => joints.length > 0)
  const kinds = Map.groupBy(parts, ({ joints }) => joints.map((x) => Math.round(x / NEAR)).join(" "))
  const [most = []] = [...kinds.values()].sort((a, b) => b.length - a.length)
  if (most.length < parts.length - 1 || parts.length < rules.length / 2) return []
  return [
    least(rules.map(({ from }) => from)),
    ...(most[0]?.joints ?? []),
    greatest(rules.map(({ to }) => to))
  ]
}

/** The places of rules, separately for each table: text or a caption is between two tables. */
const tablesOf = (
  places: ReadonlyArray<number>,
  bands: ReadonlyMap<number, ReadonlyArray<Segment>>,
  xs: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<number>> => {
  const tables: Array<Array<number>> = []
  for (const [at, place] of places.entries()) {
    const words = bands.get(at - 1) ?? []
    const isText = linesIn(words).length > 1 && words.some((one) => isOut(one, xs))
    if (at === 0 || isText || words.some(isCaption)) tables.push([place])
    else tables.at(-1)?.push(place)
  }
  return tables
}

/**
 * Grids of tables with a rule below each row and none between columns: where each rule is drawn cell by cell, as by
 * word processors and browsers, its parts show the columns. Words across parts are in a cell over both.
 */
export const rowGrids = (
  across: ReadonlyArray<Rule>,
  segments: ReadonlyArray<Segment>
): ReadonlyArray<Rules> => {
  const gridOf = (drawn: ReadonlyArray<number>, xs: ReadonlyArray<number>): ReadonlyArray<Rules> => {
    const [left, right, top, bottom] = [xs[0] ?? 0, xs.at(-1) ?? 0, drawn[0] ?? 0, drawn.at(-1) ?? 0]
    const inside = segments.filter((one) => overlaps({ x0: left, x1: right }, one))
    const level = borders({
      across: across.filter(
        (rule) => rule.at > top - NEAR && rule.at < bottom + NEAR && rule.from < right && rule.to > left
      ),
      down: xs.map((at) => ({ at, from: top, to: bottom, joints: [] }))
    }).across
    const outer = [reachOf(inside, xs, top, -1), reachOf(inside, xs, bottom, 1)]
    const all = [...level, ...outer.map((at) => ({ at, from: left, to: right }))]
    const ys = placesOf(all)
    const rows = Map.groupBy(inside, (one) => slotOf(ys, middleY(one)))
    const single = ys.slice(0, -1).filter((_, row) => isRow(rows.get(row) ?? [], xs)).length
    if (ys.length <= MOST_WITHOUT_ROWS || single < MOSTLY * (ys.length - 1)) return []
    const down = xs.flatMap((at) =>
      ys.slice(0, -1).flatMap((from, row) => {
        const over = rows.get(row)?.some(({ pieces }) => pieces.some((piece) => crosses(piece, at, NEAR)))
        return over === true ? [] : [{ at, from, to: ys[row + 1] ?? from, joints: [] }]
      })
    )
    return [{ across: all, down }]
  }
  return ruleFamilies(across)
    .filter((rules) => rules.length > MOST_WITHOUT_ROWS)
    .slice(0, MAX_TABLES)
    .flatMap((rules) => {
      const xs = columnsOf(rules)
      if (xs.length < 3 || xs.length > MAX_COLUMNS) return []
      const places = placesOf(rules)
      const [x0, x1] = [xs[0] ?? 0, xs.at(-1) ?? 0]
      const inside = segments.filter((one) => overlaps({ x0, x1 }, one))
      const bands = Map.groupBy(inside, ({ baseline }) => slotOf(places, baseline))
      return tablesOf(places, bands, xs).flatMap((drawn) => (drawn.length < 2 ? [] : gridOf(drawn, xs)))
    })
    .slice(0, MAX_TABLES)
}
