import { acrossOf, middleX } from "../../../../model/geometry.ts"
import type { FontFace } from "../../../../model/page-content.ts"
import { lineNumber, SAME_LINE } from "../../../lines/line.ts"
import { leadsToPages } from "../../../lines/markers.ts"
import { isBold, isTypewriter, segmentText, piecesOf, charactersOf } from "../../../lines/segment.ts"
import { isMathFace } from "../../formulas/mathematical.ts"
import { areDealtOut, areJustified } from "../cells/justified-rows.ts"
import {
  areEquations,
  areListedOn,
  areMarkers,
  type Column,
  columnsOf,
  NUMERIC,
  overlaps,
  usualCount,
  areProse,
  wordsOf
} from "../cells/table-cells.ts"
import { type Drawn, type DrawnRow, FIRST_STEP, LINE_STEP } from "./drawn-rows.ts"

/** How far edges of one column's cells may differ, points. */
export const ALIGNED = 1.5
/** Least share of a column's cells that are aligned. */
const MOSTLY = 0.7
/** More columns are a drawing's. */
const MAX_COLUMNS = 40
/** Least share of rows that fill all columns of a table without column names. */
const FULL = 0.15
/** Part of mathematics from which on rows are lines of formulas, and part of code from which on they are a listing. */
const FORMULAS = 0.15
const LISTING = 0.9

const textOf = ({ segments }: Drawn): string => wordsOf(segments)

/** Words that may precede the title of a section. */
const SECTION = /^(?:\d{1,2}|[A-Z]|[IVXLC]{1,5})?(?:\.\d{1,2}){0,4}\.?$/

/** Signs that occur in numbers and in text. */
const NEUTRAL = /[\s−±×·<>∗*†‡()]/gu

/** Part of the letters of cells that are set in faces of a kind. */
export const share = (
  cells: ReadonlyArray<Drawn>,
  fonts: ReadonlyArray<FontFace>,
  is: (face: FontFace | undefined) => boolean
): number => {
  let [found, all] = [0, 0]
  for (const { run, text } of cells.flatMap(({ segments }) => piecesOf(segments))) {
    const letters = text.replaceAll(NEUTRAL, "").length
    all += letters
    if (is(fonts[run.font])) found += letters
  }
  return found / Math.max(1, all)
}

/** Whether most cells of each column begin, end or are centred below one another. */
const areAligned = (rows: ReadonlyArray<DrawnRow>, columns: ReadonlyArray<Column>): boolean => {
  const full = rows.filter(({ cells }) => cells.length === columns.length)
  return columns.every((column, at) => {
    // Without a row that fills all columns, each cell within one of them counts.
    const cells =
      full.length > 0
        ? full.map((row) => row.cells[at])
        : rows.flatMap((row) => row.cells.filter((cell) => overlaps(column, cell)))
    // Numbers may be aligned at their decimal points.
    const numbers = cells.filter((cell) => cell !== undefined && NUMERIC.test(textOf(cell))).length
    if (numbers >= MOSTLY * (cells.length - 1) && numbers > 1) return true
    return [(cell: Drawn) => cell.x0, (cell: Drawn) => cell.x1, (cell: Drawn) => middleX(cell)].some(
      (edge) => {
        const places = cells.flatMap((cell) => (cell === undefined ? [] : [edge(cell)])).sort((a, b) => a - b)
        let most = 0
        for (let from = 0, to = 0; to < places.length; to++) {
          while ((places[to] ?? 0) - (places[from] ?? 0) > ALIGNED) from += 1
          most = Math.max(most, to - from + 1)
        }
        // The names of columns are often centred above cells that are not.
        return most >= MOSTLY * (cells.length - 1)
      }
    )
  })
}

/** Lines of prose that are drawn across two columns fill both. */
const isProse = (cells: ReadonlyArray<Drawn>, columns: ReadonlyArray<Column>): boolean =>
  areProse(
    cells.map(({ first, last, segments, x0, x1 }) => ({
      x0,
      x1,
      characters: first === last ? charactersOf(segments) : 0
    })),
    columns
  )

/** Whether a row is the heading of a section: a number, and white before its words. */
export const isSection = ({ cells }: DrawnRow): boolean => {
  const [number, title] = cells
  return cells.length === 2 && number !== undefined && title !== undefined && SECTION.test(textOf(number))
}

/** What shows that rows of two cells are a table's: bold names of columns, or cells set in the middle of their row. */
export const hasNames = ([head, ...rest]: ReadonlyArray<DrawnRow>, fonts: ReadonlyArray<FontFace>): boolean =>
  head !== undefined &&
  !isSection(head) &&
  share(head.cells, fonts, isBold) === 1 &&
  share(
    rest.flatMap(({ cells }) => cells),
    fonts,
    isBold
  ) < 0.9

/** Least offset of a lowered cell below the first line of its neighbours, in font sizes. */
const LOWER = 0.4
/** Least number of rows with bottom-aligned first cells. */
const FEWEST_LOWER = 2
/** Least number of rows with wrapped cells side by side: a drawing has fewer. */
const FEWEST_WRAPPED = 3

/**
 * True when cells of several lines are drawn one after the other though their lines are side by side, row after row:
 * text in columns is drawn column by column, and all else line by line.
 */
const wrapsInRows = (rows: ReadonlyArray<DrawnRow>): boolean =>
  rows.filter(
    ({ cells }) => cells.filter(({ first, last, size }) => last - first > SAME_LINE * size).length > 1
  ).length >= FEWEST_WRAPPED

