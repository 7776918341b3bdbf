import type { Formula } from "../../../model/block.ts"
import { hull, liesIn } from "../../../model/geometry.ts"
import type { HtmlElement } from "../../../model/html-tree.ts"
import { greatest, least } from "../../../model/lists.ts"
import type { Box } from "../../../model/page-content.ts"
import { type Segment, segmentText, piecesOf } from "../../lines/segment.ts"
import { type FormulaContext } from "./census.ts"
import { mathOf, stacked } from "./math-of.ts"
import { CONTINUES } from "./mathematical.ts"
import { AXIS, extent } from "./signs.ts"
import type { Zone } from "./zones.ts"

/** A display formula, in place of these lines. */
export interface FoundFormula {
  readonly from: number
  readonly to: number
  readonly formula: Formula
}

/** The number of an equation, and its line. */
interface EquationNumber {
  readonly label: string
  readonly baseline: number
  /** True when it is at the left margin. */
  readonly leads: boolean
}

/** A zone's number, and the rest of the zone. */
export interface Numbered {
  readonly number: EquationNumber | undefined
  readonly body: ReadonlyArray<Segment>
}

/** One line of a formula, with everything over and under its signs. */
export interface Row {
  readonly from: number
  readonly to: number
  readonly number: EquationNumber | undefined
  readonly text: string
  readonly math: HtmlElement | undefined
  /** What a picture of it would show. */
  readonly region: Box
  /** Top and bottom of its signs. */
  readonly extent: { readonly y0: number; readonly y1: number }
  /** True when it begins with a relation or an operator. */
  readonly continues: boolean
}

/** Greatest white space between the signs of rows of one system, in sizes of the text. */
const APART = 0.85
/** Greatest distance of a number from the middle of its rows, in font sizes. */
const CENTRED = 0.6
/** Room around a picture of a formula, points. */
const MARGIN = 3

/** What a zone is as a line of a formula. */
export const rowOf = (zone: Zone, { body, number }: Numbered, context: FormulaContext): Row => {
  const box = hull(body)
  const bars = context.bars.filter((bar) => liesIn(bar, box, context.bodySize))
  const own = zone.lines.flatMap(({ segments }) => segments.filter((segment) => body.includes(segment)))
  const pieces = piecesOf(body)
  const first = body.reduce<Segment | undefined>(
    (best, one) => (best === undefined || one.x0 < best.x0 ? one : best),
    undefined
  )
  return {
    from: zone.from,
    to: zone.to,
    number,
    text: own.map(segmentText).join(" "),
    math: mathOf(pieces, bars, context.fonts),
    region: hull([box, ...bars]),
    extent: extent(pieces),
    continues: first !== undefined && CONTINUES.test(segmentText(first))
  }
}

/** Whether two rows follow each other as those of one system do. One that would be a picture stays on its own. */
const belong = (above: Row, below: Row, bodySize: number): boolean =>
  above.to === below.from &&
  above.math !== undefined &&
  below.math !== undefined &&
  (below.continues || below.extent.y0 - above.extent.y1 < APART * bodySize)

/**
 * Cuts consecutive rows behind each that has a number; a number in the middle of all, or before continued rows, belongs
 * to all of them.
 */
const numberedRows = (rows: ReadonlyArray<Row>, bodySize: number): ReadonlyArray<ReadonlyArray<Row>> => {
  const numbers = rows.flatMap(({ number }) => (number === undefined ? [] : [number]))
  const [only] = numbers
  if (numbers.length === 1 && only !== undefined) {
    const top = least(rows.map(({ extent: { y0 } }) => y0))
    const bottom = greatest(rows.map(({ extent: { y1 } }) => y1))
    if (Math.abs(only.baseline - AXIS * bodySize - (top + bottom) / 2) < CENTRED * bodySize) return [rows]
  }
  const cut: Array<Array<Row>> = []
  let number: EquationNumber | undefined
  for (const row of rows) {
    const last = cut.at(-1)
    const isTheirs = number === undefined || (number.leads && row.continues && row.number === undefined)
    if (last !== undefined && isTheirs) last.push(row)
    else {
      cut.push([row])
      number = undefined
    }
    number = row.number ?? number
  }
  return cut
}

const formulaOf = (rows: ReadonlyArray<Row>): Formula => {
  const maths = rows.flatMap(({ math }) => math ?? [])
  const math = maths.length > 1 ? stacked(maths) : maths[0]
  const { x0, x1, y0, y1 } = hull(rows.map(({ region }) => region))
  return {
    kind: "formula",
    text: rows.map(({ text }) => text).join(" "),
    label: rows.find(({ number }) => number !== undefined)?.number?.label,
    math,
    region:
      math === undefined ? { x0: x0 - MARGIN, y0: y0 - MARGIN, x1: x1 + MARGIN, y1: y1 + MARGIN } : undefined
  }
}

/** The formulas that rows make, some of several rows. */
export const systemsOf = (rows: ReadonlyArray<Row>, bodySize: number): ReadonlyArray<FoundFormula> => {
  const runs: Array<Array<Row>> = []
  for (const row of rows) {
    const run = runs.at(-1)
    const above = run?.at(-1)
    if (run !== undefined && above !== undefined && belong(above, row, bodySize)) run.push(row)
    else runs.push([row])
  }
  return runs
    .flatMap((run) => numberedRows(run, bodySize))
    .map((of) => ({ from: of[0]?.from ?? 0, to: of.at(-1)?.to ?? 0, formula: formulaOf(of) }))
}
