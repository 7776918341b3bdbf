/** Words that a rule is drawn through: they are no longer valid. */
import type { Box, Drawing, PageContent, TextRun } from "../../model/page-content.ts"
import { extentsOf, flatRules } from "./underlines.ts"

/** Least and greatest distance of such a rule above the baseline, and its greatest thickness, in font sizes. */
const [LOW, HIGH] = [0.12, 0.45]
const THICK = 0.12
/** How far it may begin or end from its words' edges, in font sizes. */
const SLACK = 0.35
/** How far the middle of struck words may be from the rule, points. */
const AROUND = 5
/** Fewest letters and digits under it: a rule through fewer is part of a sign. */
const FEWEST = 2

/** The letters and digits of a run within a range, and whether it begins and ends at edges of words. */
const under = ({ edges, size, text }: TextRun, { x0, x1 }: Box): boolean => {
  let [first, last, count] = [-1, -1, 0]
  for (let at = 0; at < text.length; at++) {
    const middle = ((edges[at] ?? 0) + (edges[at + 1] ?? 0)) / 2
    if (middle < x0 || middle > x1 || text.charAt(at) === " ") continue
    if (first === -1) first = at
    last = at
    if (/[\p{L}\p{N}]/u.test(text.charAt(at))) count += 1
  }
  if (count < FEWEST) return false
  const isStart = first === 0 || text.charAt(first - 1) === " "
  const isEnd = last === text.length - 1 || /[\s.,;:!?)]/.test(text.charAt(last + 1))
  const [start, end] = [edges[first] ?? x0, edges[last + 1] ?? x1]
  return (
    isStart && isEnd && Math.abs(start - x0) < SLACK * size + 0.5 && Math.abs(end - x1) < SLACK * size + 0.5
  )
}

/** Where rules may strike words out: their characters' places tell which. Longer rules are a page's. */
export const strikePlaces = (
  drawings: ReadonlyArray<Drawing>,
  width: number
): ReadonlyArray<{ readonly box: Box }> =>
  flatRules({ drawings }).flatMap((box) =>
    box.x1 - box.x0 < width / 2 ? [{ box: { ...box, y0: box.y0 - AROUND, y1: box.y1 + AROUND } }] : []
  )

/** Marks which part of the page's words is struck out, if any is. */
export const withStrikes = (page: PageContent): PageContent => {
  const rules = flatRules(page)
  if (rules.length === 0) return page
  const extents = extentsOf(page.runs)
  const byRow = Map.groupBy(rules, ({ y0 }) => Math.floor(y0))
  const isThrough = (rule: Box, { baseline, size }: TextRun): boolean => {
    const middle = (rule.y0 + rule.y1) / 2
    return (
      rule.y1 - rule.y0 < THICK * size && middle > baseline - HIGH * size && middle < baseline - LOW * size
    )
  }
  const isAcross = (rule: Box, run: TextRun): boolean => {
    const row = extents.get(Math.round(run.baseline)) ?? run.box
    return rule.x0 > row.x0 - SLACK * run.size && rule.x1 < row.x1 + SLACK * run.size
  }
  return {
    ...page,
    runs: page.runs.map((run) => {
      if (run.angle !== 0 || run.edges.length !== run.text.length + 1) return run
      const struck: Array<Box> = []
      for (let row = Math.floor(run.baseline - HIGH * run.size) - 1; row <= run.baseline; row++)
        for (const rule of byRow.get(row) ?? [])
          if (isThrough(rule, run) && isAcross(rule, run)) {
            const within = { ...rule, x0: Math.max(rule.x0, run.box.x0), x1: Math.min(rule.x1, run.box.x1) }
            if (under(run, within)) struck.push(within)
          }
      return struck.length === 0 ? run : { ...run, struck }
    })
  }
}
