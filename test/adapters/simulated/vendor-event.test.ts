import { Redacted } from "effect"
import { expect, it } from "vitest"

import { hasCredentials } from "../../../src/adapters/postmark/webhook-credentials.ts"
import { decodeWebhookEvent as decodePostmarkEvent } from "../../../src/adapters/postmark/webhook-event.ts"
import { decodeWebhookEvent } from "../../../src/adapters/resend/webhook-event.ts"
import { decodeBusEvents } from "../../../src/adapters/ses/bus-event.ts"
import { vendorRequests } from "../../../src/adapters/simulated/vendor-event.ts"
import { ReportingProvider } from "../../../src/domain/mail/provider.ts"
import { type SimulatedEvent, SimulatedEventType } from "../../../src/ports/mail/simulated-mail.ts"

const secrets = {
  providerA: { webhookSecrets: [Redacted.make(`whsec_${btoa("x".repeat(24))}`)] },
  providerB: { webhookSecret: Redacted.make("bus") },
  postmark: { webhook: { user: "postlane", password: Redacted.make("pä:ss") } }
}

const MAIL: Omit<SimulatedEvent, "provider" | "type"> = {
  messageId: "m-1",
  recipients: ["ann@example.test"],
  allRecipients: ["ann@example.test", "bob@example.test"],
  from: "news@postlane.test",
  subject: "Hello",
  tags: { campaign: "c 1" },
  at: "2026-11-22T10:00:00.000Z"
}

it.each(
  SimulatedEventType.literals.flatMap((type) =>
    ReportingProvider.literals.map((provider) => [provider, type] as const)
  )
)("what %s reports as %s is understood as that", (provider, type) => {
  const event = { ...MAIL, provider, type }
  const [request] = vendorRequests(event, secrets)
  const body: unknown = JSON.parse(request!.body)
  const [incoming] = {
    provider_a: () => [decodeWebhookEvent(body)],
    provider_b: () => decodeBusEvents(body, { outreachSet: undefined }),
    postmark: () => [decodePostmarkEvent(body)]
  }[provider]()
  // SES has no event of its own for an address on its list.
  const expected = provider === "provider_b" && type === "suppressed" ? "bounced" : type
  expect(incoming).toMatchObject({
    event: { provider, providerMessageId: "m-1", event: expected, tags: { campaign: "c 1" } }
  })
})

it("postmark reports each recipient, with its credentials", () => {
  const recipients = ["ann@example.test", "bob@example.test"]
  const requests = vendorRequests({ ...MAIL, provider: "postmark", type: "bounced", recipients }, secrets)
  expect(requests.map(({ body }) => (JSON.parse(body) as { readonly Email: string }).Email)).toEqual(
    recipients
  )
  expect(hasCredentials(requests[0]?.headers["authorization"], secrets.postmark.webhook)).toBe(true)
})
