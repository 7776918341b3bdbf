import type { PageContent } from "../../model/page-content.ts"
import type { Placed } from "../../model/placed.ts"
import { contentsIn } from "../blocks/contents.ts"
import type { FlowContext } from "../blocks/flow.ts"
import { linesOf } from "../lines/line.ts"
import type { Segment } from "../lines/segment.ts"
import { MAX_FIELDS } from "../regions/fields/fields.ts"
import { tableOf } from "../regions/tables/cells/table-of.ts"
import { drawnTables } from "../regions/tables/drawn/drawn-table.ts"
import { grownTables } from "../regions/tables/drawn/grown-table.ts"
import { ruledTables } from "../regions/tables/ruled/ruled-table.ts"

/** Segments but for some. */
export const without = (
  segments: ReadonlyArray<Segment>,
  taken: ReadonlySet<Segment>
): ReadonlyArray<Segment> => (taken.size === 0 ? segments : segments.filter((segment) => !taken.has(segment)))

/** The page's fields as segments without words, so that a table's cells have them. */
const fieldSegments = ({ fields }: PageContent): ReadonlyArray<Segment> =>
  fields.slice(0, MAX_FIELDS).map((field) => ({
    ...field.box,
    baseline: field.box.y1,
    size: field.box.y1 - field.box.y0,
    pieces: [],
    order: 0,
    characters: 0,
    hyphenated: false,
    field
  }))

/** Pictures as segments without words, so that a table's cells have them. */
const pictureSegments = (pictures: ReadonlyArray<Placed>): ReadonlyArray<Segment> =>
  pictures.map((picture) => {
    const { x0, x1, y0, y1 } = picture
    const nothing = { pieces: [], order: 0, characters: 0, hyphenated: false }
    return { x0, y0, x1, y1, baseline: y1, size: y1 - y0, ...nothing, picture }
  })

/**
 * The tables that are separate from the text, found by their rules, else by the drawing order; and the segments outside
 * of tables.
 */
export const tablesOn = (
  page: PageContent,
  segments: ReadonlyArray<Segment>,
  /** What a heading lists of the document: it is in no table. */
  listed: ReadonlySet<Segment>,
  { contents, inline, notes, titled }: FlowContext,
  pictures: ReadonlyArray<Placed> = []
): {
  readonly placed: ReadonlyArray<Placed>
  readonly rest: ReadonlyArray<Segment>
  /** Fields outside of tables. */
  readonly unplaced: PageContent["fields"]
  /** Pictures in the cells of tables. */
  readonly inCells: ReadonlySet<Placed>
} => {
  const fields = fieldSegments(page)
  const shown = [...without(segments, notes), ...fields, ...pictureSegments(pictures)]
  const ruled = ruledTables(page, shown, inline)
  const unruled = without(segments, ruled.taken)
  const isListed = (one: { readonly segments: ReadonlyArray<Segment> }): boolean =>
    titled && contentsIn(linesOf(one.segments, inline.fonts), titled).length > 0
  const own = without(without(unruled, listed), notes)
  const drawn = contents
    ? []
    : grownTables(drawnTables(own, inline.fonts), own, inline.fonts).filter((one) => !isListed(one))
  const placed = drawn.map(({ rows, x0, x1, y0, y1 }): Placed => ({
    block: tableOf(rows, inline, undefined),
    x0,
    x1,
    y0,
    y1
  }))
  return {
    placed: [...ruled.placed, ...placed],
    rest: without(unruled, new Set(drawn.flatMap(({ segments: taken }) => taken))),
    unplaced: fields.flatMap((one) => (one.field === undefined || ruled.taken.has(one) ? [] : [one.field])),
    inCells: new Set([...ruled.taken].flatMap(({ picture }) => picture ?? []))
  }
}
