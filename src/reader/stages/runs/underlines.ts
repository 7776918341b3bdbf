/** Words that a rule is drawn under. */
import type { Box, PageContent, TextRun } from "../../model/page-content.ts"

/** Greatest distance of a rule below the baseline, and its greatest thickness, in font sizes. */
const BELOW = 0.3
const THICK = 0.15
/** How much shorter or longer than its words it may be, in font sizes. */
const SLACK = 0.5

/** More rules on one page are a drawing's, or there to cost time. */
const MOST = 1000

const isFlat = ({ x0, x1, y0, y1 }: Box): boolean => y1 - y0 < 3 && x1 - x0 > 3 * (y1 - y0)

/** Where the words of each baseline begin and end. */
export const extentsOf = (runs: ReadonlyArray<TextRun>): ReadonlyMap<number, Pick<Box, "x0" | "x1">> => {
  const extents = new Map<number, Pick<Box, "x0" | "x1">>()
  for (const { baseline, box } of runs) {
    const row = Math.round(baseline)
    const { x0, x1 } = extents.get(row) ?? box
    extents.set(row, { x0: Math.min(x0, box.x0), x1: Math.max(x1, box.x1) })
  }
  return extents
}

/** Flat rules of a page; none where there are so many that they are a drawing. */
export const flatRules = ({ drawings }: Pick<PageContent, "drawings">): ReadonlyArray<Box> => {
  const flat = drawings.flatMap(({ box, kind }) => (kind === "path" && isFlat(box) ? [box] : []))
  return flat.length > MOST ? [] : flat
}

/** Marks what is underlined. A rule that is longer than its row of words is a table's, or a page's. */
export const withUnderlines = (page: PageContent): PageContent => {
  const flat = flatRules(page)
  if (flat.length === 0) return page
  const rules = Map.groupBy(flat, ({ y0 }) => Math.floor(y0))
  const extents = extentsOf(page.runs)
  const isUnder = ({ x0, x1, y0, y1 }: Box, { baseline, box, size }: TextRun): boolean => {
    const row = extents.get(Math.round(baseline)) ?? box
    const slack = SLACK * size
    return (
      y0 > baseline &&
      y1 - y0 < THICK * size &&
      x0 <= box.x0 + slack &&
      x1 >= box.x1 - slack &&
      x0 > row.x0 - slack &&
      x1 < row.x1 + slack
    )
  }
  return {
    ...page,
    runs: page.runs.map((run) => {
      const first = Math.floor(run.baseline)
      for (let row = first; row <= run.baseline + BELOW * run.size; row++)
        if (rules.get(row)?.some((rule) => isUnder(rule, run)) === true) return { ...run, underlined: true }
      return run
    })
  }
}
