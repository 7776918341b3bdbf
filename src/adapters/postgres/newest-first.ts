import { Effect } from "effect"

import type { InvalidCursor } from "../../ports/cursor.ts"
import { cursorOf, readCursor } from "./cursor.ts"

/** What is wanted of a table that has an `id` and a `created_at`. */
export interface PageWanted {
  /** The table, and what is joined with it. */
  readonly from: string
  /** What the table is called in the statement. */
  readonly name: string
  readonly columns: string
  /** Conditions in SQL; `bind` gives a value's place in it. */
  readonly conditions: (bind: (value: unknown) => string) => ReadonlyArray<string>
  readonly limit: number
  readonly cursor: string | undefined
}

/** One page of a table, newest first, and the cursor of the next one. */
export const newestFirst = Effect.fnUntraced(function* <
  Row extends { readonly id: string; readonly created_at: string },
  E
>(
  run: (text: string, parameters: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, E>,
  { columns, conditions, cursor, from, limit, name }: PageWanted
): Effect.fn.Return<
  { readonly rows: ReadonlyArray<Row>; readonly nextCursor: string | null },
  InvalidCursor | E
> {
  const after = cursor === undefined ? undefined : yield* readCursor(cursor)
  const parameters: Array<unknown> = []
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const place = `(${name}.created_at, ${name}.id)`
  const all = [
    ...conditions(bind),
    ...(after === undefined
      ? []
      : [`${place} < (${bind(after[0])}::text::timestamptz, ${bind(after[1])}::text::uuid)`])
  ]
  const where = all.length === 0 ? "" : `where ${all.join(" and ")} `
  // One row more than asked for tells whether there is a next page.
  const found = yield* run(
    `select ${columns} from ${from} ${where}order by ${name}.created_at desc, ${name}.id desc limit ${limit + 1}`,
    parameters
  )
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return {
    rows,
    nextCursor: found.length > limit && last !== undefined ? cursorOf(last.created_at, last.id) : null
  }
})
