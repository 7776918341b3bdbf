import { Redacted } from "effect"
import { expect, it } from "vitest"

import { decodeWebhookEvent } from "../../../src/adapters/resend/webhook-event.ts"
import { decodeBusEvents } from "../../../src/adapters/ses/bus-event.ts"
import { vendorRequest } from "../../../src/adapters/simulated/vendor-event.ts"
import { type SimulatedEvent, SimulatedEventType } from "../../../src/ports/mail/simulated-mail.ts"

const secrets = {
  webhookSecret: Redacted.make(`whsec_${btoa("x".repeat(24))}`),
  busSecret: Redacted.make("bus")
}

it.each(
  SimulatedEventType.literals.flatMap((type) => [
    ["provider_a", type] as const,
    ["provider_b", type] as const
  ])
)("what %s reports as %s is understood as that", (provider, type) => {
  const event: SimulatedEvent = {
    provider,
    type,
    messageId: "m-1",
    recipients: ["ann@example.test"],
    allRecipients: ["ann@example.test", "bob@example.test"],
    from: "news@postlane.test",
    subject: "Hello",
    tags: { campaign: "c 1" },
    at: "2026-11-22T10:00:00.000Z"
  }
  const body: unknown = JSON.parse(vendorRequest(event, secrets)!.body)
  const [incoming] =
    provider === "provider_a" ? [decodeWebhookEvent(body)] : decodeBusEvents(body, { outreachSet: undefined })
  // SES has no event of its own for an address on its list.
  const expected = provider === "provider_b" && type === "suppressed" ? "bounced" : type
  expect(incoming).toMatchObject({ event: { provider, providerMessageId: "m-1", event: expected } })
})
