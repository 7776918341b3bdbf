import { isSureComment } from "../../../lines/comments.ts"
import { lineNumber } from "../../../lines/line.ts"
import { type Segment, charactersOf } from "../../../lines/segment.ts"
import { type RawCell, type Row, wordsOf } from "../cells/table-cells.ts"

/** Least monospaced share of the words behind a listing's line numbers. */
const LISTING = 0.75
/** Edges within this many points are one column's. */
const SAME_EDGE = 1.5

/** Whether rows are lines of a listing with small numbers before them, which are below one another and count on: most is code. */
export const areCounted = (rows: ReadonlyArray<Row>): boolean => {
  const lines = rows.filter(({ cells }) => cells.length > 1)
  const numbers = lines.map(({ bounds: [box], line }) => ({
    number: Number(lineNumber(line.segments)?.text ?? Number.NaN),
    x1: box?.x1 ?? 0
  }))
  const code = charactersOf(lines.flatMap(({ cells }) => cells.slice(1).flat()))
  const monospaced = lines.map(({ line }) => line.monospace * charactersOf(line.segments))
  return (
    monospaced.reduce((sum, letters) => sum + letters, 0) >= LISTING * code &&
    numbers.every(
      ({ number, x1 }, at) =>
        number === (numbers[0]?.number ?? 0) + at && Math.abs(x1 - (numbers[0]?.x1 ?? 0)) < SAME_EDGE
    )
  )
}

/** A section's number of several parts, and the last of them. */
const SECTION = /^(?<parent>(?:\d{1,3}\.)+)(?<last>\d{1,3})\.?$/

/** True when these cells are consecutive section numbers only: titles follow such numbers. */
export const areSections = (cells: ReadonlyArray<ReadonlyArray<Segment>>): boolean => {
  const found = cells.map((cell) => SECTION.exec(wordsOf(cell))?.groups)
  return found.every(
    (one, at) =>
      one !== undefined &&
      one["parent"] === found[0]?.["parent"] &&
      Number(one["last"]) === Number(found[0]?.["last"]) + at
  )
}

/** What closes brackets or a sentence. */
const CLOSING = /^[)\]）】.。．]{1,2}$/u

/** Whether these cells are nothing but closing signs: room to write is left before them. */
export const areClosings = (cells: ReadonlyArray<ReadonlyArray<Segment>>): boolean =>
  cells.every((cell) => CLOSING.test(wordsOf(cell)))

/** How many comments show that lines are code. */
const COMMENTS = 3

/** Whether the last cells of rows are comments: lines of a listing, be its face as wide as words. */
export const areCommented = (rows: ReadonlyArray<ReadonlyArray<RawCell>>): boolean => {
  const lasts = rows.map((row) => wordsOf(row.at(-1)?.segments ?? [])).filter((text) => text !== "")
  return lasts.length >= COMMENTS && lasts.every(isSureComment)
}

/** Prompts of consoles, and the prompts of continued commands: R, Python, and shells. */
const PROMPTS = [/^[>+]$/, /^(?:>>>|\.{3})$/, /^\$$/, /^%$/, /^#$/]

/** Whether rows are lines of a session at a console, each behind its prompt. */
export const arePrompted = (rows: ReadonlyArray<ReadonlyArray<RawCell>>): boolean =>
  PROMPTS.some((prompt) => rows.every(([first]) => prompt.test(wordsOf(first?.segments ?? []))))
