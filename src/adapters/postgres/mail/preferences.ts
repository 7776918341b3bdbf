import { Effect, Layer, Schema } from "effect"

import { MailPreferences } from "../../../ports/mail/preferences.ts"
import { WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { storable } from "../values.ts"

const ask = statements({ repeatable: true, within: "10 seconds" })

/** Not repeated: its answer would count what an earlier try added as known. */
const once = statements({ within: "10 seconds" })

const Left = Schema.Struct({ all: Schema.Boolean, lists: Schema.Array(Schema.String) })
const Rows = Schema.Array(Schema.Struct({ email: Schema.String, list: Schema.NullOr(Schema.String) }))

/** In the order that all writers share; an erased person's address is not written down again. */
const LEAVE_ALL = `with given as (
  select distinct x.email, nullif(x.list, '') as list from unnest($1::text[], $2::text[]) as x(email, list) order by 1, 2
), plain as (
  insert into unsubscribes (email, reason) select g.email, 'manual' from given g
  where g.list is null and not exists (select from unsubscribes u where u.email = erased_alias(g.email))
  on conflict (email) do nothing returning 1
), listed as (
  insert into list_unsubscribes (email, list) select g.email, g.list from given g
  where g.list is not null
    and not exists (select from list_unsubscribes l where l.email = erased_alias(g.email) and l.list = g.list)
  on conflict (email, list) do nothing returning list
), added as (
  select null as list from plain union all select list from listed
), noted as (
  insert into admin_audit_log (action, actor, target, note, details)
  select 'email_unsubscribe', $4, count(*) || ' addresses', $3,
    jsonb_build_object('added', count(*), 'lists', coalesce(jsonb_agg(distinct list) filter (where list is not null), '[]'))
  from added having count(*) > 0
)
select count(*)::int as answer from added`

/** The audit row has an actor: a person's own click has none. */
const COME_BACK = `with plain as materialized (
  select case when $2::text is null then lift_unsubscribe($1) else false end as lifted
), listed as (
  delete from list_unsubscribes where list = $2 and email in ($1, erased_alias($1)) returning 1
), noted as (
  insert into admin_audit_log (action, actor, target, note, details)
  select 'email_resubscribe', $3, $1, $4, jsonb_build_object('list', $2::text)
  from plain where $3::text is not null and (lifted or exists (select from listed))
)
select lifted from plain`

/** Each part by its primary key. */
const PAGE = `select coalesce(jsonb_agg(jsonb_build_object('email', p.email, 'list', nullif(p.list, '')) order by p.email, p.list), '[]') as answer
from (
  (select email, '' as list from unsubscribes where email not like 'erased:%' and (email, '') > ($1::text, $2::text)
    order by email limit $3)
  union all
  (select email, list from list_unsubscribes where email not like 'erased:%' and (email, list) > ($1::text, $2::text)
    order by email, list limit $3)
  order by email, list limit $3
) p`

/** What people have left, in Postgres. */
export const layer: Layer.Layer<MailPreferences, never, WriteSql> = Layer.effect(
  MailPreferences,
  Effect.map(WriteSql, (sql) => {
    return MailPreferences.of({
      of: (email) =>
        ask.answer(
          "mailPreferences",
          Left,
          sql`select jsonb_build_object(
            'all', exists (select from unsubscribes u where u.email in (${storable(email)}, erased_alias(${storable(email)}))),
            'lists', coalesce((
              select jsonb_agg(distinct l.list order by l.list) from list_unsubscribes l
              where l.email in (${storable(email)}, erased_alias(${storable(email)}))
            ), '[]')
          ) as answer`
        ),
      leave: ({ email, list }) =>
        ask.done(
          "leaveList",
          sql`insert into list_unsubscribes (email, list) values (${storable(email)}, ${storable(list)})
            on conflict (email, list) do nothing`
        ),
      comeBack: ({ by, email, list }) =>
        ask.done(
          "comeBack",
          sql.unsafe(COME_BACK, [
            storable(email),
            list === undefined ? null : storable(list),
            by?.actor ?? null,
            by?.note ?? null
          ])
        ),
      leaveAll: ({ actor, entries, note }) =>
        once.answer(
          "unsubscribeAll",
          Schema.Int,
          sql.unsafe(LEAVE_ALL, [
            entries.map(({ email }) => email),
            entries.map(({ list }) => list ?? ""),
            note ?? null,
            actor
          ])
        ),
      page: ({ after, limit }) =>
        ask.answer("unsubscribed", Rows, sql.unsafe(PAGE, [after?.email ?? "", after?.list ?? "", limit]))
    })
  })
)
