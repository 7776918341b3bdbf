import type { InlineContext } from "../lines/inline.ts"
import { areListed } from "../lines/line-numbers.ts"
import type { Line } from "../lines/line.ts"
import type { AlignedTable } from "../tables/aligned-table.ts"
import { columnList } from "../tables/column-list.ts"
import { definitionList } from "../tables/definition-list.ts"
import { tableOf } from "../tables/table-cells.ts"
import type { Block } from "./block.ts"
import { codeOf } from "./listing.ts"

/** What aligned lines are: a listing, a list in columns or of terms, or a table. `typewritten`: the document has no other faces. */
export const alignedBlock = (
  { from, rows, to }: AlignedTable,
  lines: ReadonlyArray<Line>,
  inline: InlineContext,
  typewritten: boolean
): Block => {
  const of = lines.slice(from, to)
  const top = of[0]?.y0
  if (!typewritten && areListed(of)) return { ...codeOf(of), top }
  // The first lines of a page may be the rest of a table that has names on the page before.
  const list = columnList(rows, inline) ?? (from > 0 ? definitionList(rows, inline) : undefined)
  return { ...(list ?? tableOf(rows, inline, undefined)), top }
}
