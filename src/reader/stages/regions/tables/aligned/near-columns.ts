import { crosses } from "../../../../model/geometry.ts"
import { isBoldLine, type Line, ROW_STEP } from "../../../lines/line.ts"
import { markerOf } from "../../../lines/markers.ts"
import { SENTENCE_END } from "../../../lines/paragraphs.ts"
import { type Piece, segmentText, charactersOf, piecesOf, gapsIn } from "../../../lines/segment.ts"
import type { Column, Row } from "../cells/table-cells.ts"

/** A position on a line where something begins after white space. */
interface Start {
  readonly x: number
  /** White space before it, in font sizes. */
  readonly gap: number
}

/** Lines on which something begins at one place, below one another. */
interface Edge {
  x: number
  from: number
  last: number
  /** Lines that have words on both sides of it. */
  count: number
  widest: number
}

/** White space that may separate cells, in font sizes: as little as a word's. */
const LEAST_GAP = 0.2
/** Gap that is wider than a space, in font sizes: at least one row has it. */
const WIDE_GAP = 0.55
/** Beginnings this near are below one another, points. */
const SAME_X = 1
/** White between the names of columns, in font sizes. */
const NAMES_APART = 1.1
/** Rows that make a column; one of them may be the columns' names. */
const ROWS = 3
/** Lines without the column that a row may have between: the rest of a wrapped cell. */
const BETWEEN = 10
/**
 * Least share of word beginnings on those lines that are at columns; text with words that are drawn one by one has
 * fewer.
 */
const AT_COLUMNS = 0.4
/** Limit on such places per page. Above it, they are not columns. */
const MAX_OPEN = 60

const NO_STARTS: ReadonlyArray<Start> = []

const startsOf = ({ size }: Line, pieces: ReadonlyArray<Piece>): ReadonlyArray<Start> => {
  if (pieces.length < 2) return NO_STARTS
  const starts: Array<Start> = []
  // A note's mark precedes its words.
  const noted = pieces[0]?.raise !== undefined
  let end = pieces[0]?.x1 ?? 0
  for (const [at, { raise, x0, x1 }] of pieces.entries()) {
    if (at > 0 && raise === undefined && x0 - end > LEAST_GAP * size) {
      const before = at === 1 ? (pieces[0]?.text ?? "").trim() : ""
      // The words of a list's items are below one another, too.
      if (at > 1 || (!noted && (markerOf(`${before} `)?.length ?? 0) < before.length))
        starts.push({ x: x0, gap: (x0 - end) / size })
    }
    end = Math.max(end, x1)
  }
  return starts
}

const isOver = (pieces: ReadonlyArray<Piece>, x: number): boolean =>
  pieces.some((piece) => crosses(piece, x, SAME_X))

/** Whether a line has words on both sides of a position, and none over it. */
const straddles = (pieces: ReadonlyArray<Piece>, x: number): boolean =>
  !isOver(pieces, x) && pieces.some(({ x1 }) => x1 <= x + SAME_X) && pieces.some(({ x0 }) => x0 >= x - SAME_X)

/** Whether the white space between two lines is wider than between rows. */
const areApart = (above: Line, line: Line): boolean => line.baseline - above.baseline > ROW_STEP * line.size

/** A line, its cells, and the places where words begin. */
interface Look {
  readonly line: Line
  readonly pieces: ReadonlyArray<Piece>
  readonly starts: ReadonlyArray<Start>
}

/**
 * True when column names are above: a bold line with a gap as wide as between columns, and words on both sides of the
 * place.
 */
const isNamed = (looks: ReadonlyArray<Look>, { from, x }: Edge): boolean => {
  const [head, first] = [looks[from - 1], looks[from]]
  return (
    head !== undefined &&
    first !== undefined &&
    isBoldLine(head.line) &&
    !isBoldLine(first.line) &&
    !areApart(head.line, first.line) &&
    head.line.segments.length > 1 &&
    gapsIn(head.line.segments).every((gap) => gap > NAMES_APART * head.line.size) &&
    straddles(head.pieces, x)
  )
}

