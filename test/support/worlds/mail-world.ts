import { Clock, Effect, Schema } from "effect"

import * as MemoryDeliveryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import { makeDeferrals } from "../../../src/adapters/memory/mail/deferrals.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import type { EventEntry, LogRow, RecordedEvent } from "../../../src/adapters/memory/mail/tables.ts"
import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import * as PostgresDeliveryLog from "../../../src/adapters/postgres/delivery/delivery-log.ts"
import { IdempotencyKey, KeyHash, KeyTag, LogRowId } from "../../../src/domain/ids.ts"
import { FailureKind } from "../../../src/domain/mail/failover.ts"
import { Attempt } from "../../../src/domain/mail/logged-attempt.ts"
import { Provider } from "../../../src/domain/mail/provider.ts"
import { SendStatus } from "../../../src/domain/mail/send-result.ts"
import { EmailStatus } from "../../../src/domain/mail/status.ts"
import { type Suppression, SuppressionReason } from "../../../src/domain/mail/suppression/policy.ts"
import { DeliveryLog } from "../../../src/ports/delivery/delivery-log.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { anyId } from "../any-id.ts"
import { clockAhead } from "../later.ts"

/** A mail store with its database in sight, and a clock that can be moved. */
export interface MailWorld {
  readonly store: MailStore["Service"]
  readonly recordEvent: (entry: EventEntry) => Effect.Effect<RecordedEvent>
  readonly recordEvents: (entries: ReadonlyArray<EventEntry>) => Effect.Effect<ReadonlyArray<RecordedEvent>>
  readonly releaseAlert: (sendId: string) => Effect.Effect<boolean>
  readonly confirmAlert: (sendId: string) => Effect.Effect<boolean>
  /** Claims the alert that is due for longest. */
  readonly claimDueAlert: Effect.Effect<object | undefined>
  /** The mail that a delivery report names. */
  readonly mailOfReport: DeliveryLog["Service"]["mailOfReport"]
  /** The key under which a mail is asked for now, and what became of it. */
  readonly openKey: (key: string) => Effect.Effect<OpenKey>
  /** All rows, oldest first. */
  readonly rows: Effect.Effect<ReadonlyArray<LogRow>>
  readonly suppressions: Effect.Effect<ReadonlyArray<Suppression>>
  readonly suppress: (suppression: Suppression) => Effect.Effect<void>
  readonly unsuppress: (email: string) => Effect.Effect<void>
  /** Takes the address off all outreach, as its link does. */
  readonly unsubscribe: (email: string) => Effect.Effect<void>
  /** Takes the address off one mailing list. */
  readonly leaveList: (email: string, list: string) => Effect.Effect<void>
  /** Erases a person: the address leaves the list, and still blocks. */
  readonly erase: (email: string) => Effect.Effect<void>
  /** What housekeeping does to claims that have expired. */
  readonly purgeClaims: Effect.Effect<void>
  /** Lets time pass for claims, leases and rows. */
  readonly advance: (ms: number) => Effect.Effect<void>
  /** Other adapters of the same database, when they ask what time it is. */
  readonly inItsTime: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The in-memory store on a clock of its own, which also moves by a millisecond with every call. */
export const makeMemoryWorld: Effect.Effect<MailWorld> = Effect.gen(function* () {
  const database = makeMailDatabase()
  const real = yield* Clock.Clock
  let offsetMs = 0
  const clock = clockAhead(real, () => offsetMs)
  const at = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      offsetMs += 1
      return Effect.provideService(effect, Clock.Clock, clock)
    })
  const { store } = database
  return {
    store: MailStore.of({
      configured: true,
      begin: (entry) => at(store.begin(entry)),
      moveClaim: (entry) => at(store.moveClaim(entry)),
      findEvidence: (entry) => at(store.findEvidence(entry)),
      deferralEnd: (entry) => at(store.deferralEnd(entry)),
      beginRetry: (entry) => at(store.beginRetry(entry)),
      record: (entry) => at(store.record(entry)),
      noteUnclaimed: store.noteUnclaimed,
      noteSign: (provider, sign) => at(store.noteSign(provider, sign)),
      tagSecret: store.tagSecret
    }),
    recordEvent: (entry) => at(database.recordEvent(entry)),
    recordEvents: (entries) => Effect.forEach(entries, (entry) => at(database.recordEvent(entry))),
    releaseAlert: (sendId) => at(database.releaseAlert(anyId(sendId))),
    confirmAlert: (sendId) => at(database.confirmAlert(anyId(sendId))),
    claimDueAlert: at(database.claimDueAlert),
    mailOfReport: (mail, addresses) =>
      DeliveryLog.use((log) => log.mailOfReport(mail, addresses)).pipe(
        Effect.provide(MemoryDeliveryLog.layer(database)),
        at
      ),
    openKey: (key) => at(Effect.orDie(makeDeferrals(database).openKey(key))),
    rows: Effect.sync(database.rows),
    suppressions: Effect.sync(database.suppressions),
    suppress: (suppression) => Effect.sync(() => database.suppress(suppression)),
    unsuppress: (email) => Effect.sync(() => void database.unsuppress(email)),
    unsubscribe: (email) => Effect.sync(() => database.unsubscribe(email)),
    leaveList: (email, list) => Effect.sync(() => database.leaveList(email, list)),
    erase: (email) => at(database.erase(email)),
    inItsTime: at,
    purgeClaims: Effect.asVoid(at(database.purgeClaims)),
    advance: (ms) =>
      Effect.sync(() => {
        offsetMs += ms
      })
  }
})

