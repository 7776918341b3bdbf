import {
  type DeliveryEvent,
  ignored,
  ignoredWithWarning,
  type IncomingEvent,
  recordable
} from "../../domain/delivery/delivery-event.ts"
import {
  bareAddressOf,
  type Fields,
  fieldsOf,
  idOf,
  keyTagOf,
  tagsOf,
  textOf,
  timeOf
} from "../../domain/delivery/untrusted.ts"
import { KEY_TAG } from "../../domain/mail/tag.ts"

interface Meaning {
  readonly event: string
  readonly occurredAt: number | undefined
  readonly recipient: string | undefined
  readonly reason?: string | undefined
  readonly bounceType?: string | undefined
  /** Whether the recipient is to get no more mail. */
  readonly suppresses?: boolean
}

/** A failure that stays, in the core's terms. */
const PERMANENT = "Permanent"

/** Bounces of an address that does not exist (Bounce API, "Bounce types"). */
const OF_ADDRESS: ReadonlySet<string> = new Set(["HardBounce", "BadEmailAddress"])

/** Refusals of the mail that say nothing against the address. */
const OF_MAIL: ReadonlySet<string> = new Set([
  "DMARCPolicy",
  "VirusNotification",
  "TemplateRenderingFailed",
  "SMTPApiError"
])

/** What somebody, or a program, answered: the mail arrived. */
const REPLIES: ReadonlySet<string> = new Set([
  "AutoResponder",
  "AddressChange",
  "ChallengeVerification",
  "OpenRelayTest",
  "Subscribe",
  "Unsubscribe"
])

/** `HardBounce: what the other server said`, or the part that is given. */
const reasonOf = ({ Description, Details, Type }: Fields): string | undefined => {
  const parts = [textOf(Type), textOf(Details) ?? textOf(Description)].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(": ")
}

/** A bounce in the core's terms, from the webhook or the list. Undefined for a reply. */
const bounce = (fields: Fields): Meaning | undefined => {
  const type = textOf(fields["Type"]) ?? ""
  if (REPLIES.has(type)) return undefined
  const meaning = {
    occurredAt: timeOf(fields["BouncedAt"]),
    recipient: bareAddressOf(fields["Email"]),
    reason: reasonOf(fields)
  }
  if (type === "SpamComplaint") return { ...meaning, event: "complained", suppresses: true }
  // Called "message delayed": it is tried again.
  if (type === "Transient") return { ...meaning, event: "delivery_delayed" }
  if (type === "ManuallyDeactivated") return { ...meaning, event: "suppressed" }
  if (OF_MAIL.has(type)) return { ...meaning, event: "bounced", bounceType: type }
  // An address that Postmark deactivates has failed for good, whatever the type is called.
  return OF_ADDRESS.has(type) || fields["Inactive"] === true
    ? { ...meaning, event: "bounced", bounceType: PERMANENT, suppresses: true }
    : { ...meaning, event: "bounce_transient", bounceType: type }
}

/** A change of the stream's suppression list that a mail caused. Where it was lifted, mail is not concerned. */
const subscriptionChange = (fields: Fields): Meaning | undefined => {
  if (fields["SuppressSending"] !== true) return undefined
  const meaning = { occurredAt: timeOf(fields["ChangedAt"]), recipient: bareAddressOf(fields["Recipient"]) }
  switch (fields["SuppressionReason"]) {
    case "HardBounce":
      return { ...meaning, event: "bounced", bounceType: PERMANENT, suppresses: true }
    case "SpamComplaint":
      return { ...meaning, event: "complained", suppresses: true }
    default:
      return { ...meaning, event: "unsubscribed" }
  }
}

/** The event in the core's terms (EVENT-6), or undefined: it is not logged. */
const meaningOf = (fields: Fields): Meaning | undefined => {
  const recipient = bareAddressOf(fields["Recipient"])
  switch (fields["RecordType"]) {
    case "Delivery":
      return { event: "delivered", occurredAt: timeOf(fields["DeliveredAt"]), recipient }
    case "Bounce":
    case "SpamComplaint":
      return bounce(fields)
    case "Open":
      return { event: "opened", occurredAt: timeOf(fields["ReceivedAt"]), recipient }
    case "Click":
      return { event: "clicked", occurredAt: timeOf(fields["ReceivedAt"]), recipient }
    case "SubscriptionChange":
      return subscriptionChange(fields)
    default:
      return undefined
  }
}

/**
 * Postmark's webhook body, parsed, in the core's terms. Each is about one recipient, whatever the mail had. The dump of a bounce, which can
 * repeat the mail, is not kept. Total: never throws.
 */
export const decodeWebhookEvent = (body: unknown): IncomingEvent => {
  const { Content: _, ...fields } = fieldsOf(body)
  const meaning = meaningOf(fields)
  if (meaning === undefined) return ignored("not a delivery event")
  const messageId = idOf(fields["MessageID"])
  if (messageId === undefined) {
    // Somebody changed the list by hand: no mail is concerned.
    return fields["RecordType"] === "SubscriptionChange"
      ? ignored("about no mail")
      : ignoredWithWarning("the event has no message id")
  }
  const tags = tagsOf(Object.entries(fieldsOf(fields["Metadata"])))
  const { recipient, suppresses = false } = meaning
  const event: DeliveryEvent = {
    provider: "postmark",
    providerMessageId: messageId,
    event: meaning.event,
    occurredAt: meaning.occurredAt,
    recipients: recipient === undefined ? [] : [recipient],
    from: bareAddressOf(fields["From"]),
    subject: textOf(fields["Subject"]),
    reason: meaning.reason,
    keyTag: keyTagOf(tags[KEY_TAG]),
    bounceType: meaning.bounceType,
    suppress: suppresses && recipient !== undefined ? [recipient] : undefined,
    alertable: true,
    tags,
    raw: fields
  }
  return recordable(event)
}
