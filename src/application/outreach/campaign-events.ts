import { Context, Effect, Layer } from "effect"

import type { DeliveryEvent } from "../../domain/delivery/delivery-event.ts"
import { fieldsOf, textOf } from "../../domain/delivery/untrusted.ts"
import { OUTREACH_PROVIDER } from "../../domain/mail/provider.ts"
import { CampaignBook } from "../../ports/outreach/campaign-book.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"

/** The tag of an outreach send that names its row in `email_sends`. */
export const SEND_TAG = "outreach_send"

/** The tag that names its campaign. */
export const CAMPAIGN_TAG = "campaign"

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Whether an event is about a campaign send: one that carries the tag of the outreach configuration set, and so never alerts. */
const isCampaignEvent = ({ alertable, provider }: DeliveryEvent): boolean =>
  provider === OUTREACH_PROVIDER && !alertable

/** Updates the tables of campaign sends, after their events are in the log (EVENT-70). */
export class CampaignEvents extends Context.Service<
  CampaignEvents,
  {
    /** Records the event where it is about a campaign send. Safe to repeat, after a failure or for a duplicate. */
    readonly record: (event: DeliveryEvent) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/application/CampaignEvents") {}

export const layer: Layer.Layer<CampaignEvents, never, CampaignBook> = Layer.effect(
  CampaignEvents,
  Effect.map(CampaignBook, (book) =>
    CampaignEvents.of({
      record: (event) => {
        if (!isCampaignEvent(event)) return Effect.void
        const sendId = event.tags[SEND_TAG]
        return Effect.asVoid(
          book.record({
            providerMessageId: event.providerMessageId,
            event: event.event,
            occurredAt: event.occurredAt,
            eventId: textOf(fieldsOf(event.raw)["id"]),
            sendId: sendId !== undefined && UUID.test(sendId) ? sendId.toLowerCase() : undefined,
            campaign: event.tags[CAMPAIGN_TAG],
            subject: event.subject,
            recipients: event.recipients,
            // An event covers the whole mail: without a name, only a single recipient can be meant (as in P1).
            affected: event.suppress ?? (event.recipients.length === 1 ? event.recipients : [])
          })
        )
      }
    })
  )
)
