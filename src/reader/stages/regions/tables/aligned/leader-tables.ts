import { acrossOf, hull, middleX } from "../../../../model/geometry.ts"
import { append, greatest, least } from "../../../../model/lists.ts"
import type { Box } from "../../../../model/page-content.ts"
import { type InlineContext } from "../../../lines/inline.ts"
import { type Line, linesOf } from "../../../lines/line.ts"
import { partOf, type Piece, type Segment, segmentText } from "../../../lines/segment.ts"
import {
  type Column,
  columnsOf,
  columnsUnder,
  filled,
  NUMERIC,
  overlaps,
  type RawCell
} from "../cells/table-cells.ts"
import { centredOver } from "./aligned-rows.ts"

/** A table in which dots lead from names to figures. */
interface LeaderTable extends Box {
  readonly rows: ReadonlyArray<ReadonlyArray<RawCell>>
  readonly headRows: number
  readonly segments: ReadonlyArray<Segment>
}

/** Fewest dots that lead from a name to its figures. */
const FEWEST_DOTS = 4
/** Fewest rows with leaders, columns of figures, and figures in each: a list of contents has one column. */
const FEWEST_ROWS = 3
const FEWEST_COLUMNS = 2
const FEWEST_FIGURES = 2
/** Widest step between lines, in font sizes, and the longest name of a group or a column. */
const STEP = 3
const LONGEST = 60
/** Most lines of a head. */
const MOST_HEADS = 4

const isDot = (sign: string | undefined): boolean => sign === "." || sign === "…" || sign === "·"

/** How long a text is without the leaders at its end; undefined where it has none. */
const beforeLeaders = (text: string): number | undefined => {
  let [at, dots] = [text.length, 0]
  for (; at > 0 && (isDot(text[at - 1]) || text[at - 1] === " "); at -= 1)
    if (isDot(text[at - 1])) dots += text[at - 1] === "…" ? FEWEST_DOTS : 1
  return dots >= FEWEST_DOTS ? at : undefined
}

/** A missing value: a dash, or dots. */
const MISSING = /^(?:[-–—*]|\.{1,3}|n\/a)$/i

const isValue = (segment: Segment): boolean => {
  const text = segmentText(segment).trim()
  return NUMERIC.test(text) || MISSING.test(text)
}

/** A row: its name without leaders, and its figures. */
interface LedRow {
  readonly line: Line
  readonly name: Segment
  readonly values: ReadonlyArray<Segment>
}

/** The first pieces of a segment, without the leaders that end it. */
const withoutLeaders = (segment: Segment): Segment | undefined => {
  const pieces: Array<Piece> = [...segment.pieces]
  let isLed = false
  for (let last = pieces.at(-1); last !== undefined; last = pieces.at(-1)) {
    const end = beforeLeaders(last.text)
    if (end === undefined && !(isLed && last.text.trim() === "")) break
    isLed = true
    pieces.pop()
    const text = last.text.slice(0, end).trimEnd()
    if (text === "") continue
    pieces.push({ ...last, text, x1: last.x0 + ((last.x1 - last.x0) * text.length) / last.text.length })
    break
  }
  return isLed ? partOf(segment, pieces) : undefined
}

const ledRow = (line: Line): LedRow | undefined => {
  const at = line.segments.findIndex((one) => beforeLeaders(segmentText(one)) !== undefined)
  const led = line.segments[at]
  const name = led === undefined ? undefined : withoutLeaders(led)
  const values = line.segments.slice(at + 1)
  if (name === undefined || values.length === 0 || !values.every(isValue)) return undefined
  const before = line.segments.slice(0, at)
  const words = [...before, ...(name.pieces.length > 0 ? [name] : [])]
  const [first] = words
  if (first === undefined) return undefined
  return {
    line,
    name: partOf(
      first,
      words.flatMap(({ pieces }) => pieces)
    ),
    values
  }
}

const isShort = ({ text }: Line): boolean => text.trim().length <= LONGEST

const isNear = (above: Line, below: Line): boolean =>
  below.baseline - above.baseline < STEP * Math.max(above.size, below.size)

/** Whether a line names a group of rows: one stretch of words that begins at the names. */
const isGroup = (line: Line, edge: number): boolean =>
  line.segments.length === 1 && isShort(line) && line.x0 < edge && !line.segments.some(isValue)

/** The cells of a head's line: each piece over its column, or over several. */
const headCells = (line: Line, columns: ReadonlyArray<Column>): ReadonlyArray<RawCell> => {
  const nearest = (piece: Column): number => {
    const { from, over } = columnsUnder(piece, columns)
    if (over.length > 0) return from
    const away = columns.map((column) => Math.abs(middleX(column) - middleX(piece)))
    return away.indexOf(least(away))
  }
  const parts = line.segments.flatMap((segment) =>
    [...Map.groupBy(segment.pieces, nearest)].map(([at, pieces]) => ({ at, part: partOf(segment, pieces) }))
  )
  const placed = parts
    .map(({ at, part }) => {
      const { over } = columnsUnder(part, columns)
      const others = parts.flatMap((one) => (one.part === part ? [] : [one.part]))
      const span =
        at > 0 && over.length < 2
          ? centredOver(part, at, columns, line.size, others)
          : { from: at, to: over.at(-1) ?? at }
      return { segments: [part], ...span }
    })
    .sort((a, b) => a.from - b.from)
  return filled(placed, columns.length)
}

