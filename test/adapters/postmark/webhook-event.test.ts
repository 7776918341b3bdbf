import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import fc from "fast-check"

import { hasCredentials } from "../../../src/adapters/postmark/webhook-credentials.ts"
import { decodeWebhookEvent } from "../../../src/adapters/postmark/webhook-event.ts"

const TAG = "ab".repeat(32)

/** What every record of Postmark has (developer documentation, "Webhooks"). */
const COMMON = {
  MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
  MessageStream: "outbound",
  ServerID: 23,
  Tag: "Test",
  Metadata: { postlane_key: TAG, campaign: "c1" }
}

const BOUNCE = {
  ...COMMON,
  RecordType: "Bounce",
  ID: 4323372036854775,
  Type: "HardBounce",
  TypeCode: 1,
  Name: "Hard bounce",
  Description: "The server was unable to deliver your message.",
  Details: "smtp;550 5.1.1 unknown",
  Email: "John@example.com",
  From: "sender@example.com",
  BouncedAt: "2026-11-05T16:33:54.9070259Z",
  DumpAvailable: true,
  Inactive: true,
  CanActivate: true,
  Subject: "Test subject",
  Content: "<the whole mail>"
}

const eventOf = (body: unknown) => {
  const incoming = decodeWebhookEvent(body)
  return incoming._tag === "Event" ? incoming.event : undefined
}

describe("Postmark's webhook (EVENT-6)", () => {
  it("a hard bounce has all that Postmark says, but not the dump of the mail", () => {
    const { Content: _, ...raw } = BOUNCE
    assert.deepStrictEqual<unknown>(eventOf(BOUNCE), {
      provider: "postmark",
      providerMessageId: COMMON.MessageID,
      event: "bounced",
      occurredAt: Date.parse("2026-11-05T16:33:54.907Z"),
      recipients: ["john@example.com"],
      from: "sender@example.com",
      subject: "Test subject",
      reason: "HardBounce: smtp;550 5.1.1 unknown",
      keyTag: TAG,
      bounceType: "Permanent",
      suppress: ["john@example.com"],
      alertable: true,
      tags: { postlane_key: TAG, campaign: "c1" },
      raw
    })
  })

  const LASTS = ["john@example.com"]
  it.each([
    ["BadEmailAddress", false, "bounced", LASTS],
    ["SoftBounce", false, "bounce_transient", undefined],
    ["SoftBounce", true, "bounced", LASTS],
    ["DnsError", false, "bounce_transient", undefined],
    ["Blocked", false, "bounce_transient", undefined],
    ["SpamNotification", false, "bounce_transient", undefined],
    ["Unknown", false, "bounce_transient", undefined],
    ["MoonPhase", false, "bounce_transient", undefined],
    ["Transient", false, "delivery_delayed", undefined],
    ["SpamComplaint", true, "complained", LASTS],
    ["ManuallyDeactivated", true, "suppressed", undefined],
    ["DMARCPolicy", false, "bounced", undefined],
    ["VirusNotification", false, "bounced", undefined]
  ] as const)("a bounce of the type %s (inactive: %s) is %s", (Type, Inactive, event, suppress) => {
    const found = eventOf({ ...BOUNCE, Type, Inactive })
    assert.deepInclude(found, { event, suppress })
    if (event === "bounced") assert.strictEqual(found?.bounceType === "Permanent", suppress !== undefined)
  })

  it.each(["AutoResponder", "AddressChange", "Subscribe", "Unsubscribe", "ChallengeVerification"])(
    "an answer of the type %s is no bounce",
    (Type) => {
      assert.isUndefined(eventOf({ ...BOUNCE, Type, Inactive: false }))
    }
  )

  const CHANGE = {
    ...COMMON,
    RecordType: "SubscriptionChange",
    ChangedAt: "2026-02-01T10:53:34.416071Z",
    Recipient: "john@example.com",
    Origin: "Recipient",
    SuppressSending: true
  }
  it.each([
    [{ ...COMMON, RecordType: "Delivery", DeliveredAt: "2026-11-05T11:33:54-05:00" }, "delivered"],
    [{ ...COMMON, RecordType: "Open", ReceivedAt: "2026-11-05T16:33:54Z" }, "opened"],
    [{ ...COMMON, RecordType: "Click", ReceivedAt: "2026-11-05T16:33:54Z" }, "clicked"],
    [{ ...BOUNCE, RecordType: "SpamComplaint", Type: "SpamComplaint", TypeCode: 512 }, "complained"],
    [{ ...CHANGE, SuppressionReason: "HardBounce" }, "bounced"],
    [{ ...CHANGE, SuppressionReason: "SpamComplaint" }, "complained"],
    [{ ...CHANGE, SuppressionReason: "ManualSuppression" }, "unsubscribed"]
  ])("%o is %s", (body, event) => {
    const found = eventOf({ Recipient: "john@example.com", ...body })
    assert.deepInclude(found, { event, keyTag: TAG as never, recipients: ["john@example.com"] })
    assert.isDefined(found?.occurredAt)
    const lasts = event === "bounced" || event === "complained"
    assert.deepStrictEqual(found?.suppress, lasts ? ["john@example.com"] : undefined)
  })

  it("what is about no mail of anybody's is ignored, and what should have been says so", () => {
    const { MessageID: _, ...noMail } = CHANGE
    assert.deepInclude(decodeWebhookEvent(noMail), { _tag: "Ignored", warn: false })
    assert.deepInclude(decodeWebhookEvent({ ...CHANGE, SuppressSending: false }), { _tag: "Ignored" })
    assert.deepInclude(decodeWebhookEvent({ ...BOUNCE, MessageID: null }), { _tag: "Ignored", warn: true })
    assert.deepInclude(decodeWebhookEvent({ ...COMMON, RecordType: "Inbound" }), { _tag: "Ignored" })
  })

  it("never throws, whatever the body", () => {
    const names = ["RecordType", "MessageID", "Metadata", "Type", "Email", "BouncedAt", "Inactive"] as const
    const bodies = fc.record(Object.fromEntries(names.map((name) => [name, fc.anything()])))
    fc.assert(fc.property(fc.oneof(fc.anything(), bodies), (body) => void decodeWebhookEvent(body)))
  })
})

describe("basic credentials", () => {
  const credentials = { user: "postlane", password: Redacted.make("pä:ss") }
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

  it("are those of the settings, as UTF-8, and no others", () => {
    assert.isTrue(hasCredentials(basic("postlane:pä:ss"), credentials))
    assert.isTrue(hasCredentials(basic("postlane:pä:ss").replace("Basic", "basic"), credentials))
    const wrong = [
      undefined,
      "",
      7,
      ["Basic x"],
      basic(""),
      basic("postlane"),
      basic("postlane:"),
      basic("postlane:pä:s"),
      basic("postlane:pä:sss"),
      basic("Postlane:pä:ss"),
      basic(":pä:ss"),
      "Basic ====",
      "Bearer postlane:pä:ss",
      `Basic ${Buffer.from([0xff]).toString("base64")}`
    ]
    for (const header of wrong) assert.isFalse(hasCredentials(header, credentials), String(header))
  })
})
