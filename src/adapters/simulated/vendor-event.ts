import { randomUUID } from "node:crypto"

import { Redacted } from "effect"
import { Webhook } from "standardwebhooks"

import { type Provider, type ReportingProvider, reports } from "../../domain/mail/provider.ts"
import { encodeTag } from "../../domain/mail/tag.ts"
import type { SimulatedEventType, SimulatedEvent } from "../../ports/mail/simulated-mail.ts"

const VENDOR: Readonly<
  Record<
    ReportingProvider,
    { readonly domain: string; readonly types: ReadonlyMap<string, SimulatedEventType> }
  >
> = {
  provider_a: {
    domain: "resend.dev",
    types: new Map([
      ["delivered", "delivered"],
      ["bounced", "bounced"],
      ["complained", "complained"],
      ["suppressed", "suppressed"]
    ])
  },
  provider_b: {
    domain: "simulator.amazonses.com",
    types: new Map([
      ["success", "delivered"],
      ["bounce", "bounced"],
      ["complaint", "complained"],
      ["suppressionlist", "suppressed"]
    ])
  },
  // Its own test addresses send bounces alone.
  postmark: {
    domain: "bounce-testing.postmarkapp.com",
    types: new Map([
      ["hardbounce", "bounced"],
      ["spamcomplaint", "complained"]
    ])
  }
}

/** What the vendor's own test address simulates, with or without a `+label`; `undefined` for every other address. */
export const testAddressType = (provider: Provider, address: string): SimulatedEventType | undefined => {
  if (!reports(provider)) return undefined
  const { domain, types } = VENDOR[provider]
  const at = address.lastIndexOf("@")
  if (address.slice(at + 1).toLowerCase() !== domain) return undefined
  return types.get(address.slice(0, at).toLowerCase().split("+", 1)[0]!)
}

/** The secrets that the intake routes ask for; without one nothing can be reported. */
interface VendorSecrets {
  readonly providerA: { readonly webhookSecrets: ReadonlyArray<Redacted.Redacted> }
  readonly providerB: { readonly webhookSecret: Redacted.Redacted | undefined }
  readonly postmark: {
    readonly webhook: { readonly user: string; readonly password: Redacted.Redacted } | undefined
  }
}

/** A request as the vendor would make it. */
interface VendorRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const ON_LIST = "The address is on the account's suppression list."

const encoded = <A>(tags: Readonly<Record<string, string>>, value: (text: string) => A) =>
  Object.fromEntries(Object.entries(tags).map(([name, text]) => [encodeTag(name), value(encodeTag(text))]))

const resendDetails = ({ type }: SimulatedEvent): object => {
  switch (type) {
    case "bounced":
      return { bounce: { type: "Permanent", subType: "General", message: "The mailbox does not exist." } }
    case "suppressed":
      return { suppressed: { type: "OnAccountSuppressionList", message: ON_LIST } }
    case "delivered":
    case "delivery_delayed":
    case "complained":
    case "opened":
      return {}
  }
}

const resendRequest = (event: SimulatedEvent, secret: Redacted.Redacted): VendorRequest => {
  const body = JSON.stringify({
    type: `email.${event.type}`,
    created_at: event.at,
    data: {
      email_id: event.messageId,
      created_at: event.at,
      from: event.from,
      // All recipients of the event, as the vendor does it.
      to: event.recipients,
      subject: event.subject,
      tags: encoded(event.tags, (text) => text),
      ...resendDetails(event)
    }
  })
  const id = `msg_${randomUUID().replaceAll("-", "")}`
  const now = new Date()
  return {
    path: "/functions/v1/provider-a-webhook",
    headers: {
      "content-type": "application/json",
      "svix-id": id,
      "svix-timestamp": String(Math.floor(now.getTime() / 1000)),
      "svix-signature": new Webhook(Redacted.value(secret)).sign(id, now, body)
    },
    body
  }
}

