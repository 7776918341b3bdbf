import type { Block } from "../../model/block.ts"
import type { FontFace } from "../../model/page-content.ts"
import type { InlineContext } from "../lines/inline.ts"
import { areListed } from "../lines/line-numbers.ts"
import type { Line } from "../lines/line.ts"
import { segmentText, piecesOf } from "../lines/segment.ts"
import { isMathFace } from "../regions/formulas/mathematical.ts"
import { type AlignedTable, alignedTables } from "../regions/tables/aligned/aligned-table.ts"
import { columnList } from "../regions/tables/aligned/column-list.ts"
import { definitionList } from "../regions/tables/aligned/definition-list.ts"
import { areCommented, arePrompted } from "../regions/tables/aligned/listed-rows.ts"
import { numberedList } from "../regions/tables/aligned/numbered-list.ts"
import { areWordsInColumns } from "../regions/tables/cells/off-grid.ts"
import { tableOf } from "../regions/tables/cells/table-of.ts"
import { codeOf } from "./listing.ts"

/** Part of the letters of rows that is mathematics from which on they are lines of formulas. */
const FORMULAS = 0.5

/** Signs between the sides of equations alone. Arrows are left out: they also lead from an example to its result. */
const COMPARES = /^[=<>≤≥≈≡∼]$/u
const WORD = /\p{L}{3}/u

/**
 * True when aligned rows are lines of formulas that could not be read as such: an array with a column of relations, or
 * mathematical letters.
 */
const areFormulas = ({ rows }: AlignedTable, fonts: ReadonlyArray<FontFace>): boolean => {
  const texts = rows.map((row) => row.map(({ segments }) => segments.map(segmentText).join(" ").trim()))
  const at = texts[0]?.findIndex((text) => COMPARES.test(text)) ?? -1
  const isArray = at > 0 && texts.every((row) => COMPARES.test(row[at] ?? ""))
  if (isArray && !texts.flat().some((text) => WORD.test(text))) return true
  const pieces = piecesOf(rows.flat().flatMap(({ segments }) => segments))
  const letters = (of: typeof pieces) => of.reduce((sum, { text }) => sum + text.trim().length, 0)
  const inMath = pieces.filter(({ run }) => isMathFace(fonts[run.font]))
  return (
    letters(inMath) > FORMULAS * letters(pieces) || !pieces.some(({ text }) => /[\p{L}\p{N}]/u.test(text))
  )
}

/** Tables that alignment shows among the lines of a column. */
export const alignedIn = (
  lines: ReadonlyArray<Line>,
  fonts: ReadonlyArray<FontFace>
): ReadonlyArray<AlignedTable> => alignedTables(lines).filter((table) => !areFormulas(table, fonts))

/** What aligned lines are: a listing, a list in columns or of terms, or a table. `typewritten`: the document has no other faces. */
export const alignedBlock = (
  { from, rows, to }: AlignedTable,
  lines: ReadonlyArray<Line>,
  inline: InlineContext,
  typewritten: boolean
): Block => {
  const of = lines.slice(from, to)
  const top = of[0]?.y0
  const cells = rows.map((row) => row.map(({ segments }) => segments))
  const listed = !typewritten && areListed(of) && !areWordsInColumns(cells)
  if (listed || areCommented(rows) || arePrompted(rows)) return { ...codeOf(of), top }
  // The first lines of a page may be the rest of a table that has names on the page before.
  const list =
    columnList(rows, inline) ??
    numberedList(rows, inline) ??
    (from > 0 ? definitionList(rows, inline) : undefined)
  return { ...(list ?? tableOf(rows, inline, undefined)), top }
}
