import { middleX } from "../../../../model/geometry.ts"
import { addTo, greatest } from "../../../../model/lists.ts"
import type { Box, TextRun } from "../../../../model/page-content.ts"
import type { Segment } from "../../../lines/segment.ts"
import { quarterOf } from "../../../runs/turned.ts"

/** Fewest names in a head, and fewest rows below it. */
const FEWEST = 3
const FEWEST_ROWS = 2
/** Part of the names below which each row has a cell. */
const MOSTLY = 0.7
/** Longest name, and longest cell below one, characters. */
const LONGEST = 60
const LONGEST_CELL = 24
/** How far the first row is below its head, and the rows from each other, in font sizes. */
const BELOW = 4
/** How far a name may end above the lowest one, as a part of its length: names are set at the foot of their cells, or in the middle. */
const UNEVEN = 0.75
/** More turned words on a page are its text. */
const MOST = 200
/** Farthest from upright that a name leans, degrees. */
const LEAN = 60
const ODD = 15

/** A name over a column, and its place there. */
interface Name {
  readonly run: TextRun
  readonly x: number
  readonly foot: number
  readonly length: number
}

/** Whether a run leans, as names that are set at 45 degrees do. */
const isSlanted = ({ angle }: TextRun): boolean => angle >= 360 - LEAN && angle <= 360 - ODD

const nameOf = (run: TextRun): ReadonlyArray<Name> => {
  const { box, size, text } = run
  if (text.trim().length > LONGEST || text.trim() === "") return []
  const length = box.y1 - box.y0
  if (isSlanted(run)) return [{ run, x: box.x0 + size / 2, foot: box.y1, length }]
  return quarterOf(run.angle) % 180 === 90 ? [{ run, x: middleX(box), foot: box.y1, length }] : []
}

/** Names side by side at one foot, set alike. */
const groupsOf = (names: ReadonlyArray<Name>): ReadonlyArray<ReadonlyArray<Name>> => {
  const alike = Map.groupBy(names, ({ run }) => `${Math.round(run.angle)} ${Math.round(run.size)}`)
  return [...alike.values()].flatMap((of) => {
    const groups: Array<Array<Name>> = []
    for (const name of of.toSorted((a, b) => b.foot - a.foot)) {
      const last = groups.at(-1)
      const lowest = last?.[0]
      if (last !== undefined && lowest !== undefined && lowest.foot - name.foot < UNEVEN * name.length)
        last.push(name)
      else groups.push([name])
    }
    return groups
  })
}

/** The rows of short words right below a place, down to the first gap. */
const rowsBelow = (foot: number, segments: ReadonlyArray<Segment>): ReadonlyArray<ReadonlyArray<Segment>> => {
  const rows = new Map<number, Array<Segment>>()
  let last = foot
  const below = segments.filter(({ baseline }) => baseline > foot)
  for (const one of below.toSorted((a, b) => a.baseline - b.baseline)) {
    if (one.baseline - last > BELOW * one.size) break
    last = one.baseline
    addTo(rows, Math.round(one.baseline), one)
  }
  return [...rows.values()]
}

/** Whether rows have cells below most of the names. */
const areOver = (names: ReadonlyArray<Name>, rows: ReadonlyArray<ReadonlyArray<Segment>>): boolean => {
  const xs = names.map(({ x }) => x)
  const reach = (at: number) => {
    const [x = 0, left = -Infinity, right = Infinity] = [xs[at], xs[at - 1], xs[at + 1]]
    return Math.min(x - left, right - x) / 2
  }
  const full = rows.filter((row) => {
    const found = xs.filter((x, at) =>
      row.some(
        ({ characters, x0, x1 }) => characters <= LONGEST_CELL && x0 < x + reach(at) && x1 > x - reach(at)
      )
    )
    return found.length >= MOSTLY * names.length && row.length >= MOSTLY * names.length
  })
  return full.length >= FEWEST_ROWS && full.length >= MOSTLY * Math.min(rows.length, FEWEST)
}

/** A name as upright words at its foot, so that its column has it. */
const upright = ({ run, x }: Name, foot: number, order: number): Segment => {
  const { size, text } = run
  const box: Box = { x0: x - size / 2, y0: foot - size, x1: x + size / 2, y1: foot }
  const edges = Array.from(
    { length: text.length + 1 },
    (_, at) => box.x0 + (at * size) / Math.max(1, text.length)
  )
  const stood: TextRun = { ...run, angle: 0, box, baseline: foot - 1, edges }
  return {
    ...box,
    baseline: foot - 1,
    size,
    pieces: [{ run: stood, text, x0: box.x0, x1: box.x1, raise: undefined }],
    order,
    characters: text.length,
    hyphenated: false,
    heads: true
  }
}

/** Heads of columns that are written upwards, downwards or leaning, as upright ones; and their runs. */
interface TurnedHeads {
  readonly heads: ReadonlyArray<Segment>
  readonly runs: ReadonlySet<TextRun>
}

/** Finds words in another direction in a row, each over a column of short words: they name the columns. */
export const turnedHeads = (
  turned: ReadonlyArray<TextRun>,
  segments: ReadonlyArray<Segment>
): TurnedHeads => {
  if (turned.length < FEWEST || turned.length > MOST) return { heads: [], runs: new Set() }
  const own = new Set(turned)
  const others = segments.filter(({ pieces }) => !pieces.some(({ run }) => own.has(run)))
  const runs = new Set<TextRun>()
  const heads = groupsOf(turned.flatMap(nameOf)).flatMap((group): ReadonlyArray<Segment> => {
    const names = group.toSorted((a, b) => a.x - b.x)
    const foot = greatest(names.map((name) => name.foot))
    const rows = rowsBelow(foot, others)
    if (names.length < FEWEST || !areOver(names, rows)) return []
    for (const { run } of names) runs.add(run)
    const order = (rows[0]?.[0]?.order ?? 0) - 1
    return names.map((name, at) => upright(name, foot, order + (at + 1) / (names.length + 1)))
  })
  return { heads, runs }
}