const sesDetail = (event: SimulatedEvent): readonly [detailType: string, detail: object] => {
  const addresses = event.recipients.map((emailAddress) => ({ emailAddress }))
  const times = { timestamp: event.at, feedbackId: randomUUID() }
  switch (event.type) {
    case "delivered":
      return [
        "Email Delivered",
        { eventType: "Delivery", delivery: { timestamp: event.at, recipients: event.recipients } }
      ]
    case "delivery_delayed":
      return [
        "Email Delivery Delayed",
        {
          eventType: "DeliveryDelay",
          deliveryDelay: { timestamp: event.at, delayType: "MailboxFull", delayedRecipients: addresses }
        }
      ]
    case "opened":
      return ["Email Opened", { eventType: "Open", open: { timestamp: event.at } }]
    case "bounced":
    case "suppressed": {
      const bounceSubType = event.type === "bounced" ? "General" : "OnAccountSuppressionList"
      return [
        "Email Bounced",
        {
          eventType: "Bounce",
          bounce: { bounceType: "Permanent", bounceSubType, bouncedRecipients: addresses, ...times }
        }
      ]
    }
    case "complained":
      return [
        "Email Complaint Received",
        {
          eventType: "Complaint",
          complaint: { complainedRecipients: addresses, complaintFeedbackType: "abuse", ...times }
        }
      ]
  }
}

const sesRequest = (event: SimulatedEvent, secret: Redacted.Redacted): VendorRequest => {
  const [detailType, detail] = sesDetail(event)
  const mail = {
    timestamp: event.at,
    source: event.from,
    messageId: event.messageId,
    destination: event.allRecipients,
    commonHeaders: { from: [event.from], to: event.allRecipients, subject: event.subject },
    tags: {
      ...encoded(event.tags, (text) => [text]),
      ...(event.configurationSet === undefined ? {} : { "ses:configuration-set": [event.configurationSet] })
    }
  }
  return {
    path: "/api/webhooks/providerb-events",
    headers: {
      "content-type": "application/json; charset=utf-8",
      "X-Webhook-Secret": Redacted.value(secret)
    },
    body: JSON.stringify({
      version: "0",
      id: randomUUID(),
      "detail-type": detailType,
      source: "aws.ses",
      time: event.at,
      resources: [],
      detail: { ...detail, mail }
    })
  }
}

/** Postmark's record of each event, with its members. It reports a delay as a transient bounce. */
const postmarkRecord = ({ at, from, subject, type }: SimulatedEvent, recipient: string): object => {
  const bounce = { ID: 1, Email: recipient, From: from, Subject: subject, BouncedAt: at, Inactive: false }
  switch (type) {
    case "delivered":
      return { RecordType: "Delivery", Recipient: recipient, DeliveredAt: at, Details: "250 OK" }
    case "delivery_delayed":
      return { RecordType: "Bounce", Type: "Transient", ...bounce }
    case "opened":
      return { RecordType: "Open", Recipient: recipient, ReceivedAt: at, FirstOpen: true }
    case "bounced":
      return {
        RecordType: "Bounce",
        Type: "HardBounce",
        ...bounce,
        Details: "The mailbox does not exist.",
        Inactive: true
      }
    case "suppressed":
      return { RecordType: "Bounce", Type: "ManuallyDeactivated", ...bounce, Details: ON_LIST }
    case "complained":
      return { RecordType: "SpamComplaint", Type: "SpamComplaint", ...bounce, Inactive: true }
  }
}

/** One request a recipient, as the vendor does it. */
const postmarkRequests = (
  event: SimulatedEvent,
  { password, user }: VendorSecrets["postmark"]["webhook"] & {}
): ReadonlyArray<VendorRequest> => {
  const credentials = Buffer.from(`${user}:${Redacted.value(password)}`).toString("base64")
  return event.recipients.map((recipient) => ({
    path: "/functions/v1/postmark-webhook",
    headers: { "content-type": "application/json", authorization: `Basic ${credentials}` },
    body: JSON.stringify({
      ...postmarkRecord(event, recipient),
      MessageStream: "outbound",
      MessageID: event.messageId,
      ServerID: 1,
      Metadata: event.tags
    })
  }))
}

/** The vendor's requests for an event of a simulated provider, signed now; none without the secret, and none of a relay. */
export const vendorRequests = (
  event: SimulatedEvent,
  { postmark, providerA, providerB }: VendorSecrets
): ReadonlyArray<VendorRequest> => {
  switch (event.provider) {
    case "provider_a": {
      const [secret] = providerA.webhookSecrets
      return secret === undefined ? [] : [resendRequest(event, secret)]
    }
    case "provider_b":
      return providerB.webhookSecret === undefined ? [] : [sesRequest(event, providerB.webhookSecret)]
    case "postmark":
      return postmark.webhook === undefined ? [] : postmarkRequests(event, postmark.webhook)
    case "smtp":
      return []
  }
}
