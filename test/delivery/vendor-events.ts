import { randomUUID } from "node:crypto"

/** What a vendor reports of a mail, in the log's words; a bounce says which kind it is. */
export const HAPPENINGS = [
  "sent",
  "delivery_delayed",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "bounced softly",
  "complained",
  "failed"
] as const
export type Happening = (typeof HAPPENINGS)[number]

/** One mail and what happened to it, in order. */
export interface Story {
  readonly id: string
  readonly to: string
  readonly happened: ReadonlyArray<Happening>
}

/** Milliseconds since the epoch at which the event number `index` of a story occurred. */
export const occurredAt = (base: number, index: number): number => base + index * 1_000

/** The name that the log has for it. `provider_a` tells every bounce alike, `provider_b` tells the soft ones apart. */
export const eventName = (provider: "provider_a" | "provider_b", what: Happening): string =>
  what !== "bounced softly" ? what : provider === "provider_a" ? "bounced" : "bounce_transient"

/** Resend's webhook body. */
export const webhookBody = ({ id, to }: Story, what: Happening, at: number): string =>
  JSON.stringify({
    type: `email.${eventName("provider_a", what)}`,
    created_at: new Date(at).toISOString(),
    data: {
      email_id: id,
      from: "Shop <hello@shop.test>",
      to: [to],
      subject: "Your order",
      created_at: new Date(at).toISOString(),
      ...(what.startsWith("bounced")
        ? {
            bounce: {
              type: what === "bounced" ? "Permanent" : "Transient",
              subType: "General",
              message: "no"
            }
          }
        : {})
    }
  })

/** An item of Resend's list: the latest event without its time. */
export const listItem = ({ happened, id, to }: Story) => ({
  id,
  to: [to],
  from: "Shop <hello@shop.test>",
  subject: "Your order",
  created_at: new Date().toISOString(),
  last_event: eventName("provider_a", happened.at(-1) ?? "sent")
})

const SES: Readonly<Record<Happening, readonly [type: string, part: string, more: object]>> = {
  sent: ["Send", "send", {}],
  delivery_delayed: ["DeliveryDelay", "deliveryDelay", { delayType: "MailboxFull" }],
  delivered: ["Delivery", "delivery", {}],
  opened: ["Open", "open", {}],
  clicked: ["Click", "click", { link: "https://x.test" }],
  bounced: ["Bounce", "bounce", { bounceType: "Permanent", bounceSubType: "General" }],
  "bounced softly": ["Bounce", "bounce", { bounceType: "Transient", bounceSubType: "General" }],
  complained: ["Complaint", "complaint", { complaintFeedbackType: "abuse" }],
  failed: ["Reject", "reject", { reason: "Bad content" }]
}

/** The envelope of the event bus. */
export const busEnvelope = ({ id, to }: Story, what: Happening, at: number): object => {
  const [eventType, part, more] = SES[what]
  const timestamp = new Date(at).toISOString()
  const whom = [{ emailAddress: to }]
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": `Email ${eventType}`,
    source: "aws.ses",
    time: timestamp,
    detail: {
      eventType,
      mail: {
        // A send has no time of its own but this one; the others say when the mail was taken.
        timestamp,
        source: "hello@shop.test",
        messageId: id,
        destination: [to],
        commonHeaders: { from: ["hello@shop.test"], to: [to], subject: "Your order" },
        tags: { "ses:configuration-set": ["transactional-set"] }
      },
      [part]: {
        timestamp,
        ...(eventType === "Bounce" ? { bouncedRecipients: whom } : {}),
        ...(eventType === "Complaint" ? { complainedRecipients: whom } : {}),
        ...more
      }
    }
  }
}
