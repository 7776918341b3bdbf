import { Effect, Layer, Option, Schema } from "effect"

import { ListedReason } from "../../../domain/mail/suppression/policy.ts"
import {
  InvalidSuppressionCursor,
  type SuppressionFilter,
  SuppressionList,
  type SuppressionRow
} from "../../../ports/mail/suppression-list.ts"
import { SlowSql, WriteSql } from "../client.ts"
import { slowReads, statements } from "../statement.ts"
import { isMoment, timeColumn } from "../values.ts"

const ask = statements({ within: "10 seconds" })

/** Where a page ended: the sort key of its last row. */
const Cursor = Schema.fromJsonString(
  Schema.Tuple([
    Schema.String.check(Schema.makeFilter(isMoment)),
    Schema.String.check(Schema.makeFilter((email) => !email.includes("\0"))),
    ListedReason
  ])
)
const decodeCursor = Schema.decodeUnknownOption(Cursor)

const readCursor = (cursor: string) =>
  Option.match(decodeCursor(Buffer.from(cursor, "base64url").toString("utf8")), {
    onNone: () => Effect.fail(new InvalidSuppressionCursor({ cursor })),
    onSome: Effect.succeed
  })

const cursorAfter = ({ created_at, email, reason }: SuppressionRow): string =>
  Buffer.from(JSON.stringify([created_at, email, reason])).toString("base64url")

const COLUMNS = `email, reason, note, ${timeColumn("created_at")}`

const SUPPRESSED = "select email, reason, note, created_at from email_suppressions"

/** Unsubscribed people as rows of the list (MAIL-65), without erased ones. */
export const UNSUBSCRIBED = `select email, 'unsubscribed' as reason,
  case reason when 'one_click' then 'by a link' else reason end || coalesce(', campaign ' || campaign, '') as note, created_at
from unsubscribes where email not like 'erased:%'`

/** Fetches one row more than asked for, to know whether there is a next page. */
const statementOf = (filter: SuppressionFilter, after: (typeof Cursor)["Type"] | undefined) => {
  const parameters: Array<unknown> = []
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const conditions: Array<string> = ["true"]
  if (filter.email !== undefined) conditions.push(`email = ${bind(filter.email)}`)
  if (filter.reason !== undefined) conditions.push(`reason = ${bind(filter.reason)}`)
  if (after !== undefined) {
    const at = `${bind(after[0])}::text::timestamptz`
    // The first condition is implied by the second; it bounds the index scan.
    conditions.push(
      `created_at <= ${at} and (created_at < ${at} or (email, reason) > (${bind(after[1])}::text, ${bind(after[2])}::text))`
    )
  }
  const parts = [
    ...(filter.reason === "unsubscribed" ? [] : [SUPPRESSED]),
    ...(filter.reason === undefined || filter.reason === "unsubscribed" ? [UNSUBSCRIBED] : [])
  ]
  // Each part by its own index.
  const newest = (rows: string) =>
    `(select * from (${rows}) x where ${conditions.join(" and ")} order by created_at desc, email, reason limit ${filter.limit + 1})`
  const text = `select ${COLUMNS} from (${parts.map(newest).join(" union all ")}) y order by y.created_at desc, email, reason limit ${filter.limit + 1}`
  return { text, parameters }
}

const ADD = `with added as (
  insert into email_suppressions (email, reason, note) values ($1, 'manual', $2)
  on conflict (email, reason) do update set note = coalesce(excluded.note, email_suppressions.note)
  returning ${COLUMNS}
), noted as (
  insert into admin_audit_log (action, actor, target, note, details)
  select 'email_suppress', $3, $1, $2, jsonb_build_object('reasons', jsonb_build_array('manual'))
)
select * from added`

/** In the order that all writers of the list share; an erased person's address is not written down again. */
const ADD_ALL = `with added as (
  insert into email_suppressions (email, reason, note)
  select distinct x.email, x.reason, $3::text from unnest($1::text[], $2::text[]) as x(email, reason)
  where not exists (
    select from erased_suppressions e where e.address_hash = address_hash(x.email) and e.reason = x.reason
  )
  order by 1, 2
  on conflict (email, reason) do nothing
  returning reason
), noted as (
  insert into admin_audit_log (action, actor, target, note, details)
  select 'email_suppress_import', $4, count(*) || ' addresses', $3,
    jsonb_build_object('added', count(*), 'reasons', jsonb_agg(distinct reason order by reason))
  from added having count(*) > 0
)
select count(*)::int as answer from added`

const REMOVE = `with plain as (
  delete from email_suppressions where email = $1 returning reason
), erased as (
  delete from erased_suppressions where address_hash = address_hash($1) returning reason
), gone as (
  select reason from plain union all select reason from erased
  union all select 'unsubscribed' from lift_unsubscribe($1) as lifted where lifted
), noted as (
  insert into admin_audit_log (action, actor, target, note, details)
  select 'email_unsuppress', $2, $1, $3, jsonb_build_object('reasons', jsonb_agg(reason order by reason))
  from gone having count(*) > 0
)
select count(*)::int as answer from gone`

/** The suppression list in Postgres. */
export const layer: Layer.Layer<SuppressionList, never, SlowSql | WriteSql> = Layer.effect(
  SuppressionList,
  Effect.gen(function* () {
    const slow = yield* SlowSql
    const writeSql = yield* WriteSql
    return SuppressionList.of({
      page: Effect.fnUntraced(function* (filter) {
        const after = filter.cursor === undefined ? undefined : yield* readCursor(filter.cursor)
        const { text, parameters } = statementOf(filter, after)
        const found = yield* slowReads.stored("suppressions", slow.unsafe<SuppressionRow>(text, parameters))
        const rows = found.slice(0, filter.limit)
        const last = rows.at(-1)
        return {
          rows,
          nextCursor: found.length > filter.limit && last !== undefined ? cursorAfter(last) : null
        }
      }),
      add: ({ actor, email, note }) =>
        ask
          .stored("suppress", writeSql.unsafe<SuppressionRow>(ADD, [email, note ?? null, actor]))
          .pipe(Effect.map((rows) => rows[0]!)),
      addAll: ({ actor, entries, note }) =>
        ask.answer(
          "import suppressions",
          Schema.Int,
          writeSql.unsafe(ADD_ALL, [
            entries.map(({ email }) => email),
            entries.map(({ reason }) => reason),
            note ?? null,
            actor
          ])
        ),
      remove: ({ actor, email, note }) =>
        ask.answer("unsuppress", Schema.Int, writeSql.unsafe(REMOVE, [email, actor, note ?? null]))
    })
  })
)
