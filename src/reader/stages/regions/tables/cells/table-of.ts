import { asParagraph, type Block, type Cell, type Table, NO_SEAM } from "../../../../model/block.ts"
import { type InlineContext, spansOf } from "../../../lines/inline.ts"
import { isBoldLine, linesOf } from "../../../lines/line.ts"
import { hasWords } from "../../../lines/segment.ts"
import { isTick } from "../../fields/field-labels.ts"
import { fieldBlock } from "../../fields/fields.ts"
import { bandRows } from "./band-rows.ts"
import { paragraphsIn } from "./cell-paragraphs.ts"
import { NUMERIC, type RawCell } from "./table-cells.ts"
import { hasTitleRow, headOf, type Looks } from "./table-head.ts"

const looksOf = ({ segments }: RawCell, context: InlineContext): Looks => {
  const lines = linesOf(segments.filter(hasWords), context.fonts)
  const text = lines.map((line) => line.text).join(" ")
  return { lines, text, bold: lines.length > 0 && lines.every(isBoldLine), numeric: NUMERIC.test(text) }
}

/** A cell's words, each paragraph of them; a name is one. */
const blocksOf = (
  { lines }: Looks,
  right: number | undefined,
  context: InlineContext,
  isName: boolean
): ReadonlyArray<Block> =>
  (isName ? [lines] : paragraphsIn(lines, right))
    .filter(({ length }) => length > 0)
    .map((group) =>
      asParagraph({ spans: spansOf(group, { ...context, ignoreBold: context.ignoreBold || isName }) })
    )

/** Whether the first cells name their rows: bold where the others are not, or words before figures. */
const namesRows = (body: ReadonlyArray<ReadonlyArray<Looks>>): boolean => {
  if (body.length < 2 || body.some((row) => row.length < 2)) return false
  const firsts = body.map((row) => row[0])
  const others = body.flatMap((row) => row.slice(1)).filter(({ text }) => text !== "")
  if (others.length === 0) return false
  if (firsts.every((cell) => cell?.text !== "" && cell?.bold === true) && others.some(({ bold }) => !bold))
    return true
  const words = firsts.filter((cell) => cell !== undefined && cell.text !== "" && !cell.numeric).length
  return words >= 0.8 * firsts.length && others.filter(({ numeric }) => numeric).length >= 0.6 * others.length
}

/** The fields in a cell, named by the words in it, else by those that begin its row and head its column. */
const fieldsIn = (cell: RawCell, own: string, names: ReadonlyArray<string>): ReadonlyArray<Block> =>
  cell.segments.flatMap(({ field }): ReadonlyArray<Block> => {
    if (field === undefined) return []
    const label = field.label?.trim() || own || names.filter((name) => name !== "").join(", ")
    return [{ ...fieldBlock(field, label), spoken: (label !== "" && !isTick(field)) || own === label }]
  })

/** The pictures in a cell: those above its first line, and the others. */
const picturesIn = (
  { segments }: RawCell,
  first: number
): { readonly above: ReadonlyArray<Block>; readonly below: ReadonlyArray<Block> } => {
  const pictures = segments.flatMap(({ picture }) => picture ?? []).sort((a, b) => a.y0 - b.y0)
  const [above, below] = [pictures.filter(({ y0 }) => y0 < first), pictures.filter(({ y0 }) => y0 >= first)]
  return { above: above.map(({ block }) => block), below: below.map(({ block }) => block) }
}

/** For each row: true when it begins with a new cell, and not next to one that reaches down from a row above. */
const ownFirsts = (rows: ReadonlyArray<ReadonlyArray<RawCell>>): ReadonlyArray<boolean> => {
  let below = 0
  return rows.map(([first], at) => {
    if (at < below) return false
    below = at + (first?.rowSpan ?? 1)
    return true
  })
}

/** Makes a table of filled cells. `given`: how many are known to be its head; else the cells' looks decide. */
export const tableOf = (
  bands: ReadonlyArray<ReadonlyArray<RawCell>>,
  context: InlineContext,
  given: number | undefined
): Table => {
  const looksIn = (rows: typeof bands) => rows.map((row) => row.map((cell) => looksOf(cell, context)))
  const all = bandRows(bands, looksIn(bands), given ?? 0)
  const allLooks = looksIn(all)
  const isTitled = (given === undefined || given === 1) && hasTitleRow(all, allLooks)
  const title = isTitled ? (allLooks[0]?.[0]?.lines ?? []) : []
  const [rows, looks] = isTitled ? [all.slice(1), allLooks.slice(1)] : [all, allLooks]
  const headRows = isTitled ? 1 : given
  const head = headRows ?? headOf(rows, looks)
  const guessed =
    headRows === undefined && head > 0 && !looks[0]?.every(({ bold, text }) => bold || text === "")
  const rowHeaders = namesRows(looks.slice(head))
  const owns = ownFirsts(rows)
  const cells = rows.map((row, at) =>
    row.map((cell, column): Cell => {
      const isName = rowHeaders && column === 0 && owns[at] === true
      const header = at < head ? "column" : isName ? "row" : undefined
      const known = looks[at]?.[column]
      const names = [
        looks[at]?.[0]?.text ?? "",
        looks[0]?.length === row.length ? (looks[0][column]?.text ?? "") : ""
      ]
      const pictures = picturesIn(
        cell,
        (known?.lines[0]?.baseline ?? Infinity) - (known?.lines[0]?.size ?? 0)
      )
      const words = known === undefined ? [] : blocksOf(known, cell.right, context, header !== undefined)
      return {
        blocks: [...pictures.above, ...words, ...fieldsIn(cell, known?.text ?? "", names), ...pictures.below],
        header,
        colSpan: cell.colSpan,
        rowSpan: cell.rowSpan
      }
    })
  )
  const caption = spansOf(title, { ...context, ignoreBold: true })
  return { kind: "table", caption, rows: cells, headRows: head, seam: { ...NO_SEAM, open: guessed } }
}
