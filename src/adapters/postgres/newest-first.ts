import { Effect, Option, Schema } from "effect"

import { InvalidCursor } from "../../ports/cursor.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { decodeRows } from "./statement.ts"
import { isMoment } from "./values.ts"

/** Where a page ended: its last row's `created_at` and `id`. */
const Cursor = Schema.fromJsonString(
  Schema.Tuple([Schema.String.check(Schema.makeFilter(isMoment)), Schema.String.check(Schema.isUUID())])
)
type Cursor = typeof Cursor.Type

const decodeCursor = Schema.decodeUnknownOption(Cursor)

/** Reads a cursor made by {@link cursorOf}. */
const readCursor = (cursor: string): Effect.Effect<Cursor, InvalidCursor> =>
  Option.match(decodeCursor(Buffer.from(cursor, "base64url").toString("utf8")), {
    onNone: () => Effect.fail(new InvalidCursor({ cursor })),
    onSome: Effect.succeed
  })

const cursorOf = (createdAt: string, id: string): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString("base64url")

/** Which rows of a table that has an `id` and a `created_at`. */
interface PageWanted {
  /** The table and its joins. */
  readonly from: string
  /** The table's alias in the statement. */
  readonly name: string
  readonly columns: string
  /** Conditions in SQL; `bind` returns the placeholder of a value. */
  readonly conditions: (bind: (value: unknown) => string) => ReadonlyArray<string>
  readonly limit: number
  readonly cursor: string | undefined
}

/** What every such row has. */
export interface StoredRow {
  readonly id: string
  readonly created_at: string
}

interface Page<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly nextCursor: string | null
}

/** Decodes the rows of a page. */
export const decodedPage =
  <A>(operation: string, row: Schema.ConstraintDecoder<A>) =>
  ({ nextCursor, rows }: Page<object>): Effect.Effect<Page<A>, StoreUnavailable> =>
    Effect.map(Effect.fromResult(decodeRows(operation, row, rows)), (decoded) => ({
      rows: decoded,
      nextCursor
    }))

/** One page of a table, newest first, and the cursor of the next one. Rows keep the names of their columns. */
export const newestFirst = Effect.fnUntraced(function* <Row extends StoredRow>(
  run: (
    text: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, StoreUnavailable>,
  { columns, conditions, cursor, from, limit, name }: PageWanted
): Effect.fn.Return<Page<Row>, InvalidCursor | StoreUnavailable> {
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
  // One row more than asked for shows whether there is a next page.
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
