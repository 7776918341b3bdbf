/** Underscores that are drawn as rules: TeX's text faces have none. */
import type { Box, Drawing, PageContent, TextRun } from "../../model/page-content.ts"

/** How long and how thick such a rule is, in font sizes. */
const LENGTH = { least: 0.2, most: 0.6 } as const
const THICK = 0.1
/**
 * Greatest distance of a drawn underscore from the baseline, from the letters next to it and from the next one, in font
 * sizes.
 */
const OFF = 0.12
const BESIDE = 0.2
/** More of them in a row are a blank to be filled in. */
const MOST_IN_ROW = 3
/** More short rules on one page are a drawing's, or there to cost time. */
const MOST = 1000

const isShort = (drawing: Drawing): boolean => {
  const { x0, x1, y0, y1 } = drawing.box
  return drawing.kind === "path" && !drawing.curved && y1 - y0 < 3 && x1 - x0 < 30 && x1 - x0 > 2 * (y1 - y0)
}

/** The rules that fill the gap between two runs; undefined where they do not. */
const filling = (
  left: TextRun,
  right: TextRun,
  rules: ReadonlyArray<Drawing>
): ReadonlyArray<Drawing> | undefined => {
  const { baseline, size } = left
  const isIn = ({ x0, x1, y0, y1 }: Box): boolean =>
    x0 > left.box.x1 - BESIDE * size &&
    x1 < right.box.x0 + BESIDE * size &&
    y1 - y0 < THICK * size &&
    Math.abs(y1 - baseline) < OFF * size &&
    x1 - x0 > LENGTH.least * size &&
    x1 - x0 < LENGTH.most * size
  const found = rules.filter(({ box }) => isIn(box)).sort((a, b) => a.box.x0 - b.box.x0)
  if (found.length === 0 || found.length > MOST_IN_ROW) return undefined
  const ends = [left.box.x1, ...found.map(({ box }) => box.x1)]
  const begins = [...found.map(({ box }) => box.x0), right.box.x0]
  return begins.every((x, at) => Math.abs(x - (ends[at] ?? x)) < BESIDE * size) ? found : undefined
}

/** Appends underscores to a run. */
const continued = (run: TextRun, rules: ReadonlyArray<Drawing>): TextRun => {
  const text = run.text.trimEnd()
  const end = rules.at(-1)?.box.x1 ?? run.box.x1
  return {
    ...run,
    text: text + "_".repeat(rules.length),
    edges:
      run.edges.length === 0
        ? []
        : [...run.edges.slice(0, text.length), ...rules.map(({ box }) => box.x0), end],
    box: { ...run.box, x1: end }
  }
}

/** Writes the underscores that are drawn between the letters of a line; their rules are no drawings any more. */
export const withUnderscores = (page: PageContent): PageContent => {
  const short = page.drawings.filter(isShort)
  if (short.length === 0 || short.length > MOST) return page
  const byRow = Map.groupBy(short, ({ box }) => Math.round(box.y1))
  const used = new Set<Drawing>()
  const runs = page.runs.map((run, at) => {
    const next = page.runs[at + 1]
    if (next === undefined || run.angle !== 0 || next.angle !== 0) return run
    const gap = next.box.x0 - run.box.x1
    if (Math.abs(next.baseline - run.baseline) > OFF * run.size || gap < LENGTH.least * run.size) return run
    const row = Math.round(run.baseline)
    const rules = filling(
      run,
      next,
      [row - 1, row, row + 1].flatMap((one) => byRow.get(one) ?? [])
    )
    if (rules === undefined) return run
    for (const rule of rules) used.add(rule)
    return continued(run, rules)
  })
  return used.size === 0
    ? page
    : { ...page, runs, drawings: page.drawings.filter((drawing) => !used.has(drawing)) }
}