/** The lines above a table's rows that name its columns, from above. */
const headsOf = (
  lines: ReadonlyArray<Line>,
  from: number,
  columns: ReadonlyArray<Column>
): ReadonlyArray<Line> => {
  const heads: Array<Line> = []
  const [names, first] = columns
  for (let at = from - 1; at >= 0 && heads.length < MOST_HEADS; at--) {
    const [line, below] = [lines[at], lines[at + 1]]
    if (line === undefined || below === undefined || names === undefined || first === undefined) break
    const over = line.segments.flatMap(({ pieces }) => pieces).filter((piece) => piece.x1 > names.x1)
    if (!isNear(line, below) || !isShort(line) || over.length < FEWEST_COLUMNS) break
    heads.unshift(line)
  }
  return heads
}

const cellsOf = (row: LedRow, columns: ReadonlyArray<Column>): ReadonlyArray<RawCell> =>
  filled(
    [
      { segments: [row.name], from: 0, to: 0 },
      ...row.values
        .map((value) => {
          const at = columns.findIndex((column, place) => place > 0 && overlaps(column, value))
          return { segments: [value], from: at, to: at }
        })
        .filter(({ from }) => from > 0)
    ],
    columns.length
  )

/** The table of lines from one to another, which begin and end with led rows or the names of groups. */
const tableIn = (
  lines: ReadonlyArray<Line>,
  led: ReadonlyMap<Line, LedRow>,
  from: number,
  to: number
): LeaderTable | undefined => {
  const rows = lines.slice(from, to).flatMap((line) => led.get(line) ?? [])
  const figures = columnsOf(rows.flatMap(({ values }) => values))
  const edge = figures[0]?.x0 ?? 0
  const counts = figures.map(
    (column) => rows.filter(({ values }) => values.some((one) => overlaps(column, one))).length
  )
  if (rows.length < FEWEST_ROWS || figures.length < FEWEST_COLUMNS || least(counts) < FEWEST_FIGURES)
    return undefined
  const columns = [
    { x0: least(rows.map(({ name }) => name.x0)), x1: greatest(rows.map(({ name }) => name.x1)) },
    ...figures
  ]
  const isName = (line: Line | undefined): line is Line => line !== undefined && isGroup(line, edge)
  const above = lines[from - 1]
  const [top] = lines.slice(from)
  const begins =
    isName(above) && top !== undefined && isNear(above, top) && above.size <= top.size ? from - 1 : from
  const heads = headsOf(lines, begins, columns)
  // The names of single columns are wider than their figures: what spans several is centred over those.
  const lowest = heads.at(-1)?.segments.flatMap(({ pieces }) => pieces) ?? []
  const wide = columns.map((column, at) =>
    at === 0 ? column : acrossOf([column, ...lowest.filter((piece) => overlaps(piece, column))])
  )
  const body = lines.slice(begins, to).map((line) => {
    const row = led.get(line)
    return row === undefined
      ? [{ segments: line.segments, colSpan: columns.length, rowSpan: 1 }]
      : cellsOf(row, columns)
  })
  const all = [...heads, ...lines.slice(begins, to)]
  return {
    rows: [...heads.map((line) => headCells(line, wide)), ...body],
    headRows: heads.length,
    segments: all.flatMap(({ segments }) => segments),
    ...hull(all.flatMap(({ segments }) => segments))
  }
}

/**
 * Tables of figures in which dots lead from each name to its figures, in two columns or more. Their lines would else be entries of a
 * list, and an empty cell would be lost.
 */
export const leaderTables = (
  segments: ReadonlyArray<Segment>,
  { fonts }: InlineContext
): ReadonlyArray<LeaderTable> => {
  const dotted = segments.filter((one) => beforeLeaders(segmentText(one)) !== undefined)
  if (dotted.length < FEWEST_ROWS) return []
  const lines = linesOf(segments, fonts)
  const led = new Map(
    lines.flatMap((line) =>
      [ledRow(line)].flatMap((row) => (row === undefined ? [] : [[line, row] as const]))
    )
  )
  const tables: Array<LeaderTable> = []
  for (let at = 0; at < lines.length; at++) {
    const first = lines[at]
    if (first === undefined || !led.has(first)) continue
    let to = at + 1
    for (let next = to; next < lines.length; next++) {
      const [above, line, below] = [lines[next - 1], lines[next], lines[next + 1]]
      if (above === undefined || line === undefined || !isNear(above, line)) break
      if (led.has(line)) to = next + 1
      else if (below === undefined || !led.has(below) || !isGroup(line, first.x1)) break
    }
    append(
      tables,
      [tableIn(lines, led, at, to)].flatMap((one) => one ?? [])
    )
    at = to - 1
  }
  return tables
}