const Account = Schema.Struct({ event: Schema.String, at: Schema.Number, raw: Schema.Unknown })
const Row = Schema.Struct({
  id: LogRowId,
  category: Schema.Literals(["auth", "transactional", "notification", "alert", "marketing", "unknown"]),
  source: Schema.NullOr(Schema.String),
  from: Schema.NullOr(Schema.String),
  to: Schema.Array(Schema.String),
  others: Schema.Array(Schema.String),
  dropped: Schema.Array(Schema.String),
  recipientCount: Schema.NullOr(Schema.Int),
  subject: Schema.NullOr(Schema.String),
  outcome: Schema.NullOr(SendStatus),
  status: EmailStatus,
  provider: Schema.NullOr(Provider),
  providerMessageId: Schema.NullOr(Schema.String),
  lastEvent: Schema.NullOr(Schema.String),
  lastEventAt: Schema.NullOr(Schema.Number),
  raw: Schema.Unknown,
  error: Schema.NullOr(Schema.String),
  errorKind: Schema.NullOr(FailureKind),
  failedOver: Schema.Boolean,
  costUsd: Schema.NullOr(Schema.Number),
  acceptedCostUsd: Schema.NullOr(Schema.Number),
  idempotencyKey: Schema.NullOr(IdempotencyKey),
  keyHash: Schema.NullOr(KeyHash),
  keyTag: Schema.NullOr(KeyTag),
  alertedAt: Schema.NullOr(Schema.Number),
  suppressionMarks: Schema.Array(Schema.String),
  entryId: Schema.NullOr(Schema.String),
  accounts: Schema.NullOr(Schema.Struct({ received: Schema.NullOr(Account), listed: Account })),
  retryAt: Schema.NullOr(Schema.Number),
  attempts: Schema.Array(Attempt),
  traceparent: Schema.NullOr(Schema.String),
  events: Schema.Array(Schema.Struct({ ...Account.fields, number: Schema.Int, listed: Schema.Boolean })),
  createdAt: Schema.Number
})
const account = (
  slot: string
) => `case when accounts ->> '${slot}' is not null then (accounts -> '${slot}') - 'moment'
  || jsonb_build_object('at', extract(epoch from (accounts -> '${slot}' ->> 'moment')::timestamptz)::float8 * 1000) end`
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const Event = Schema.Struct({
  sendId: LogRowId,
  status: EmailStatus,
  alert: Schema.Boolean,
  backfilled: Schema.Boolean,
  category: Schema.NullOr(Schema.String),
  source: Schema.NullOr(Schema.String)
})
const decodeEvents = Schema.decodeUnknownEffect(Schema.Array(Event))
const decodeSuppressions = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ email: Schema.String, reason: SuppressionReason }))
)

const OpenKey = Schema.Struct({ key: Schema.String, state: Schema.Literals(["new", "deferred", "sent"]) })
type OpenKey = typeof OpenKey.Type
const decodeOpenKey = Schema.decodeUnknownEffect(Schema.Array(OpenKey))

const eventJson = (entry: EventEntry) => ({
  provider: entry.provider,
  provider_message_id: entry.providerMessageId,
  event: entry.event,
  occurred_at: entry.occurredAt === undefined ? null : new Date(entry.occurredAt).toISOString(),
  recipients: entry.recipients,
  subject: entry.subject,
  from: entry.from,
  reason: entry.reason,
  raw: entry.raw,
  key_tag: entry.keyTag,
  bounce_type: entry.bounceType,
  suppress: entry.suppress,
  alertable: entry.alertable,
  category: entry.category,
  backfill: entry.backfill,
  listed: entry.listed
})

