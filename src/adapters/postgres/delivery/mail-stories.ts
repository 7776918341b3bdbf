import { Effect, Layer, Schema } from "effect"

import { Provider } from "../../../domain/mail/failover.ts"
import { SuppressionReason } from "../../../domain/mail/suppression-policy.ts"
import { Attempt } from "../../../domain/mail/trace.ts"
import { type EmailLogRow } from "../../../ports/delivery/email-log-query.ts"
import {
  type LoggedEvent,
  MailStories,
  type MailStory,
  MAX_STORY_ROWS,
  type StoryRow
} from "../../../ports/delivery/mail-stories.ts"
import { ReadSql } from "../client.ts"
import { statements, storeUnavailable } from "../statement.ts"
import { Absent, timeColumn } from "../values.ts"
import { COLUMNS } from "./email-log-query.ts"

const ask = statements({ within: "10 seconds" })

/** The rows of the key of one row, by the index of keys; the row alone where it has none. */
const ROWS = `with one as (select id, key_hash from email_log where id = $1::uuid),
mine as (
  select id from one
  union
  (select l.id from one join email_log l on l.key_hash = one.key_hash
  order by l.created_at desc, l.id desc limit ${MAX_STORY_ROWS})
)
select ${COLUMNS}, key_hash, suppression_marks, ${timeColumn("retry_at")}, coalesce(attempts, '[]') as attempts,
  nullif(accounts -> 'told', 'null') as told, accounts -> 'listed' as listed
from email_log where id in (select id from mine)
order by email_log.created_at, email_log.id`

/** An `email_account`. */
interface Account {
  readonly event: string | null
  readonly moment: string | null
  readonly raw: Schema.Json
}

type Stored = EmailLogRow & {
  readonly key_hash: string | null
  readonly suppression_marks: ReadonlyArray<string>
  readonly retry_at: string | null
  readonly attempts: unknown
  readonly told: Account | null
  readonly listed: Account | null
}

const decodeAttempts = Schema.decodeUnknownEffect(Schema.Array(Attempt))

const eventOf = (by: LoggedEvent["by"], account: Account | null): ReadonlyArray<LoggedEvent> =>
  account?.event === null || account?.event === undefined
    ? []
    : [{ event: account.event, at: account.moment, by, raw: account.raw }]

/** The events that a row keeps: the latest that a webhook brought, and the latest that the poll listed. */
const eventsOf = ({ last_event, last_event_at, listed, raw, told }: Stored): ReadonlyArray<LoggedEvent> =>
  listed === null
    ? eventOf("webhook", { event: last_event, moment: last_event_at, raw })
    : [...eventOf("webhook", told), ...eventOf("poll", listed)].sort(
        (one, other) => Date.parse(one.at ?? "") - Date.parse(other.at ?? "")
      )

const toRow = Effect.fnUntraced(function* (stored: Stored) {
  const attempts = yield* decodeAttempts(stored.attempts).pipe(Effect.mapError(storeUnavailable("mailStory")))
  const { key_hash: _, listed: _listed, raw: _raw, told: _told, ...row } = stored
  return { ...row, attempts, events: eventsOf(stored) } satisfies StoryRow
})

const Claim = Schema.Struct({
  state: Schema.Literals(["held", "accepted", "deferred", "refused", "ambiguous"]),
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
  reason: SuppressionReason,
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
    select email, reason, note, ${timeColumn("since", "created_at")}
    from email_suppressions where email = any($3::text[])) as x) as suppressions`

const Around = Schema.Struct({
  claim: Absent(Claim),
  alerts: Schema.Array(Alert),
  suppressions: Schema.Array(Listed)
})

/** The stories of mails in Postgres. */
export const layer: Layer.Layer<MailStories, never, ReadSql> = Layer.effect(
  MailStories,
  Effect.map(ReadSql, (sql) =>
    MailStories.of({
      of: Effect.fnUntraced(function* (sendId) {
        const stored = yield* ask.stored("mailStory", sql.unsafe<Stored>(ROWS, [sendId]))
        if (stored.length === 0) return undefined
        const people = stored.flatMap((row) => [
          ...row.to_addresses,
          ...row.other_addresses,
          ...row.dropped_addresses
        ])
        const keyHash = stored.find(({ key_hash }) => key_hash !== null)?.key_hash ?? null
        const ids = stored.map(({ id }) => id)
        const around = yield* ask.one(
          "mailStory",
          Around,
          sql.unsafe(AROUND, [keyHash, ids, [...new Set(people)]])
        )
        return { rows: yield* Effect.forEach(stored, toRow), ...around } satisfies MailStory
      })
    })
  )
)
