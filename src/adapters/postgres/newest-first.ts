import { Effect, Option, Schema } from "effect"

import { InvalidCursor } from "../../ports/cursor.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { decodeRows } from "./statement.ts"
import { isMoment, timeColumn } from "./values.ts"

/** Where a page ended: its last row's moment and `id`. */
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

const cursorOf = (moment: string, id: string): string =>
  Buffer.from(JSON.stringify([moment, id])).toString("base64url")

/** The order of pages: by a moment of the rows, and their `id` where several share one. */
export interface PageOrder {
  readonly column: "created_at" | "updated_at"
  readonly direction: "asc" | "desc"
}

const NEWEST_FIRST: PageOrder = { column: "created_at", direction: "desc" }

/** `order by`, of rows of a name. */
const sorted = (name: string, { column, direction }: PageOrder): string =>
  `order by ${name}.${column} ${direction}, ${name}.id ${direction}`

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
  /** Newest first unless it says otherwise. */
  readonly order?: PageOrder
}

/** What every such row has. */
export interface StoredRow {
  readonly id: string
  readonly created_at: string
  readonly updated_at?: string
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

/** The rows' conditions with the place where the page begins, and their order; `bind` returns the placeholder of a value. */
const placed = Effect.fnUntraced(function* (
  { conditions, cursor, name, order = NEWEST_FIRST }: PageWanted,
  bind: (value: unknown) => string
) {
  const after = cursor === undefined ? undefined : yield* readCursor(cursor)
  const place = `(${name}.${order.column}, ${name}.id)`
  const behind = order.direction === "desc" ? "<" : ">"
  const all = [
    ...conditions(bind),
    ...(after === undefined
      ? []
      : [`${place} ${behind} (${bind(after[0])}::text::timestamptz, ${bind(after[1])}::text::uuid)`])
  ]
  return `${all.length === 0 ? "" : `where ${all.join(" and ")} `}${sorted(name, order)}`
})

/** The rows of a page, of which one more than asked for was read: it shows whether there is a next page. */
const pageOf = <Row extends StoredRow>(
  found: ReadonlyArray<Row>,
  { limit, order = NEWEST_FIRST }: PageWanted
): Page<Row> => {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const moment = last?.[order.column]
  return {
    rows,
    nextCursor:
      found.length > limit && last !== undefined && moment !== undefined ? cursorOf(moment, last.id) : null
  }
}

/** Runs a statement. */
type Run<Row> = (
  text: string,
  parameters: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<Row>, StoreUnavailable>

/** One page of a table, newest first, and the cursor of the next one. Rows keep the names of their columns. */
export const newestFirst = Effect.fnUntraced(function* <Row extends StoredRow>(
  run: Run<Row>,
  wanted: PageWanted
): Effect.fn.Return<Page<Row>, InvalidCursor | StoreUnavailable> {
  const { columns, from, limit } = wanted
  const parameters: Array<unknown> = []
  const rows = yield* placed(wanted, (value) => `$${parameters.push(value)}`)
  return pageOf(yield* run(`select ${columns} from ${from} ${rows} limit ${limit + 1}`, parameters), wanted)
})

/** What {@link readInOrder} reads from the database. */
interface ReadRows<Row> {
  readonly rows: ReadonlyArray<Row>
  /** The moment and `id` of the last row that was read, where it stopped. */
  readonly last: readonly [createdAt: string, id: string] | null
}

/**
 * The same with a condition that no index answers: it is asked of the first `most` rows of the others, in one statement. Where it stops
 * there, the cursor leads on, however few rows were found. The place is written of its row alone: of those before it, too, this took as
 * long as the search.
 */
export const readInOrder = Effect.fnUntraced(function* <Row extends StoredRow>(
  run: Run<ReadRows<Row>>,
  wanted: PageWanted,
  {
    condition,
    most
  }: { readonly condition: (bind: (value: unknown) => string) => string; readonly most: number }
): Effect.fn.Return<
  Page<Row> & { readonly stoppedAfter?: number; readonly stoppedAt?: string },
  InvalidCursor | StoreUnavailable
> {
  const { columns, from, limit, name, order = NEWEST_FIRST } = wanted
  const parameters: Array<unknown> = []
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const rows = yield* placed(wanted, bind)
  const [answer] = yield* run(
    `with found as materialized (
      select ${columns} from (select * from ${from} ${rows} limit ${most}) as ${name}
      where ${condition(bind)} ${sorted(name, order)} limit ${limit + 1}
    )
    select
      (select coalesce(jsonb_agg(to_jsonb(f) ${sorted("f", order)}), '[]') from found f) as rows,
      case when (select count(*) from found) <= ${limit} then (
        select jsonb_build_array(x.${order.column}, x.id)
        from (
          select ${timeColumn(order.column)}, y.id
          from (select ${name}.${order.column}, ${name}.id from ${from} ${rows} offset ${most - 1} limit 1) as y
        ) as x
      ) end as last`,
    parameters
  )
  const { last, rows: found } = answer!
  return last === null
    ? pageOf(found, wanted)
    : { rows: found, nextCursor: cursorOf(...last), stoppedAfter: most, stoppedAt: last[0] }
})
