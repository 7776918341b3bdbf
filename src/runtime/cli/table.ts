import { CliOutput } from "effect/cli"

import { greatest } from "../../domain/lists.ts"

const BLANK = /[\t\n\v\f\r\u0085\u2028\u2029]+/g
/** What a terminal would interpret instead of showing: control characters and bidirectional marks. */
const OBEYED = /[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu

/** Foreign text (a subject, a provider's message) made safe for a terminal: one line, no control sequences. */
export const visible = (text: string): string => text.replace(BLANK, " ").replace(OBEYED, "\ufffd")

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** The text cut to this many columns of a terminal, `…` at its end where something is gone. */
export const cut = (text: string, columns: number): string => {
  if (CliOutput.displayWidth(text) <= columns) return text
  let kept = ""
  let width = 1
  for (const { segment } of graphemes.segment(text)) {
    width += CliOutput.displayWidth(segment)
    if (width > columns) break
    kept += segment
  }
  return columns < 1 ? "" : `${kept}…`
}

/** The text filled with blanks to this many columns. */
export const pad = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - CliOutput.displayWidth(text)))

/** `count thing`, in the right number. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

const CODES = { red: 31, green: 32, yellow: 33, dim: 90 } as const

/** Paints text where colours may be used. */
export const painter =
  (colours: boolean) =>
  (colour: keyof typeof CODES, text: string): string =>
    colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text

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
 * are cut where they do not fit. Elsewhere (`columns` undefined) cells are whole, with tabs between them. Cells show
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
