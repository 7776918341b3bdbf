import { Effect } from "effect"

import { withDeadline } from "../../domain/deadline.ts"
import type { InvalidCursor } from "../../ports/email-log-query.ts"
import { cursorOf, readCursor } from "./cursor.ts"

/** Time limit of one page. */
const TIME_LIMIT = "10 seconds"

/** What is wanted of a table that has an `id` and a `created_at`. */
export interface PageWanted {
  readonly table: string
  readonly columns: string
  /** Conditions in SQL; `bind` gives a value's place in it. */
  readonly conditions: (bind: (value: unknown) => string) => ReadonlyArray<string>
  readonly limit: number
  readonly cursor: string | undefined
}

/** One page of a table, newest first, and the cursor of the next one. Whatever the database says is a `cause`. */
export const newestFirst = Effect.fnUntraced(function* <
  Row extends { readonly id: string; readonly created_at: string },
  E
>(
  run: (text: string, parameters: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, E>,
  { columns, conditions, cursor, limit, table }: PageWanted
): Effect.fn.Return<
  { readonly rows: ReadonlyArray<Row>; readonly nextCursor: string | null },
  InvalidCursor | { readonly _tag: "Unanswered"; readonly cause: unknown }
> {
  const after = cursor === undefined ? undefined : yield* readCursor(cursor)
  const parameters: Array<unknown> = []
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const all = [...conditions(bind)]
  if (after !== undefined) {
    all.push(`(created_at, id) < (${bind(after[0])}::text::timestamptz, ${bind(after[1])}::text::uuid)`)
  }
  const where = all.length === 0 ? "" : `where ${all.join(" and ")} `
  // One row more than asked for tells whether there is a next page.
  const text = `select ${columns} from ${table} ${where}order by ${table}.created_at desc, ${table}.id desc limit ${limit + 1}`
  const found = yield* withDeadline(run(text, parameters), {
    duration: TIME_LIMIT,
    onTimeout: () => Effect.fail(`no answer within ${TIME_LIMIT}`)
  }).pipe(Effect.mapError((cause) => ({ _tag: "Unanswered" as const, cause })))
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return {
    rows,
    nextCursor: found.length > limit && last !== undefined ? cursorOf(last.created_at, last.id) : null
  }
})
