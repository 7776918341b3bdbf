import { Effect, Exit, Layer, Schema } from "effect"

import { MAX_CHANNEL_TRIES } from "../../../domain/delivery/alert-policy.ts"
import type { DeliveryEvent, FailedSend } from "../../../domain/delivery/delivery-event.ts"
import { LogRowId } from "../../../domain/ids.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { DeliveryLog, type LoggedEvent } from "../../../ports/delivery/delivery-log.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { makeBatcher } from "../batcher.ts"
import { WriteSql } from "../client.ts"
import { isAboutData, statements, storeUnavailable } from "../statement.ts"
import { Absent, toJsonText } from "../values.ts"

/** Idempotent by the events themselves; the sender of an event waits five seconds at most for the answer. */
const ask = statements({ repeatable: true })

/** A claim is not repeated: when its answer is lost, it becomes due again once the lease ends. */
const claims = statements()

const Row = Schema.Struct({
  ordinal: Schema.Int,
  sendId: LogRowId,
  status: Schema.String,
  alert: Schema.Boolean,
  backfilled: Schema.Boolean,
  category: Absent(Schema.String),
  source: Absent(Schema.String)
})

const ReportRow = Schema.Struct({ known: Schema.Boolean, recipients: Absent(Schema.Array(Schema.String)) })

/** An alert that is due, with the event as it was recorded. */
const DueRow = Schema.Struct({
  sendId: LogRowId,
  details: Schema.Struct({
    provider: Provider,
    providerMessageId: Schema.String,
    event: Schema.String,
    recipients: Schema.Array(Schema.String),
    subject: Absent(Schema.String),
    category: Absent(Schema.String),
    // Absent in claims of an earlier version.
    source: Schema.optionalKey(Absent(Schema.String)),
    reason: Absent(Schema.String),
    occurredAt: Absent(Schema.String),
    taken: Schema.optionalKey(Schema.Array(Schema.String))
  })
})

interface Entry {
  readonly event: DeliveryEvent
  readonly backfill: boolean
  readonly listed: boolean
}

/** The entry of `record_email_events`. */
const toEntry = ({ backfill, event, listed }: Entry) => ({
  provider: event.provider,
  provider_message_id: event.providerMessageId,
  event: event.event,
  occurred_at: event.occurredAt === undefined ? undefined : new Date(event.occurredAt).toISOString(),
  recipients: event.recipients,
  subject: event.subject,
  from: event.from,
  reason: event.reason,
  raw: event.raw,
  key_tag: event.keyTag,
  bounce_type: event.bounceType,
  suppress: event.suppress,
  alertable: event.alertable,
  category: event.tags["category"],
  backfill,
  listed
})

const make = Effect.gen(function* () {
  const write = yield* WriteSql
  const record = yield* makeBatcher<Entry, LoggedEvent, StoreUnavailable>({
    isAboutItem: isAboutData,
    onOverflow: () => storeUnavailable("recordEvents")("too many events wait to be recorded"),
    run: (items) =>
      Effect.map(
        ask.rows(
          "recordEvents",
          Row,
          write`select * from record_email_events(${toJsonText(items.map(toEntry))}::jsonb)`
        ),
        (rows) => {
          const byOrdinal = new Map(rows.map(({ ordinal, ...event }) => [ordinal, event]))
          return items.map((_, index): Exit.Exit<LoggedEvent, StoreUnavailable> => {
            const event = byOrdinal.get(index + 1)
            return event === undefined
              ? Exit.fail(storeUnavailable("recordEvents")("the database did not answer this event"))
              : Exit.succeed(event)
          })
        }
      )
  })

  return DeliveryLog.of({
    record: (event, options) =>
      record({ event, backfill: options?.backfill ?? false, listed: options?.polled ?? false }),
    heard: (provider) => ask.done("noteIntake", write`select note_event_intake(${provider})`),
    mailOfReport: ({ keyTag, messageId }, addresses) =>
      Effect.map(
        ask.first(
          "mailOfReport",
          ReportRow,
          write`select known, recipients from mail_of_report(${messageId}, ${keyTag}, ${[...addresses]}::text[])`
        ),
        (row) => (row?.known === true ? { recipients: row.recipients } : undefined)
      ),
    traceparent: (sendId) =>
      Effect.map(
        ask.first(
          "traceparent",
          Schema.Struct({ traceparent: Absent(Schema.String) }),
          write`select traceparent from email_log where id = ${sendId}::uuid`
        ),
        (row) => row?.traceparent
      ),
    releaseAlert: (sendId, taken = []) =>
      ask.answer(
        "releaseAlert",
        Schema.Boolean,
        write`select release_email_alert(${sendId}::uuid, ${taken}::text[], ${MAX_CHANNEL_TRIES}::int) as answer`
      ),
    confirmAlert: (sendId) =>
      ask.answer(
        "confirmAlert",
        Schema.Boolean,
        write`select confirm_email_alert(${sendId}::uuid) as answer`
      ),
    claimDueAlert: Effect.map(
      claims.first("claimDueAlert", DueRow, write`select send_id, details from claim_due_email_alerts(1)`),
      (due): FailedSend | undefined =>
        due && { sendId: due.sendId, ...due.details, source: due.details.source }
    )
  })
})

/** The delivery log on PostgreSQL; events are batched, two calls under way at most. */
export const layer: Layer.Layer<DeliveryLog, never, WriteSql> = Layer.effect(DeliveryLog, make)