/** The store of the context on its PostgreSQL. Time passes by moving what is stored into the past. */
export const makePostgresWorld: Effect.Effect<MailWorld, never, MailStore | WriteSql> = Effect.gen(
  function* () {
    const store = yield* MailStore
    const sql = yield* WriteSql
    const recordEvents = (entries: ReadonlyArray<EventEntry>) =>
      sql`select send_id as "sendId", status, alert, backfilled, category, source
      from record_email_events(${JSON.stringify(entries.map(eventJson))}::jsonb) order by ordinal`.pipe(
        Effect.flatMap(decodeEvents),
        Effect.map((recorded) =>
          recorded.map(({ category, source, ...one }) => ({
            ...one,
            category: category ?? undefined,
            source: source ?? undefined
          }))
        ),
        Effect.orDie
      )
    return {
      store,
      recordEvents,
      recordEvent: (entry) => Effect.map(recordEvents([entry]), ([recorded]) => recorded!),
      releaseAlert: (sendId) =>
        sql`select release_email_alert(${sendId}::uuid) as released`.pipe(
          Effect.map(([row]) => row?.["released"] === true),
          Effect.orDie
        ),
      confirmAlert: (sendId) =>
        sql`select confirm_email_alert(${sendId}::uuid) as confirmed`.pipe(
          Effect.map(([row]) => row?.["confirmed"] === true),
          Effect.orDie
        ),
      claimDueAlert: sql`select send_id as "sendId", details from claim_due_email_alerts(1)`.pipe(
        Effect.map(([row]) => row && { sendId: row["sendId"], ...Object(row["details"]) }),
        Effect.orDie
      ),
      mailOfReport: (mail, addresses) =>
        DeliveryLog.use((log) => log.mailOfReport(mail, addresses)).pipe(
          Effect.provide(PostgresDeliveryLog.layer),
          Effect.provideService(WriteSql, sql)
        ),
      openKey: (key) =>
        sql`select key, state from email_open_key(${key})`.pipe(
          Effect.flatMap(decodeOpenKey),
          Effect.map(([open]) => open!),
          Effect.orDie
        ),
      rows: sql
        .unsafe(`select id, category, source, from_address as "from", to_addresses as "to", other_addresses as others, dropped_addresses as dropped,
        recipient_count as "recipientCount", subject, outcome, status, provider,
        provider_message_id as "providerMessageId", last_event as "lastEvent",
        extract(epoch from last_event_at)::float8 * 1000 as "lastEventAt", raw, error, error_kind as "errorKind",
        failed_over as "failedOver", cost_usd::float8 as "costUsd", accepted_cost_usd::float8 as "acceptedCostUsd", idempotency_key as "idempotencyKey",
        key_hash as "keyHash", key_tag as "keyTag", extract(epoch from alerted_at)::float8 * 1000 as "alertedAt",
        suppression_marks as "suppressionMarks", entry_id as "entryId",
        case when accounts is not null then
          jsonb_build_object('received', ${account("received")}, 'listed', ${account("listed")}) end as accounts,
        extract(epoch from retry_at)::float8 * 1000 as "retryAt",
        coalesce(attempts, '[]') as attempts,
        traceparent,
        coalesce((select jsonb_agg(jsonb_build_object('number', e.number, 'event', e.event,
          'at', extract(epoch from e.occurred_at)::float8 * 1000, 'listed', e.listed, 'raw', e.raw) order by e.number)
          from email_events e where e.send_id = email_log.id), '[]') as events,
        extract(epoch from created_at)::float8 * 1000 as "createdAt"
      from email_log order by created_at, id`)
        .pipe(Effect.flatMap(decodeRows), Effect.orDie),
      suppressions: sql`select email, reason from email_suppressions order by created_at, email, reason`.pipe(
        Effect.flatMap(decodeSuppressions),
        Effect.orDie
      ),
      suppress: ({ email, reason }) =>
        sql`insert into email_suppressions (email, reason) values (${email}, ${reason}) on conflict do nothing`.pipe(
          Effect.orDie
        ),
      inItsTime: (effect) => effect,
      unsuppress: (email) => Effect.orDie(sql`delete from email_suppressions where email = ${email}`),
      unsubscribe: (email) => Effect.orDie(sql`select record_unsubscribe(${email}, 'spring')`),
      leaveList: (email, list) =>
        Effect.orDie(sql`insert into list_unsubscribes (email, list) values (${email}, ${list})`),
      erase: (email) => Effect.orDie(sql`select erase_person(${email}, 'admin')`),
      purgeClaims: Effect.asVoid(Effect.orDie(sql`select purge_email_claims()`)),
      advance: (ms) =>
        Effect.orDie(
          Effect.andThen(
            sql`update email_send_claims set
            lease_until = lease_until - make_interval(secs => ${ms / 1000}::float8),
            first_attempt_at = first_attempt_at - make_interval(secs => ${ms / 1000}::float8),
            last_attempt_at = last_attempt_at - make_interval(secs => ${ms / 1000}::float8)`,
            sql`with a as (update email_alerts set due_at = due_at - make_interval(secs => ${ms / 1000}::float8)),
              b as (update admin_audit_log set created_at = created_at - make_interval(secs => ${ms / 1000}::float8))
              update email_log set created_at = created_at - make_interval(secs => ${ms / 1000}::float8)`
          )
        )
    }
  }
)