/**
 * True when first cells are centred in their rows, or bottom-aligned in some: drawn first, they are lower than their
 * neighbours.
 */
const areLower = (rows: ReadonlyArray<DrawnRow>): boolean => {
  const lower = rows.filter(
    ({ cells: [first, second] }) =>
      first !== undefined && second !== undefined && first.first - second.first > LOWER * first.size
  )
  const isMiddle = ({ cells: [first, second] }: DrawnRow): boolean =>
    (second?.last ?? 0) - (first?.last ?? 0) > LOWER * (first?.size ?? 0)
  return lower.some(isMiddle) || lower.length >= FEWEST_LOWER
}

/**
 * The columns of rows, widened by the names in the middle of each; undefined where a name overlaps a neighbouring
 * column.
 */
const namedBelow = ([names, ...rows]: ReadonlyArray<DrawnRow>): ReadonlyArray<Column> | undefined => {
  const columns = columnsOf(rows.flatMap(({ cells }) => cells))
  const cells = names?.cells ?? []
  const apart = cells.every(
    ({ x0, x1 }, at) => x0 > (columns[at - 1]?.x1 ?? -Infinity) && x1 < (columns[at + 1]?.x0 ?? Infinity)
  )
  if (!apart) return undefined
  return Array.from({ length: Math.max(cells.length, columns.length) }, (_, at) =>
    acrossOf([columns[at] ?? [], cells[at] ?? []].flat())
  )
}

/** The columns of rows that make up a table; undefined where they do not. */
export const columnsIn = (
  rows: ReadonlyArray<DrawnRow>,
  fonts: ReadonlyArray<FontFace>
): ReadonlyArray<Column> | undefined => {
  const usual = usualCount(rows)
  const named = hasNames(rows, fonts)
  const most = named ? Math.max(usual, rows[0]?.cells.length ?? 0) : usual
  const full = rows.filter(({ cells }) => cells.length === most)
  const several = rows.filter(({ cells }) => cells.length > 1)
  const together = namedBelow(several) ?? columnsOf(several.flatMap(({ cells }) => cells))
  const columns = together.length >= most ? together : columnsOf(full.flatMap(({ cells }) => cells))
  if (columns.length < Math.max(2, most) || columns.length > MAX_COLUMNS || several.length < 2)
    return undefined
  if (
    !named &&
    !wrapsInRows(several) &&
    several.filter(({ cells }) => cells.length === columns.length).length < Math.max(2, FULL * several.length)
  )
    return undefined
  if (columns.length === 2 && (rows.length < 3 || (!named && !areLower(rows)))) return undefined
  return columns
}

/**
 * True when lines of first cells may as well be separate rows: at row distance, with no cells next to them except at
 * the last. Alignment is then better evidence than the drawing order.
 */
const isAmbiguous = (rows: ReadonlyArray<DrawnRow>): boolean =>
  rows.some(({ cells: [cell, ...others], top }, at) => {
    const above = rows[at - 1]
    if (above === undefined || cell === undefined || others.length === 0) return false
    const apart = top - above.bottom
    const lines = cell.last - cell.first
    return (
      lines > SAME_LINE * cell.size &&
      others.every(({ first }) => first > cell.last - SAME_LINE * cell.size) &&
      apart < FIRST_STEP * Math.min(lines, LINE_STEP * cell.size)
    )
  })

/** Whether some cell has several lines that are all numbers, none of them listed: those are never wrapped, so that its lines are rows. */
export const stacksNumbers = (cells: ReadonlyArray<Drawn>): boolean =>
  cells.some(
    ({ first, last, segments, size }) =>
      last - first > SAME_LINE * size &&
      segments.every(
        (segment) => NUMERIC.test(segmentText(segment)) && !/[,;–-]\s*$/.test(segmentText(segment))
      )
  )

/** Whether rows are code, their numbers aside. */
const isListing = (rows: ReadonlyArray<DrawnRow>, fonts: ReadonlyArray<FontFace>): boolean => {
  const code = rows.flatMap(({ cells }) =>
    lineNumber(cells.flatMap(({ segments }) => segments)) === undefined ? cells : cells.slice(1)
  )
  return share(code, fonts, isTypewriter) > LISTING
}

export const isTable = (
  rows: ReadonlyArray<DrawnRow>,
  columns: ReadonlyArray<Column>,
  fonts: ReadonlyArray<FontFace>
): boolean => {
  const cells = rows.flatMap(({ cells: of }) => of)
  if (!areAligned(rows, columns) || isProse(cells, columns) || isAmbiguous(rows)) return false
  if (stacksNumbers(cells)) return false
  const drawn = cells.flatMap((cell) => cell.segments)
  if (areJustified([...Map.groupBy(drawn, ({ baseline }) => Math.round(baseline)).values()])) return false
  if (areDealtOut(rows.map(({ cells: of }) => of.map(({ segments }) => segments)))) return false
  if (share(cells, fonts, isMathFace) > FORMULAS || isListing(rows, fonts)) return false
  if (areMarkers(rows.map(({ cells: [first] }) => first?.segments ?? []))) return false
  const last = rows.flatMap((row) => row.cells.slice(-1))
  if (areEquations(last.map(({ segments }) => segments))) return false
  if (areListedOn(rows.map(({ cells: of }) => of.map(({ segments }) => segments)))) return false
  return !rows.some(({ cells: of }) => leadsToPages(of.map(textOf)))
}
