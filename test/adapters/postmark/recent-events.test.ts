import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { makeRecentEvents } from "../../../src/adapters/postmark/recent-events.ts"
import type { Reply } from "../../support/vendors/fake-http.ts"
import { postmarkWithFake } from "../../support/vendors/fake-peers.ts"

const TAG = "cd".repeat(32)

const MAIL = {
  MessageID: "m-1",
  MessageStream: "outbound",
  To: [{ Email: "Ann@example.test", Name: "Ann" }],
  Recipients: ["ann@example.test", "bob@example.test"],
  ReceivedAt: "2026-11-22T09:00:00-05:00",
  From: '"Postlane" <noreply@postlane.test>',
  Subject: "Hello",
  Status: "Sent",
  Metadata: { postlane_key: TAG }
}
const BOUNCE = {
  ID: 1,
  Type: "HardBounce",
  MessageID: "m-1",
  Email: "bob@example.test",
  BouncedAt: "2026-11-22T09:01:00-05:00",
  Inactive: true,
  Details: "550"
}

const path = (list: string, stream: string) => `/${list}?count=500&offset=0&messagestream=${stream}`
const page = (body: object, status = 200): Reply => ({ status, body })
const EMPTY = {
  [path("messages/outbound", "broadcast")]: page({ TotalCount: 0, Messages: [] }),
  [path("bounces", "broadcast")]: page({ TotalCount: 0, Bounces: [] })
}

const newestOf = Effect.fnUntraced(function* (pages: Readonly<Record<string, Reply>>) {
  const { settings } = yield* postmarkWithFake({ pages })
  return yield* makeRecentEvents(settings).newest
})

describe("Postmark's lists", () => {
  it.effect("name mails with the tag of their key, and then what bounced, as a webhook would", () =>
    Effect.gen(function* () {
      const events = yield* newestOf({
        ...EMPTY,
        [path("messages/outbound", "outbound")]: page({ Messages: [MAIL, { Subject: "no id" }, null] }),
        [path("bounces", "outbound")]: page({ Bounces: [BOUNCE, 7, { ...BOUNCE, Type: "AutoResponder" }] })
      })
      const [mail, bounce, ...others] = events
      assert.deepStrictEqual(others, [])
      assert.deepInclude(mail, {
        provider: "postmark",
        providerMessageId: "m-1",
        event: "sent",
        occurredAt: Date.parse("2026-11-22T14:00:00Z"),
        recipients: ["ann@example.test", "bob@example.test"],
        from: "noreply@postlane.test",
        subject: "Hello"
      })
      assert.strictEqual(mail?.keyTag, TAG)
      assert.deepInclude(bounce, {
        event: "bounced",
        occurredAt: Date.parse("2026-11-22T14:01:00Z"),
        suppress: ["bob@example.test"],
        reason: "HardBounce: 550"
      })
    })
  )

  it.effect("a server without the broadcast stream has no mails in it", () =>
    Effect.gen(function* () {
      const missing = page({ ErrorCode: 1226, Message: "…" }, 422)
      const events = yield* newestOf({
        [path("messages/outbound", "broadcast")]: missing,
        [path("bounces", "broadcast")]: missing,
        [path("messages/outbound", "outbound")]: page({ Messages: [MAIL] }),
        [path("bounces", "outbound")]: page({ Bounces: [] })
      })
      assert.strictEqual(events.length, 1)
    })
  )

  it.effect.each([
    [page({ ErrorCode: 10, Message: "…" }, 401), "refused"],
    [page({ ErrorCode: 1226, Message: "…" }, 422), "refused"],
    [page({ ErrorCode: 429, Message: "…" }, 429), "throttled"],
    [page({ ErrorCode: 100, Message: "…" }, 503), "unavailable"],
    [page({ TotalCount: 0 }), "unavailable"]
  ] as const)("%o is no empty list", ([answer, kind]) =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(
        newestOf({ ...EMPTY, [path("messages/outbound", "outbound")]: answer })
      )
      assert.strictEqual(failure.kind, kind)
    })
  )
})
