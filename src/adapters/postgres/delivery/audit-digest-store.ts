import { Effect, Layer, Schema } from "effect"

import type { DigestCadence } from "../../../domain/delivery/audit-digest-period.ts"
import { CustomerId } from "../../../domain/ids.ts"
import { SendRequest } from "../../../domain/mail/message.ts"
import { AuditDigestStore, type DigestKey } from "../../../ports/delivery/audit-digest-store.ts"
import { SlowSql, WriteSql } from "../client.ts"
import { statements } from "../statement.ts"
import { storable, toJsonText } from "../values.ts"

/** Days after its log row in which a mail's failure is still found: both providers give up earlier. */
const FAILURE_DAYS = 5

const ask = statements()

const Subscription = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  customerId: Schema.NullOr(CustomerId)
})

const Count = Schema.Natural
const Activity = Schema.Struct({
  counts: Schema.Struct({
    sent: Count,
    delivered: Count,
    bounced: Count,
    complained: Count,
    failed: Count,
    suppressed: Count
  }),
  total: Count,
  entries: Schema.Array(
    Schema.Union([
      Schema.Struct({
        _tag: Schema.Literal("Admin"),
        at: Schema.Finite,
        actor: Schema.String,
        action: Schema.String,
        target: Schema.NullOr(Schema.String)
      }),
      Schema.Struct({
        _tag: Schema.Literal("Mail"),
        at: Schema.Finite,
        source: Schema.NullOr(Schema.String),
        status: Schema.Literals(["bounced", "complained", "failed", "suppressed"]),
        recipients: Schema.Array(Schema.String),
        error: Schema.NullOr(Schema.String)
      })
    ])
  )
})

const Claim = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Claimed"), request: SendRequest }),
  Schema.Struct({ _tag: Schema.Literals(["Settled", "Busy", "Waiting", "Unknown"]) })
])

/**
 * Mail counts in the period in which it was logged; a failure counts, and is listed, in the one in which it happened.
 * $1 and $2 are the period, $3 the
 * customer, $4 the address, $5 the limit.
 */
const ACTIVITY = `with mail as (
  select l.*, l.created_at >= $1::timestamptz as is_new, coalesce(l.last_event_at, l.created_at) as moment
  from email_log l
  where l.created_at >= $1::timestamptz - interval '${FAILURE_DAYS} days' and l.created_at < $2::timestamptz
    and ($4::text is null or (
      -- The first condition is implied; it is the one that has an index.
      (l.to_addresses || l.other_addresses || l.dropped_addresses) @> array[lower($4::text)]
      and l.to_addresses @> array[lower($4::text)]
    ))
), broken as (
  select * from mail
  where status in ('bounced', 'complained', 'failed', 'suppressed')
    and moment >= $1::timestamptz and moment < $2::timestamptz
), happened as (
  select created_at as at, jsonb_build_object('_tag', 'Admin', 'actor', actor, 'action', action, 'target', target) as entry
  from admin_audit_log
  where created_at >= $1::timestamptz and created_at < $2::timestamptz
    and ($3::text is null or details ->> 'customer_id' = $3::text)
  union all
  select moment, jsonb_build_object('_tag', 'Mail', 'source', source, 'status', status, 'recipients', to_addresses, 'error', error)
  from broken
), newest as (
  select at, entry from happened order by at desc, entry::text limit $5
)
select
  (select jsonb_build_object(
    'sent', count(*) filter (where is_new and status not in ('deferred', 'failed', 'suppressed')),
    'delivered', count(*) filter (where is_new and status in ('delivered', 'opened', 'clicked', 'complained')),
    'bounced', (select count(*) from broken where status = 'bounced'),
    'complained', (select count(*) from broken where status = 'complained'),
    'failed', (select count(*) from broken where status = 'failed'),
    'suppressed', (select count(*) from broken where status = 'suppressed')
  ) from mail) as counts,
  (select count(*) from happened)::int as total,
  (select coalesce(jsonb_agg(entry || jsonb_build_object('at', floor(extract(epoch from at) * 1000)) order by at desc, entry::text), '[]')
    from newest) as entries`

/** Due digests. A customer with a deleted account gets none. */
const PENDING = `select s.id, s.email, s.customer_id
from audit_digest_subscriptions s
where s.active and s.cadence = $1 and ($3::uuid is null or s.id > $3::uuid)
  and ($5::timestamptz is null or s.created_at < $5::timestamptz)
  and not exists (
    select from audit_digest_deliveries d
    where d.subscription_id = s.id and d.cadence = $1 and d.period_start = $2::timestamptz
      and d.state in ('sent', 'suppressed'))
  and not exists (select from customers c where c.id = s.customer_id and c.deleted_at is not null)
order by s.id
limit $4`

const CLAIM = `select decision as _tag, request
from claim_audit_digest($1::uuid, $2, $3::timestamptz, $4, $5::integer, $6::boolean, $7::jsonb)`

const SETTLE = `select settle_audit_digest($1::uuid, $2, $3::timestamptz, $4, $5, $6::boolean, $7) as answer`

const iso = (at: number) => new Date(at).toISOString()

const keyOf = ({ period, subscriptionId }: DigestKey): readonly [string, DigestCadence, string] => [
  subscriptionId,
  period.cadence,
  iso(period.from)
]

const make = Effect.gen(function* () {
  const read = yield* SlowSql
  const write = yield* WriteSql

  return AuditDigestStore.of({
    // Asked on the write connection: a subscription that was settled a moment ago must not show as pending.
    pending: ({ after, createdBefore, limit, period }) =>
      ask
        .rows(
          "pending",
          Subscription,
          write.unsafe(PENDING, [
            period.cadence,
            iso(period.from),
            after ?? null,
            limit,
            createdBefore === undefined ? null : iso(createdBefore)
          ])
        )
        .pipe(Effect.map((rows) => rows.map((row) => ({ ...row, cadence: period.cadence })))),
    activity: ({ customer, limit, period }) =>
      ask.one(
        "activity",
        Activity,
        read.unsafe(ACTIVITY, [
          iso(period.from),
          iso(period.to),
          customer?.id ?? null,
          customer === undefined ? null : storable(customer.email),
          limit
        ])
      ),
    claim: (entry) =>
      ask.one(
        "claim",
        Claim,
        write.unsafe(CLAIM, [
          ...keyOf(entry),
          entry.owner,
          entry.leaseMs,
          entry.patient,
          toJsonText(entry.request)
        ])
      ),
    settle: (entry) =>
      ask.answer(
        "settle",
        Schema.Boolean,
        write.unsafe(SETTLE, [
          ...keyOf(entry),
          entry.owner,
          entry.end.state,
          entry.end.state === "failed" && entry.end.certain,
          entry.end.state === "failed" ? storable(entry.end.error) : null
        ])
      )
  })
})

/** The digests' tables, and what goes into a digest, in Postgres. */
export const layer: Layer.Layer<AuditDigestStore, never, SlowSql | WriteSql> = Layer.effect(
  AuditDigestStore,
  make
)
