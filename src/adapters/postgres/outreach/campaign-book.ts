import { Effect, Layer, Schedule, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import { CAMPAIGN_SEND_STATUSES } from "../../../domain/outreach/campaign-status.ts"
import { CampaignBook, type CampaignEvent } from "../../../ports/outreach/campaign-book.ts"
import { answered, isTransient, storeUnavailable } from "../answered.ts"
import { WriteSql } from "../client.ts"
import { storable, toJsonText } from "../values.ts"

/** A lost connection or a deadlock is retried at once: the sender of the events waits for the answer. */
const QUICK_RETRIES = Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 2 }))

const Settled = Schema.NonEmptyArray(Schema.Struct({ settled: Schema.Int }))

const Recorded = Schema.NonEmptyArray(Schema.Struct({ recorded: Schema.Boolean }))

const Begun = Schema.NonEmptyArray(
  Schema.Union([
    Schema.Struct({ decision: Schema.Literal("Begun"), id: Schema.String, mail_key: Schema.String }),
    Schema.Struct({ decision: Schema.Literal("Unsubscribed") }),
    Schema.Struct({
      decision: Schema.Literal("Settled"),
      id: Schema.String,
      status: Schema.Literals(CAMPAIGN_SEND_STATUSES),
      provider_message_id: Schema.NullOr(Schema.String)
    })
  ])
)

/** The keys of `record_campaign_event`. */
const toEntry = (event: CampaignEvent) => ({
  provider_message_id: event.providerMessageId,
  event: event.event,
  occurred_at: event.occurredAt === undefined ? undefined : new Date(event.occurredAt).toISOString(),
  event_id: event.eventId,
  send_id: event.sendId,
  campaign: event.campaign,
  subject: event.subject,
  recipients: event.recipients,
  affected: event.affected
})

const make = Effect.gen(function* () {
  const sql = yield* WriteSql

  const ask = <A>(statement: Effect.Effect<A, SqlError>) =>
    answered(statement).pipe(
      Effect.retry({ schedule: QUICK_RETRIES, while: isTransient }),
      Effect.mapError(storeUnavailable("campaigns"))
    )

  const decoded =
    <S extends Schema.ConstraintDecoder<unknown>>(schema: S) =>
    (rows: unknown) =>
      Effect.mapError(Schema.decodeUnknownEffect(schema)(rows), storeUnavailable("campaigns"))

  return CampaignBook.of({
    record: (event) =>
      ask(sql`select record_campaign_event(${toJsonText(toEntry(event))}::jsonb) as recorded`).pipe(
        Effect.flatMap(decoded(Recorded)),
        Effect.map(([{ recorded }]) => recorded)
      ),
    begin: ({ campaign, email, idempotencyKey, name, subject }) =>
      ask(sql`select decision, id, status, provider_message_id, mail_key
        from begin_outreach_send(
          ${storable(email)}, ${name === undefined ? null : storable(name)}, ${storable(campaign)},
          ${storable(subject)}, ${storable(idempotencyKey)})`).pipe(
        Effect.flatMap(decoded(Begun)),
        Effect.map(([row]) => {
          switch (row.decision) {
            case "Begun":
              return { _tag: row.decision, id: row.id, mailKey: row.mail_key }
            case "Unsubscribed":
              return { _tag: row.decision }
            case "Settled":
              return {
                _tag: row.decision,
                id: row.id,
                status: row.status,
                providerMessageId: row.provider_message_id
              }
          }
        })
      ),
    finish: ({ error, errorKind, id, outcome, providerMessageId }) =>
      Effect.asVoid(
        ask(sql`select finish_outreach_send(
          ${id}::uuid, ${outcome}, ${providerMessageId}, ${error === null ? null : storable(error)}, ${errorKind})`)
      ),
    settle: ask(sql`select settle_outreach_sends() as settled`).pipe(
      Effect.flatMap(decoded(Settled)),
      Effect.map(([{ settled }]) => settled)
    )
  })
})

/** The campaigns' tables in Postgres; each operation is one SQL function. */
export const layer: Layer.Layer<CampaignBook, never, WriteSql> = Layer.effect(CampaignBook, make)
