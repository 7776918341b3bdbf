import { middleX } from "../../../../model/geometry.ts"
import { append, greatest, least } from "../../../../model/lists.ts"
import type { InlineContext } from "../../../lines/inline.ts"
import { type Line, linesOf } from "../../../lines/line.ts"
import { cutAt, type Piece, type Segment, piecesOf } from "../../../lines/segment.ts"
import { hasEdges } from "../../../runs/run-edges.ts"
import { NUMERIC } from "./table-cells.ts"
import { OVERLAPPING } from "./table-extent.ts"

/** Least width of a gap that goes down between all rows of a table and separates columns, in font sizes. */
const LEAST = 0.2
/** Fewest rows, and how many of them have words on both sides of it. */
const ROWS = 3
const BOTH = 2
/** White that is wider than words are apart, those of code, too, in font sizes: one row at least has it, unlike those that begin with one word each. */
const WIDE = 0.65
/** By how much the beginnings of cells differ that are set to the right, in font sizes. */
const RAGGED = 0.3
/** Distance of a row's words in the neighbouring columns from which on they do not count, in font sizes. */
const FAR = 1.5
/** Greatest distance from the gap to a word next to it, in points. */
const NEAR = 0.7
/** Signs that have white on both sides within a formula. */
const OPERATOR = /^[=<>≤≥≈∼±×·+−∈→]$/u
/** Greatest share of the rows that may span the gap: a note, a group's name. */
const OVER = 0.12

/** Part of the lines with wide white between words, from which on the others at the left are names of groups. */
const CELLS = 0.6

/** From where to where something reaches. */
interface Strip {
  readonly x0: number
  readonly x1: number
}

interface Word extends Strip {
  readonly text: string
  readonly size: number
}

/** Whether the places of a piece's letters are known. */
const hasPlaces = ({ run, text }: Piece): boolean => run.text === text && hasEdges(run)

/** The words of a piece at their places; the piece as one where they are not known. */
const wordsOf = (piece: Piece): ReadonlyArray<Word> =>
  hasPlaces(piece)
    ? [...piece.text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
        text: word,
        x0: piece.run.edges[index] ?? piece.x0,
        x1: piece.run.edges[index + word.length] ?? piece.x1,
        size: piece.run.size
      }))
    : [{ ...piece, size: piece.run.size }]

/** The words of pieces at their places. */
export const wordsIn = (pieces: ReadonlyArray<Piece>): ReadonlyArray<Word> => pieces.flatMap(wordsOf)

/** A piece, cut where a column begins between two of its words. */
const cutPiece = (piece: Piece, starts: ReadonlyArray<number>): ReadonlyArray<Piece> => {
  const { run, text, x0, x1 } = piece
  if (!hasPlaces(piece) || !starts.some((x) => x > x0 && x < x1)) return [piece]
  const parts: Array<Piece> = []
  let from = 0
  for (const { index, 0: space } of text.matchAll(/\s+/g)) {
    const [left = x0, right = x1] = [run.edges[index], run.edges[index + space.length]]
    if (index === 0 || !starts.some((x) => x > left - 0.5 && x < right + 0.5)) continue
    parts.push({ ...piece, text: text.slice(from, index), x0: run.edges[from] ?? x0, x1: left })
    from = index + space.length
  }
  return [...parts, { ...piece, text: text.slice(from), x0: run.edges[from] ?? x0 }]
}

/** A segment, cut between the words around each of some places. */
const cutBetweenWords = (segment: Segment, places: ReadonlyArray<number>): ReadonlyArray<Segment> =>
  cutAt({ ...segment, pieces: segment.pieces.flatMap((piece) => cutPiece(piece, places)) }, places)

/** The words of a row on the two sides of a place. */
const besideOf = (words: ReadonlyArray<Word>, x: number) => {
  let [left, right]: [Word | undefined, Word | undefined] = [undefined, undefined]
  for (const word of words) {
    if (word.x1 < x && word.x1 > (left?.x1 ?? -Infinity)) left = word
    if (word.x0 > x && word.x0 < (right?.x0 ?? Infinity)) right = word
  }
  return left === undefined || right === undefined ? [] : [{ left, right }]
}

