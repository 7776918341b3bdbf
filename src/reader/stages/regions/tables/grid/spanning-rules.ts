import { middleX } from "../../../../model/geometry.ts"
import type { Column } from "../cells/table-cells.ts"
import type { Rule } from "./rules.ts"

/** Least difference in length between a rule and its table, in points. */
const SHORTER = 6

/** The rules below names of several columns: in the head, and shorter than those above and below the table. Above `end`. */
export const spanningRules = (
  across: ReadonlyArray<Rule>,
  top: number,
  end: number,
  { from: x0, to: x1 }: Rule
): ReadonlyArray<Rule> =>
  across.filter(
    ({ at, from, to }) =>
      at > top && at < end && from > x0 - SHORTER && to < x1 + SHORTER && to - from < x1 - x0 - SHORTER
  )

/** The columns below a name, by the rule right below it; undefined without one. `next`: the line below. */
export const ruledOver = (
  name: Column,
  baseline: number,
  next: number,
  rules: ReadonlyArray<Rule>,
  columns: ReadonlyArray<Column>
): { readonly from: number; readonly to: number } | undefined => {
  const isOver = ({ from: begin, to: end }: Rule, column: Column) =>
    begin < middleX(column) && end > middleX(column)
  const rule = rules.find((one) => one.at > baseline && one.at < next && isOver(one, name))
  if (rule === undefined) return undefined
  const from = columns.findIndex((column) => isOver(rule, column))
  const to = columns.findLastIndex((column) => isOver(rule, column))
  return from === -1 ? undefined : { from, to }
}
