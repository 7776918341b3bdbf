import type { Block, Cell, Table } from "./block.ts"
import { NO_SEAM, textOfSpans } from "./block.ts"
import { type InlineContext, spansOf } from "./inline.ts"
import { type Line, linesOf } from "./line.ts"
import { markerOf } from "./markers.ts"
import type { Segment } from "./segment.ts"
import { isBoldLine } from "./statistics.ts"

/** A cell that is being filled. */
export interface RawCell {
  readonly segments: ReadonlyArray<Segment>
  readonly colSpan: number
  readonly rowSpan: number
}

/** What is known of a cell's looks. */
interface Told {
  readonly lines: ReadonlyArray<Line>
  readonly text: string
  readonly bold: boolean
  readonly numeric: boolean
}

const NUMERIC = /^[-+–−±<>≤≥~≈$€£¥%().,:/\s]*\d[-+–−±<>≤≥~≈$€£¥%()\d.,:/\s×xeE]*$/

const tell = ({ segments }: RawCell, context: InlineContext): Told => {
  const lines = linesOf(segments, context.fonts)
  const text = lines.map((line) => line.text).join(" ")
  return { lines, text, bold: lines.length > 0 && lines.every(isBoldLine), numeric: NUMERIC.test(text) }
}

/** A cell's words; items of a list in it stay apart. */
const blocksOf = ({ lines }: Told, context: InlineContext, ignoreBold: boolean): ReadonlyArray<Block> => {
  if (lines.length === 0) return []
  const groups: Array<Array<Line>> = []
  for (const line of lines) {
    const marker = markerOf(line.text)
    if (groups.length === 0 || (marker !== undefined && !marker.ordered)) groups.push([line])
    else groups.at(-1)?.push(line)
  }
  return groups.map((group) => ({
    kind: "paragraph",
    spans: spansOf(group, { ...context, ignoreBold: context.ignoreBold || ignoreBold }),
    seam: NO_SEAM,
    lang: undefined
  }))
}

/** Whether the first row names the columns: bold, or words above figures, or words throughout in a table of some rows. */
const namesColumns = (rows: ReadonlyArray<ReadonlyArray<Told>>): boolean => {
  const [first, ...rest] = rows
  if (first === undefined || rest.length === 0) return false
  const filled = first.filter(({ text }) => text !== "")
  if (filled.length === 0 || filled.some(({ numeric, text }) => numeric && !/^(19|20)\d\d$/.test(text)))
    return false
  if (filled.every(({ bold }) => bold)) return true
  if (filled.length < Math.min(2, first.length)) return false
  const figuresBelow = rest.some((row) => row.some(({ numeric }) => numeric))
  return figuresBelow || (rest.length >= 2 && filled.every(({ text }) => text.length <= 60))
}

/** Whether the first cells name their rows: bold where the others are not, or words before figures. */
const namesRows = (body: ReadonlyArray<ReadonlyArray<Told>>): boolean => {
  if (body.length < 2 || body.some((row) => row.length < 2)) return false
  const firsts = body.map((row) => row[0])
  const others = body.flatMap((row) => row.slice(1)).filter(({ text }) => text !== "")
  if (others.length === 0) return false
  if (firsts.every((cell) => cell?.text !== "" && cell?.bold === true) && others.some(({ bold }) => !bold))
    return true
  const words = firsts.filter((cell) => cell !== undefined && cell.text !== "" && !cell.numeric).length
  return words >= 0.8 * firsts.length && others.filter(({ numeric }) => numeric).length >= 0.6 * others.length
}

/** Makes a table of filled cells. `headRows`: how many are known to be its head; else the cells' looks say. */
export const tableOf = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  context: InlineContext,
  headRows: number | undefined
): Table => {
  const told = rows.map((row) => row.map((cell) => tell(cell, context)))
  const head = headRows ?? (namesColumns(told) ? 1 : 0)
  const rowHeaders = namesRows(told.slice(head))
  const cells = rows.map((row, at) =>
    row.map((cell, column): Cell => {
      const header = at < head ? "column" : rowHeaders && column === 0 ? "row" : undefined
      const looks = told[at]?.[column]
      return {
        blocks: looks === undefined ? [] : blocksOf(looks, context, header !== undefined),
        header,
        colSpan: cell.colSpan,
        rowSpan: cell.rowSpan
      }
    })
  )
  return { kind: "table", caption: [], rows: cells, headRows: head, seam: NO_SEAM }
}

/** The words of a cell, for comparisons. */
export const cellText = ({ blocks }: Cell): string =>
  blocks.map((block) => (block.kind === "paragraph" ? textOfSpans(block.spans) : "")).join(" ")