/** Whether two words are further apart than words are. */
const areApart = (left: Word, right: Word): boolean =>
  right.x0 - left.x1 > WIDE * Math.max(left.size, right.size)

/** True when a gap belongs to an operator within a formula: it is next to one, and no wider than a space. */
const isAtOperator = (words: ReadonlyArray<Word>, strip: Strip): boolean =>
  besideOf(words, middleX(strip)).some(
    ({ left, right }) => !areApart(left, right) && (OPERATOR.test(left.text) || OPERATOR.test(right.text))
  )

/** True when a gap is within brackets, or a space before one: a value and its range are one cell. */
const isInBrackets = (words: ReadonlyArray<Word>, strip: Strip): boolean => {
  const middle = middleX(strip)
  let open = 0
  for (const { text, x0: begin } of words)
    if (begin < middle) for (const sign of text) open += sign === "(" ? 1 : sign === ")" ? -1 : 0
  const [beside] = besideOf(words, middle)
  return open > 0 || (beside?.right.text.startsWith("(") === true && !areApart(beside.left, beside.right))
}

/**
 * True when a gap is a column's, and not a space after each row's first word: somewhere it is wider than spaces, or is
 * between two numbers, or the words to its right begin at different places. Rows with words far from it do not count.
 */
const isColumns = (rows: ReadonlyArray<ReadonlyArray<Word>>, strip: Strip, size: number): boolean => {
  const beside = rows.flatMap((words) => besideOf(words, middleX(strip)))
  const ending = beside.filter(({ left }) => strip.x0 - left.x1 < NEAR)
  const begins = ending.map(({ left }) => left.x0)
  const near = beside.filter(({ left, right }) => {
    const [before, after] = [strip.x0 - left.x1, right.x0 - strip.x1]
    return Math.min(before, after) < NEAR || Math.max(before, after) < FAR * size
  })
  const values = near.filter(({ left, right }) => NUMERIC.test(left.text) && NUMERIC.test(right.text))
  return (
    greatest(begins) - least(begins) > RAGGED * size ||
    values.length > 0 ||
    near.some(({ left, right }) => areApart(left, right))
  )
}

/** White that goes down between words on nearly all of these rows. */
const stripsOf = (rows: ReadonlyArray<ReadonlyArray<Word>>, size: number): ReadonlyArray<Strip> => {
  const most = Math.floor(OVER * rows.length)
  const events = rows
    .flatMap((words) =>
      words.flatMap(({ x0, x1 }) => [
        { x: x0, by: 1 },
        { x: x1, by: -1 }
      ])
    )
    .sort((a, b) => a.x - b.x || b.by - a.by)
  const found: Array<Strip> = []
  let depth = 0
  let open: number | undefined
  for (const { by, x } of events) {
    if (open !== undefined && depth <= most && depth + by > most && x - open > LEAST * size) {
      const strip = { x0: open, x1: x }
      const middle = (open + x) / 2
      const both = rows.filter(
        (words) => words.some(({ x1 }) => x1 < middle) && words.some(({ x0 }) => x0 > middle)
      )
      const free = rows.filter((words) => !words.some(({ x0, x1 }) => x0 < middle && x1 > middle))
      const within = both.filter((words) => isAtOperator(words, strip) || isInBrackets(words, strip))
      if (
        both.length >= BOTH &&
        isColumns(both, strip, size) &&
        free.length >= rows.length - most &&
        within.length < 0.5 * both.length
      )
        found.push(strip)
    }
    depth += by
    if (depth <= most && depth - by > most) open = x
  }
  return found
}

/**
 * Where a line of the head is cut: each column has its name, but for the first ones of several. Undefined where one has none, as
 * names of several columns may have their white anywhere.
 */