/** Words that begin below one another on several lines, with nothing written over that place in between. */
const edgesOf = (looks: ReadonlyArray<Look>): ReadonlyArray<Edge> => {
  const edges: Array<Edge> = []
  let open: Array<Edge> = []
  const close = (edge: Edge) => {
    const named = edge.count >= ROWS - 1 && isNamed(looks, edge)
    if (named || (edge.count >= ROWS && edge.widest >= WIDE_GAP)) edges.push(edge)
  }
  for (const [at, { line, pieces, starts }] of looks.entries()) {
    const above = looks[at - 1]?.line
    const apart = above !== undefined && areApart(above, line)
    if (open.length > 0)
      open = open.filter((edge) => {
        if (!apart && at - edge.last <= BETWEEN && !isOver(pieces, edge.x)) return true
        close(edge)
        return false
      })
    for (const { gap, x } of starts) {
      const edge = open.find((one) => Math.abs(one.x - x) <= SAME_X)
      if (edge === undefined) {
        if (open.length < MAX_OPEN) open.push({ x, from: at, last: at, count: 1, widest: gap })
      } else {
        edge.count += edge.last === at ? 0 : 1
        edge.last = at
        edge.widest = Math.max(edge.widest, gap)
      }
    }
  }
  open.forEach(close)
  return edges
}

/** The first line of a column: names of columns are set in the middle, so that they begin elsewhere. */
const headOf = (looks: ReadonlyArray<Look>, edge: Edge): number => {
  let from = edge.from
  while (from > 0 && edge.from - from < 2) {
    const [above, look] = [looks[from - 1], looks[from]]
    if (above === undefined || look === undefined || !straddles(above.pieces, edge.x)) break
    if (areApart(above.line, look.line)) break
    from -= 1
  }
  return from
}

/**
 * Where columns begin on each line that are nearer than white space shows: as near as words, as browsers set tables without
 * borders. Linear in the lines, times the columns that are open at once.
 */
export const nearColumns = (lines: ReadonlyArray<Line>): ReadonlyArray<ReadonlyArray<number>> => {
  const looks = lines.map((line): Look => {
    const pieces = piecesOf(line.segments)
    return { line, pieces, starts: startsOf(line, pieces) }
  })
  if (looks.filter(({ starts }) => starts.length > 0).length < ROWS - 1) return []
  const edges = edgesOf(looks)
  if (edges.length === 0) return []
  const atColumns = looks.map(
    ({ starts }, at) =>
      starts.filter(({ x }) =>
        edges.some((edge) => edge.from <= at && at <= edge.last && Math.abs(edge.x - x) <= SAME_X)
      ).length
  )
  const columns = lines.map((): Array<number> => [])
  for (const edge of edges) {
    let [matched, all] = [0, 0]
    for (let at = edge.from; at <= edge.last; at++) {
      matched += atColumns[at] ?? 0
      all += looks[at]?.starts.length ?? 0
    }
    if (matched < AT_COLUMNS * all) continue
    for (let at = headOf(looks, edge); at <= edge.last; at++) columns[at]?.push(edge.x)
  }
  for (const xs of columns) xs.sort((a, b) => a - b)
  return columns
}

/** Share of a column's width that a line fills which continues in the next. */
const FULL = 0.9
const MIN_LETTERS = 45

/**
 * True when lines continue below one another in a column though there are words at the side of each: text next to text,
 * or labels in a margin. Wrapped cells leave their neighbours' lines empty.
 */
export const flowsOn = (rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column>): boolean => {
  let pairs = 0
  let flowing = 0
  for (const [at, row] of rows.entries()) {
    const below = rows[at + 1]
    if (below === undefined || row.cells.length < columns.length || below.cells.length < columns.length)
      continue
    pairs += 1
    const flows = row.cells.some((cell, index) => {
      const [box, column, last] = [row.bounds[index], columns[index], cell.at(-1)]
      if (box === undefined || column === undefined || last === undefined) return false
      const filled = box.x1 - column.x0 > FULL * (column.x1 - column.x0)
      const next = below.cells[index]?.[0]
      return (
        charactersOf(cell) > MIN_LETTERS &&
        filled &&
        next !== undefined &&
        /^\p{Ll}/u.test(segmentText(next)) &&
        !SENTENCE_END.test(segmentText(last).trim())
      )
    })
    if (flows) flowing += 1
  }
  return flowing > 0.4 * pairs
}
