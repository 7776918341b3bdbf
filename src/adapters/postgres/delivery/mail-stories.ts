import { Effect, Layer, Schema } from "effect"

import type { EmailLogRow } from "../../../domain/delivery/email-log-row.ts"
import type { LoggedEvent, MailStory, StoryRow } from "../../../domain/delivery/mail-story.ts"
import { Attempt } from "../../../domain/mail/logged-attempt.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { ListedReason } from "../../../domain/mail/suppression/policy.ts"
import { MailStories, MAX_STORY_ROWS } from "../../../ports/delivery/mail-stories.ts"
import { SlowSql } from "../client.ts"
import { UNSUBSCRIBED } from "../mail/suppression-list.ts"
import { slowReads, storeUnavailable } from "../statement.ts"
import { Absent, timeColumn } from "../values.ts"
import { COLUMNS } from "./email-log-query.ts"

/** The rows of the key of one row, by the index of keys; the row alone where it has none. */
const ROWS = `with one as (select id, key_hash from email_log where id = $1::uuid),
mine as (
  select id from one
  union
  (select l.id from one join email_log l on l.key_hash = one.key_hash
  order by l.created_at desc, l.id desc limit ${MAX_STORY_ROWS})
)
select ${COLUMNS}, (
    select to_jsonb(x) from (
      select ${timeColumn('"queuedAt"', "created_at")}, ${timeColumn('"sendAt"', "send_at")} from email_send_queue q where q.id = email_log.id
    ) as x) as queued, key_hash, suppression_marks, ${timeColumn("retry_at")}, coalesce(attempts, '[]') as attempts, coalesce(tags, '{}') as tags
from email_log where id in (select id from mine)
order by email_log.created_at, email_log.id`

/** Most of the events' bodies in one story, bytes. */
const MAX_BODIES = 1_000_000

/** The events of rows: each kept, with its body until there are enough. */
const EVENTS = `select send_id, number, event, ${timeColumn("at", "occurred_at")},
  case when listed then 'poll' else 'webhook' end as by,
  case when sum(raw_bytes) over (order by occurred_at, send_id, number) <= ${MAX_BODIES} then raw end as raw,
  raw_bytes as bytes
from email_events where send_id = any($1::uuid[])
order by number`

type Stored = EmailLogRow & {
  readonly key_hash: string | null
  readonly suppression_marks: ReadonlyArray<string>
  readonly retry_at: string | null
  readonly queued: StoryRow["queued"]
  readonly tags: StoryRow["tags"]
  readonly attempts: unknown
}

type StoredEvent = LoggedEvent & { readonly send_id: string }

const decodeAttempts = Schema.decodeUnknownEffect(Schema.Array(Attempt))

const toRow = Effect.fnUntraced(function* (stored: Stored, all: ReadonlyArray<StoredEvent>) {
  const attempts = yield* decodeAttempts(stored.attempts).pipe(Effect.mapError(storeUnavailable("mailStory")))
  const { key_hash: _, raw: _raw, ...row } = stored
  const events = all
    .filter(({ send_id }) => send_id === row.id)
    .map(({ send_id: _sendId, ...event }): LoggedEvent => event)
  return { ...row, attempts, events } satisfies StoryRow
})

const Claim = Schema.Struct({
  state: Schema.Literals(["held", "accepted", "deferred", "refused", "ambiguous", "ended"]),
  provider: Provider,
  firstAttemptAt: Schema.String,
  leaseUntil: Schema.NullOr(Schema.String)
})
const Alert = Schema.Struct({
  sendId: Schema.String,
  claimedAt: Schema.String,
  attempts: Schema.Int,
  confirmedAt: Schema.NullOr(Schema.String),
  dueAt: Schema.NullOr(Schema.String)
})
const Listed = Schema.Struct({
  email: Schema.String,
  reason: ListedReason,
  note: Schema.NullOr(Schema.String),
  since: Schema.String
})

/** What belongs to the rows, in one statement. */
const AROUND = `select
  (select to_jsonb(x) from (
    select state, provider, ${timeColumn('"firstAttemptAt"', "first_attempt_at")}, ${timeColumn('"leaseUntil"', "lease_until")}
    from email_send_claims where key_hash = $1::text) as x) as claim,
  (select coalesce(jsonb_agg(x order by x."claimedAt"), '[]') from (
    select send_id as "sendId", attempts, ${timeColumn('"claimedAt"', "claimed_at")},
      ${timeColumn('"confirmedAt"', "confirmed_at")}, ${timeColumn('"dueAt"', "due_at")}
    from email_alerts where send_id = any($2::uuid[])) as x) as alerts,
  (select coalesce(jsonb_agg(x order by x.email, x.reason), '[]') from (
    select email, reason, note, ${timeColumn("since", "created_at")} from (
      select email, reason, note, created_at from email_suppressions union all ${UNSUBSCRIBED}
    ) as y where email = any($3::text[])) as x) as suppressions`

const Around = Schema.Struct({
  claim: Absent(Claim),
  alerts: Schema.Array(Alert),
  suppressions: Schema.Array(Listed)
})

/** The stories of mails in Postgres. */
export const layer: Layer.Layer<MailStories, never, SlowSql> = Layer.effect(
  MailStories,
  Effect.map(SlowSql, (sql) =>
    MailStories.of({
      of: Effect.fnUntraced(function* (sendId) {
        const stored = yield* slowReads.stored("mailStory", sql.unsafe<Stored>(ROWS, [sendId]))
        if (stored.length === 0) return undefined
        const people = stored.flatMap((row) => [
          ...row.to_addresses,
          ...row.other_addresses,
          ...row.dropped_addresses
        ])
        const keyHash = stored.find(({ key_hash }) => key_hash !== null)?.key_hash ?? null
        const ids = stored.map(({ id }) => id)
        const around = yield* slowReads.one(
          "mailStory",
          Around,
          sql.unsafe(AROUND, [keyHash, ids, [...new Set(people)]])
        )
        const events = yield* slowReads.stored("mailStory", sql.unsafe<StoredEvent>(EVENTS, [ids]))
        const rows = yield* Effect.forEach(stored, (row) => toRow(row, events))
        return { rows, ...around } satisfies MailStory
      })
    })
  )
)
