import { Effect, Layer, Schema } from "effect"

import { CAMPAIGN_SEND_STATUSES } from "../../../domain/outreach/campaign-status.ts"
import { CampaignBook, type CampaignEvent, Unsubscribes } from "../../../ports/outreach/campaign-book.ts"
import { WriteSql } from "../client.ts"
import { readLinkKey } from "../link-key.ts"
import { statements } from "../statement.ts"
import { storable, storableOrNull, TextOrNull, toJsonText } from "../values.ts"

/** Every function is idempotent, by its ids or by the address; somebody waits for the answer. */
const ask = statements({ repeatable: true })

const Begun = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Begun"), id: Schema.String, mailKey: Schema.String }),
  Schema.Struct({ _tag: Schema.Literal("Unsubscribed") }),
  Schema.Struct({
    _tag: Schema.Literal("Settled"),
    id: Schema.String,
    status: Schema.Literals(CAMPAIGN_SEND_STATUSES),
    providerMessageId: TextOrNull
  })
])

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
  return CampaignBook.of({
    record: (event) =>
      ask.answer(
        "recordCampaignEvent",
        Schema.Boolean,
        sql`select record_campaign_event(${toJsonText(toEntry(event))}::jsonb) as answer`
      ),
    begin: ({ campaign, email, idempotencyKey, name, subject }) =>
      ask.one(
        "beginOutreachSend",
        Begun,
        sql`select decision as _tag, id, status, provider_message_id, mail_key
          from begin_outreach_send(
            ${storable(email)}, ${storableOrNull(name)}, ${storable(campaign)}, ${storable(subject)},
            ${storable(idempotencyKey)})`
      ),
    finish: ({ error, errorKind, id, outcome, providerMessageId }) =>
      ask.done(
        "finishOutreachSend",
        sql`select finish_outreach_send(
          ${id}::uuid, ${outcome}, ${providerMessageId}, ${error === null ? null : storable(error)}, ${errorKind})`
      ),
    settle: ask.answer("settleOutreachSends", Schema.Int, sql`select settle_outreach_sends() as answer`)
  })
})

/** The campaigns' tables in Postgres; each operation is one SQL function. */
export const layer: Layer.Layer<CampaignBook, never, WriteSql> = Layer.effect(CampaignBook, make)

/** The table `unsubscribes` and the key of its links, in Postgres. */
export const layerUnsubscribes: Layer.Layer<Unsubscribes, never, WriteSql> = Layer.effect(
  Unsubscribes,
  Effect.map(WriteSql, (sql) =>
    Unsubscribes.of({
      key: readLinkKey(sql, "unsubscribe_keys"),
      add: ({ campaign, email }) =>
        ask.done(
          "addUnsubscribe",
          sql`select record_unsubscribe(${storable(email)}, ${storableOrNull(campaign)})`
        )
    })
  )
)