const headStarts = (
  words: ReadonlyArray<Word>,
  strips: ReadonlyArray<Strip>
): ReadonlyArray<number> | undefined => {
  const sorted = [...words].sort((a, b) => a.x0 - b.x0)
  const begin = sorted[0]?.x0 ?? Infinity
  const inside = strips.filter(({ x1 }) => x1 > begin)
  if (inside.length < Math.min(strips.length, 2)) return undefined
  const starts = inside.map((strip) => {
    let [best, most]: [number | undefined, number] = [undefined, 0]
    for (const [at, { x0 }] of sorted.entries()) {
      const end = sorted[at - 1]?.x1
      if (end === undefined) continue
      const over = Math.min(x0, strip.x1) - Math.max(end, strip.x0)
      if (over > most) [best, most] = [(Math.max(end, strip.x0) + Math.min(x0, strip.x1)) / 2, over]
    }
    return best
  })
  const known = starts.flatMap((x) => (x === undefined ? [] : [x]))
  return known.length === inside.length ? known : undefined
}

/** A line and its words, or lines next to one another; `several`: they may be more than one cell. */
interface Beside {
  readonly line: Line
  readonly words: ReadonlyArray<Word>
  readonly several: boolean
}

/** Joins lines that are too near to be rows with those above: a cell that rows share is vertically centred on them. */
const sideBySide = (
  lines: ReadonlyArray<{ readonly line: Line; readonly words: ReadonlyArray<Word> }>
): ReadonlyArray<Beside> => {
  const rows: Array<Beside & { readonly words: Array<Word> }> = []
  let above = -Infinity
  for (const { line, words } of lines) {
    const last = rows.at(-1)
    if (last === undefined || line.baseline - above >= OVERLAPPING * line.size)
      rows.push({ line, words: [...words], several: line.segments.length > 1 })
    else {
      append(last.words, words)
      rows[rows.length - 1] = { ...last, several: true }
    }
    above = line.baseline
  }
  return rows
}

/** The places at which lines are cut into columns that are as near as words; column names are above `head`. */
const placesIn = (all: ReadonlyArray<Line>, head: number): ReadonlyMap<Line, ReadonlyArray<number>> => {
  const lines = all.map((line) => ({ line, words: wordsIn(piecesOf(line.segments)) }))
  const body = lines.filter(({ line }) => line.baseline > head)
  const size = least(body.map(({ line }) => line.size))
  // A group's name is alone at the left, over some columns.
  const left = least(body.map(({ line }) => line.x0))
  const beside = sideBySide(body)
  const rows = beside.filter(({ line, several }) => several || line.x0 > left + 1)
  const cells = rows.length >= CELLS * beside.length ? rows : beside
  const strips =
    body.length < ROWS
      ? []
      : stripsOf(
          cells.map(({ words }) => words),
          size
        )
  const starts = new Map<Line, ReadonlyArray<number>>()
  if (strips.length === 0) return starts
  const middles = strips.map(middleX)
  for (const { line, words } of lines) {
    const isOver = words.some(({ x0, x1 }) => middles.some((x) => x0 < x && x1 > x))
    // Words across columns belong to a line that is not a row of cells.
    const places = line.baseline <= head ? headStarts(words, strips) : isOver ? undefined : middles
    if (places !== undefined) starts.set(line, places)
  }
  return starts
}

/** Segments between rules, cut into columns that are as near as words; column names are above `head`. */
export const cutInColumns = (
  segments: ReadonlyArray<Segment>,
  head: number,
  { fonts }: InlineContext
): ReadonlyArray<Segment> => {
  const starts = new Map<Segment, ReadonlyArray<number>>()
  for (const [line, places] of placesIn(linesOf(segments, fonts), head))
    for (const segment of line.segments) starts.set(segment, places)
  // The order of drawing is kept: it also separates cells.
  return segments.flatMap((segment) => cutBetweenWords(segment, starts.get(segment) ?? []))
}

/** Where cells are cut between words, each part in order; a part may be of several segments. */
export const partsBetween = (
  cell: ReadonlyArray<Segment>,
  places: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<Segment>> => {
  if (places.length === 0) return [cell]
  const pieces = cell.flatMap((segment) => cutBetweenWords(segment, places))
  return [-Infinity, ...places].flatMap((from, at) => {
    const to = places[at] ?? Infinity
    const part = pieces.filter(({ x0 }) => x0 >= from && x0 < to)
    return part.length === 0 ? [] : [part]
  })
}
