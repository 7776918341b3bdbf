import { Effect, Exit, Layer, Result, Schedule, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

import type { DeliveryEvent } from "../../domain/delivery/delivery-event.ts"
import { DeliveryLog, DeliveryLogError, type LoggedEvent } from "../../ports/delivery-log.ts"
import { makeBatcher } from "./batcher.ts"
import { WriteSql } from "./client.ts"
import { toJsonText } from "./json-text.ts"
import { isAboutData, isTransient } from "./sql-failure.ts"

/** Whoever posts an event waits for its answer, five seconds at most: a cut connection or a deadlock is tried again at once. */
const QUICK_RETRIES = Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 2 }))

const Row = Schema.Struct({
  ordinal: Schema.Int,
  send_id: Schema.String,
  status: Schema.String,
  alert: Schema.Boolean,
  backfilled: Schema.Boolean
})
const decodeRows = Schema.decodeUnknownResult(Schema.Array(Row))
const decodeReleased = Schema.decodeUnknownResult(Schema.Tuple([Schema.Struct({ released: Schema.Boolean })]))

interface Entry {
  readonly event: DeliveryEvent
  readonly backfill: boolean
}

/** The entry of `record_email_events`. */
const toEntry = ({ backfill, event }: Entry) => ({
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
  backfill
})

const failed = (operation: DeliveryLogError["operation"]) => (cause: unknown) =>
  new DeliveryLogError({ operation, cause })

const quickly = <A>(operation: DeliveryLogError["operation"], statement: Effect.Effect<A, SqlError>) =>
  statement.pipe(
    Effect.retry({ schedule: QUICK_RETRIES, while: isTransient }),
    Effect.mapError(failed(operation))
  )

const make = Effect.gen(function* () {
  const write = yield* WriteSql
  const record = yield* makeBatcher<Entry, LoggedEvent, DeliveryLogError>({
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
          return items.map((_, index): Exit.Exit<LoggedEvent, DeliveryLogError> => {
            const row = byOrdinal.get(index + 1)
            return row === undefined
              ? Exit.fail(failed("record")("the database did not answer this event"))
              : Exit.succeed({
                  sendId: row.send_id,
                  status: row.status,
                  alert: row.alert,
                  backfilled: row.backfilled
                })
          })
        })
      )
  })
  return DeliveryLog.of({
    record: (event, options) => record({ event, backfill: options?.backfill ?? false }),
    releaseAlert: (sendId) =>
      quickly("releaseAlert", write`select release_email_alert(${sendId}::uuid) as released`).pipe(
        Effect.flatMap((rows) =>
          Effect.fromResult(Result.mapError(decodeReleased(rows), failed("releaseAlert")))
        ),
        Effect.map(([{ released }]) => released)
      )
  })
})

/** The delivery log on PostgreSQL; events are batched, two calls under way at most. */
export const layer: Layer.Layer<DeliveryLog, never, WriteSql> = Layer.effect(DeliveryLog, make)
