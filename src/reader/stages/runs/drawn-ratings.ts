import { middleY } from "../../model/geometry.ts"
/** Ratings that are drawn as a row of equal shapes, of which the first are full: four dots of five behind a language. */
import { addTo } from "../../model/lists.ts"
import type { Drawing, PageContent, TextRun } from "../../model/page-content.ts"
import { isPath } from "./strokes.ts"

/** Sides of a shape, points, and their greatest difference, as a part of the longer one. */
const [LEAST, GREATEST] = [3, 14]
const ROUND = 0.25
/** Fewest and most shapes of a row, and the greatest difference of their sides and gaps, points. */
const [FEWEST, MOST] = [3, 10]
const ALIKE = 1.2
/** Greatest gap between two of them, in their widths. */
const GAP = 1.5
/** A page with more shapes is a drawing. */
const MOST_SHAPES = 400
/** Height of the slots in which rows are looked up, points. */
const SLOT = 2

type Path = Extract<Drawing, { readonly kind: "path" }>

const widthOf = ({ box }: Path): number => box.x1 - box.x0

const isShape = (path: Path): boolean => {
  const [width, height] = [widthOf(path), path.box.y1 - path.box.y0]
  const longest = Math.max(width, height)
  return (
    Math.min(width, height) >= LEAST && longest <= GREATEST && Math.abs(width - height) <= ROUND * longest
  )
}

/** Rows of equal shapes on one level, with equal gaps. */
const rowsOf = (shapes: ReadonlyArray<Path>): ReadonlyArray<ReadonlyArray<Path>> => {
  const levels = new Map<number, Array<Path>>()
  for (const shape of shapes) addTo(levels, Math.round(middleY(shape.box) / SLOT), shape)
  return [...levels.values()].flatMap((level) => {
    const rows: Array<Array<Path>> = []
    for (const shape of level.toSorted((a, b) => a.box.x0 - b.box.x0)) {
      const row = rows.at(-1)
      const [before, last] = [row?.at(-2), row?.at(-1)]
      const gap = last === undefined ? -1 : shape.box.x0 - last.box.x1
      const isEven =
        last === undefined || before === undefined || Math.abs(gap - (last.box.x0 - before.box.x1)) < ALIKE
      const isNext =
        last !== undefined &&
        gap > 0 &&
        gap <= GAP * widthOf(shape) &&
        Math.abs(widthOf(last) - widthOf(shape)) < ALIKE
      if (row !== undefined && isNext && isEven) row.push(shape)
      else rows.push([shape])
    }
    return rows.filter(({ length }) => length >= FEWEST && length <= MOST)
  })
}

/** The words that a row of shapes rates: those before it on its line. */
const ratedBy = ([first]: ReadonlyArray<Path>, runs: ReadonlyArray<TextRun>): TextRun | undefined => {
  if (first === undefined) return undefined
  const y = middleY(first.box)
  return runs
    .filter(
      ({ angle, box, text }) =>
        angle === 0 && box.y0 < y && box.y1 > y && box.x1 < first.box.x0 && /\p{L}/u.test(text)
    )
    .toSorted((a, b) => b.box.x1 - a.box.x1)[0]
}

/** How many shapes are as the first one is, filled and in its colour; undefined where a full one is behind an empty one. */
const fullOf = (row: ReadonlyArray<Path>): number | undefined => {
  const isFull = row.map(({ color, filled }) => filled && color === row[0]?.color)
  const full = isFull.filter(Boolean).length
  return full > 0 && isFull.slice(0, full).every(Boolean) ? full : undefined
}

/**
 * Adds a run for each such row, after the words that it rates, and takes its drawings out. It says "4/5": signs would be
 * read as bullets. Two rows are the fewest.
 */
export const withDrawnRatings = (page: PageContent): PageContent => {
  const shapes = page.drawings.filter(isPath).filter(isShape)
  if (shapes.length < FEWEST || shapes.length > MOST_SHAPES) return page
  const found = rowsOf(shapes).flatMap((row) => {
    const [words, full] = [ratedBy(row, page.runs), fullOf(row)]
    return words === undefined || full === undefined ? [] : [{ row, words, full }]
  })
  // All full, everywhere: an ornament.
  if (found.length < 2 || found.every(({ full, row }) => full === row.length)) return page
  const taken = new Set<Drawing>(found.flatMap(({ row }) => row))
  const behind = new Map(
    found.map(({ full, row, words }): [TextRun, TextRun] => {
      const [x0, x1] = [row[0]?.box.x0 ?? 0, row.at(-1)?.box.x1 ?? 0]
      const text = `${full}/${row.length}`
      const edges = Array.from({ length: text.length + 1 }, (_, at) => x0 + (at / text.length) * (x1 - x0))
      return [words, { ...words, text, box: { ...words.box, x0, x1 }, edges, hyphenated: false }]
    })
  )
  return {
    ...page,
    drawings: page.drawings.filter((one) => !taken.has(one)),
    runs: page.runs.flatMap((run) => [run, ...(behind.has(run) ? [behind.get(run) ?? run] : [])])
  }
}
