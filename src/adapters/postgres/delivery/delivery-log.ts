import { Effect, Exit, Layer, Result, Schedule, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

import type { DeliveryEvent, FailedSend } from "../../../domain/delivery/delivery-event.ts"
import { Provider } from "../../../domain/mail/failover.ts"
import { DeliveryLog, type LoggedEvent } from "../../../ports/delivery/delivery-log.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { answered, isAboutData, isTransient, storeUnavailable } from "../answered.ts"
import { makeBatcher } from "../batcher.ts"
import { WriteSql } from "../client.ts"
import { toJsonText } from "../values.ts"

/** The sender of an event waits five seconds at most for the answer: a lost connection or a deadlock is retried at once. */
const QUICK_RETRIES = Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 2 }))

const Row = Schema.Struct({
  ordinal: Schema.Int,
  send_id: Schema.String,
  status: Schema.String,
  alert: Schema.Boolean,
  backfilled: Schema.Boolean,
  category: Schema.NullOr(Schema.String),
  source: Schema.NullOr(Schema.String)
})
const decodeRows = Schema.decodeUnknownResult(Schema.Array(Row))
const decodeHeld = Schema.decodeUnknownResult(Schema.Tuple([Schema.Struct({ held: Schema.Boolean })]))

const TextOrNull = Schema.NullOr(Schema.String)
const decodeDue = Schema.decodeUnknownResult(
  Schema.Array(
    Schema.Struct({
      send_id: Schema.String,
      details: Schema.Struct({
        provider: Provider,
        providerMessageId: Schema.String,
        event: Schema.String,
        recipients: Schema.Array(Schema.String),
        subject: TextOrNull,
        category: TextOrNull,
        // Absent in claims of an earlier version.
        source: Schema.optionalKey(TextOrNull),
        reason: TextOrNull,
        occurredAt: TextOrNull
      })
    })
  )
)

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
  key_hash: event.keyHash,
  bounce_type: event.bounceType,
  suppress: event.suppress,
  alertable: event.alertable,
  category: event.tags["category"],
  backfill,
  listed
})

const failed = storeUnavailable

const quickly = <A>(operation: StoreUnavailable["operation"], statement: Effect.Effect<A, SqlError>) =>
  statement.pipe(
    Effect.retry({ schedule: QUICK_RETRIES, while: isTransient }),
    Effect.mapError(failed(operation))
  )

const make = Effect.gen(function* () {
  const write = yield* WriteSql
  const record = yield* makeBatcher<Entry, LoggedEvent, StoreUnavailable>({
    isAboutItem: ({ cause }) => isSqlError(cause) && isAboutData(cause),
    onOverflow: () => failed("record")("too many events wait to be recorded"),
    run: (items) =>
      quickly(
        "record",
        write`select * from record_email_events(${toJsonText(items.map(toEntry))}::jsonb)`
      ).pipe(
        Effect.flatMap((rows) => Effect.fromResult(Result.mapError(decodeRows(rows), failed("record")))),
        Effect.map((rows) => {
          const byOrdinal = new Map(rows.map((row) => [row.ordinal, row]))
          return items.map((_, index): Exit.Exit<LoggedEvent, StoreUnavailable> => {
            const row = byOrdinal.get(index + 1)
            return row === undefined
              ? Exit.fail(failed("record")("the database did not answer this event"))
              : Exit.succeed({
                  sendId: row.send_id,
                  status: row.status,
                  alert: row.alert,
                  backfilled: row.backfilled,
                  category: row.category ?? undefined,
                  source: row.source ?? undefined
                })
          })
        })
      )
  })
  const settle = (operation: StoreUnavailable["operation"], statement: Effect.Effect<unknown, SqlError>) =>
    quickly(operation, statement).pipe(
      Effect.flatMap((rows) => Effect.fromResult(Result.mapError(decodeHeld(rows), failed(operation)))),
      Effect.map(([{ held }]) => held)
    )

  return DeliveryLog.of({
    record: (event, options) =>
      record({ event, backfill: options?.backfill ?? false, listed: options?.polled ?? false }),
    heard: (provider) =>
      Effect.asVoid(quickly("heard", answered(write`select note_event_intake(${provider})`))),
    releaseAlert: (sendId) =>
      settle("releaseAlert", write`select release_email_alert(${sendId}::uuid) as held`),
    confirmAlert: (sendId) =>
      settle("confirmAlert", write`select confirm_email_alert(${sendId}::uuid) as held`),
    // Not retried: a claim whose answer is lost becomes due again when its lease ends.
    claimDueAlert: answered(write`select send_id, details from claim_due_email_alerts(1)`).pipe(
      Effect.mapError(failed("claimDueAlert")),
      Effect.flatMap((rows) => Effect.fromResult(Result.mapError(decodeDue(rows), failed("claimDueAlert")))),
      Effect.map(([due]): FailedSend | undefined =>
        due === undefined
          ? undefined
          : {
              sendId: due.send_id,
              provider: due.details.provider,
              providerMessageId: due.details.providerMessageId,
              event: due.details.event,
              recipients: due.details.recipients,
              subject: due.details.subject ?? undefined,
              category: due.details.category ?? undefined,
              source: due.details.source ?? undefined,
              reason: due.details.reason ?? undefined,
              occurredAt: due.details.occurredAt ?? undefined
            }
      )
    )
  })
})

/** The delivery log on PostgreSQL; events are batched, two calls under way at most. */
export const layer: Layer.Layer<DeliveryLog, never, WriteSql> = Layer.effect(DeliveryLog, make)
