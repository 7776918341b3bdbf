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
  tagsOf,
  textOf,
  timeOf
} from "../../domain/delivery/untrusted.ts"
import { KEY_TAG } from "../../domain/mail/tag.ts"

const PREFIX = "email."
const INBOUND = "received"
const EVENT_NAME = /^[a-z0-9_.-]{1,100}$/i

/** `Permanent/General: the vendor's message`, as far as they are given. */
const bounceReason = (bounce: Fields): string | undefined => {
  const kind = [textOf(bounce["type"]), textOf(bounce["subType"])].filter((part) => part !== undefined)
  const parts = [kind.join("/"), textOf(bounce["message"]) ?? ""].filter((part) => part !== "")
  return parts.length === 0 ? undefined : parts.join(": ")
}

/** Failure reason for `email_log.error` (EVENT-12). */
const reasonOf = (name: string, data: Fields): string | undefined => {
  switch (name) {
    case "bounced":
      return bounceReason(fieldsOf(data["bounce"]))
    case "failed":
      return textOf(fieldsOf(data["failed"])["reason"])
    case "suppressed":
      return textOf(fieldsOf(data["suppressed"])["message"])
    default:
      return undefined
  }
}

/**
 * Resend's webhook body, verified and parsed, in the core's terms. Every `email.*` type counts, also one that does not exist yet;
 * inbound mail and everything else is ignored. Total: never throws.
 */
export const decodeWebhookEvent = (body: unknown): IncomingEvent => {
  const envelope = fieldsOf(body)
  const type = textOf(envelope["type"]) ?? ""
  const name = type.slice(PREFIX.length)
  if (!type.startsWith(PREFIX) || name === INBOUND || !EVENT_NAME.test(name)) {
    return ignored("not an event of outbound mail")
  }
  const data = fieldsOf(envelope["data"])
  const messageId = idOf(data["email_id"])
  if (messageId === undefined) return ignoredWithWarning("the event has no email id")
  const tags = tagsOf(Object.entries(fieldsOf(data["tags"])))
  const event: DeliveryEvent = {
    provider: "provider_a",
    providerMessageId: messageId,
    event: name,
    occurredAt: timeOf(envelope["created_at"]),
    recipients: bareAddressesOf(data["to"]),
    from: bareAddressOf(data["from"]),
    subject: textOf(data["subject"]),
    reason: reasonOf(name, data),
    keyTag: keyTagOf(tags[KEY_TAG]),
    bounceType: name === "bounced" ? textOf(fieldsOf(data["bounce"])["type"]) : undefined,
    suppress: undefined,
    alertable: true,
    tags,
    raw: body
  }
  return recordable(event)
}
