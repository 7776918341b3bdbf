import {
  type DeliveryEvent,
  ignored,
  ignoredWithWarning,
  type IncomingEvent,
  recordable
} from "../../domain/delivery/delivery-event.ts"
import {
  bareAddressesOf,
  bareAddressOf,
  type Fields,
  fieldsOf,
  idOf,
  keyTagOf,
  listOf,
  tagsOf,
  textOf,
  timeOf
} from "../../domain/delivery/untrusted.ts"
import { KEY_TAG } from "../../domain/mail/tag.ts"

/** Names of SES's own tags. */
const OWN_TAG = "ses:"
const CONFIGURATION_SET = "ses:configuration-set"

interface Meaning {
  readonly event: string
  /** The object of this event type, with its own time. */
  readonly part: Fields
  readonly reason?: string | undefined
  readonly bounceType?: string | undefined
  readonly suppress?: ReadonlyArray<string> | undefined
}

const emailsOf = (value: unknown): ReadonlyArray<string> | undefined => {
  const addresses = bareAddressesOf(listOf(value).map((one) => fieldsOf(one)["emailAddress"]))
  return addresses.length === 0 ? undefined : addresses
}

const bounce = (part: Fields): Meaning => {
  const type = textOf(part["bounceType"])
  const [first] = listOf(part["bouncedRecipients"])
  const kind = [type, textOf(part["bounceSubType"])].filter((text) => text !== undefined).join("/")
  const parts = [kind, textOf(fieldsOf(first)["diagnosticCode"]) ?? ""].filter((text) => text !== "")
  const permanent = type?.toLowerCase() === "permanent"
  return {
    event: permanent ? "bounced" : "bounce_transient",
    part,
    reason: parts.length === 0 ? undefined : parts.join(": "),
    bounceType: type,
    suppress: permanent ? emailsOf(part["bouncedRecipients"]) : undefined
  }
}

const complaint = (part: Fields): Meaning => {
  const type = textOf(part["complaintFeedbackType"])
  // `not-spam`: the recipient said that the mail is no spam.
  if (type === "not-spam") return { event: "complaint_not_spam", part }
  return {
    event: "complained",
    part,
    reason: type === undefined ? undefined : `complaint: ${type}`,
    suppress: emailsOf(part["complainedRecipients"])
  }
}

/** The event in the core's terms (EVENT-4); `undefined` for types that are not logged. */
const meaningOf = (detail: Fields): Meaning | undefined => {
  switch (detail["eventType"]) {
    case "Send":
      return { event: "sent", part: { timestamp: fieldsOf(detail["mail"])["timestamp"] } }
    case "Delivery":
      return { event: "delivered", part: fieldsOf(detail["delivery"]) }
    case "DeliveryDelay":
      return { event: "delivery_delayed", part: fieldsOf(detail["deliveryDelay"]) }
    case "Bounce":
      return bounce(fieldsOf(detail["bounce"]))
    case "Complaint":
      return complaint(fieldsOf(detail["complaint"]))
    case "Reject": {
      const part = fieldsOf(detail["reject"])
      return { event: "failed", part, reason: textOf(part["reason"]) }
    }
    case "Rendering Failure": {
      const part = fieldsOf(detail["failure"])
      return { event: "failed", part, reason: textOf(part["errorMessage"]) }
    }
    case "Open":
      return { event: "opened", part: fieldsOf(detail["open"]) }
    case "Click":
      return { event: "clicked", part: fieldsOf(detail["click"]) }
    default:
      return undefined
  }
}

const decodeOne = (envelope: Fields, outreachSet: string | undefined): IncomingEvent => {
  const detail = fieldsOf(envelope["detail"])
  // A rule's input transformer may have left the source out.
  const { source = "aws.ses" } = envelope
  const meaning = source === "aws.ses" ? meaningOf(detail) : undefined
  if (meaning === undefined) return ignored("not a delivery event")
  const mail = fieldsOf(detail["mail"])
  const messageId = idOf(mail["messageId"])
  if (messageId === undefined) return ignoredWithWarning("the event has no message id")
  const common = fieldsOf(mail["commonHeaders"])
  // Values are lists, of one each.
  const values = Object.entries(fieldsOf(mail["tags"])).map(
    ([name, value]) => [name, listOf(value)[0]] as const
  )
  const tags = tagsOf(values.filter(([name]) => !name.startsWith(OWN_TAG)))
  const outreach = values.some(
    ([name, value]) => name === CONFIGURATION_SET && outreachSet !== undefined && value === outreachSet
  )
  const event: DeliveryEvent = {
    provider: "provider_b",
    providerMessageId: messageId,
    event: meaning.event,
    occurredAt: timeOf(meaning.part["timestamp"]) ?? timeOf(envelope["time"]),
    recipients: bareAddressesOf(mail["destination"]),
    from: bareAddressOf(listOf(common["from"])[0]) ?? bareAddressOf(mail["source"]),
    subject: textOf(common["subject"]),
    reason: meaning.reason,
    keyTag: keyTagOf(tags[KEY_TAG]),
    bounceType: meaning.bounceType,
    suppress: meaning.suppress,
    alertable: !outreach,
    tags,
    raw: envelope
  }
  return recordable(event)
}

/** What EventBridge posts for SES, one envelope or a list, in the core's terms and in their order. Total: never throws. */
export const decodeBusEvents = (
  body: unknown,
  options: { readonly outreachSet: string | undefined }
): ReadonlyArray<IncomingEvent> =>
  (Array.isArray(body) ? body : [body]).map((one) => decodeOne(fieldsOf(one), options.outreachSet))
