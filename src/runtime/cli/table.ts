import { CliOutput } from "effect/cli"

import { greatest } from "../../domain/lists.ts"
import { cut, pad, visible } from "./text.ts"

/** A column: its heading, its cells, and whether it gives way where the terminal is narrow. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  readonly flexible?: boolean
}

/** Makes lines of rows. `heading` is undefined where the output is no terminal. */
export interface TableLayout<Row> {
  readonly heading: string | undefined
  readonly line: (row: Row) => string
}

const GAP = "  "
/** Takes columns from the widest flexible cell until everything fits, or until none has any left. */
const fit = (
  natural: ReadonlyArray<number>,
  flexible: ReadonlyArray<boolean>,
  available: number
): ReadonlyArray<number> => {
  const widths = [...natural]
  const total = () => widths.reduce((sum, width) => sum + width, 0)
  while (total() > available) {
    let widest = -1
    for (const [index, width] of widths.entries()) {
      if (flexible[index] === true && width > 1 && (widest === -1 || width > widths[widest]!)) widest = index
    }
    if (widest === -1) break
    widths[widest]! -= 1
  }
  return widths
}

/**
 * The layout of a table on a terminal of this many columns: the cells are as wide as these rows need, and flexible ones
 * are cut where they do not fit. Elsewhere (`columns` undefined) cells stand whole, with tabs between them. Cells show
 * foreign text safely.
 */
export const layoutTable = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  width: number | undefined
): TableLayout<Row> => {
  const cells = (row: Row) => columns.map(({ cell }) => visible(cell(row)))
  if (width === undefined) return { heading: undefined, line: (row) => cells(row).join("\t") }
  const texts = [columns.map(({ title }) => title), ...rows.map(cells)]
  const natural = columns.map((_, index) =>
    greatest(texts.map((line) => CliOutput.displayWidth(line[index]!)))
  )
  const widths = fit(
    natural,
    columns.map(({ flexible }) => flexible === true),
    width - GAP.length * (columns.length - 1)
  )
  const write = (line: ReadonlyArray<string>) =>
    cut(
      line
        .map((text, index) => pad(cut(text, widths[index]!), widths[index]!))
        .join(GAP)
        .trimEnd(),
      width
    )
  return { heading: write(texts[0]!), line: (row) => write(cells(row)) }
}
