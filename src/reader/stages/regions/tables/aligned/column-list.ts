import { asList, asParagraph, type List } from "../../../../model/block.ts"
import { type InlineContext, spansIn } from "../../../lines/inline.ts"
import { segmentText } from "../../../lines/segment.ts"
import type { RawCell } from "../cells/table-cells.ts"

/** Rows from which on cells that are sorted are so on purpose, and the part of neighbours that are in order. */
const ROWS = 4
const SORTED = 0.9
/** Greatest length of an item, in characters. */
const MAX_ITEM = 60

const textOf = ({ segments }: RawCell): string =>
  segments.map(segmentText).join(" ").normalize("NFD").replaceAll(/\p{M}/gu, "").trim().toLowerCase()

/**
 * A list that is set in columns to save room: names, sorted down each column and on to the next. Its items come in
 * drawing order, since columns may continue over pages. Returns undefined when the columns are related (a table, not a
 * list).
 */
export const columnList = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  context: InlineContext
): List | undefined => {
  const width = rows[0]?.length ?? 0
  if (rows.length < ROWS || width < 2 || rows.some((row) => row.length !== width)) return undefined
  if (rows[0]?.some(({ segments }) => segments.length === 0)) return undefined
  const cells = Array.from({ length: width }, (_, column) =>
    rows.flatMap((row) => {
      const cell = row[column]
      return cell === undefined || cell.segments.length === 0 ? [] : [cell]
    })
  ).flat()
  const texts = cells.map(textOf)
  if (texts.some((text) => text.length > MAX_ITEM || !/^\p{L}|^\d\p{L}/u.test(text))) return undefined
  const ordered = texts.filter((text, at) => at > 0 && (texts[at - 1] ?? "") <= text).length
  if (ordered < SORTED * (texts.length - 1) || new Set(texts).size < SORTED * texts.length) return undefined
  const drawn = [...cells].sort((a, b) => (a.segments[0]?.order ?? 0) - (b.segments[0]?.order ?? 0))
  return asList(
    drawn.map(({ segments }) => ({
      blocks: [asParagraph({ spans: spansIn(segments, context) })]
    }))
  )
}
