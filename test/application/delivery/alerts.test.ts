import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"

import * as MailTemplates from "../../../src/adapters/mail-templates/mail-templates.ts"
import * as MemoryDeliveryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import * as MemoryDeferrals from "../../../src/adapters/memory/mail/deferrals.ts"
import { AlertConfig } from "../../../src/application/delivery/alert-ways.ts"
import { type AlertOutcome, Alerts, layer, sweepAlerts } from "../../../src/application/delivery/alerts.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import type { FailedSend } from "../../../src/domain/delivery/delivery-event.ts"
import { AlertPreferences, ChatFailure, Chats } from "../../../src/ports/delivery/alert-channels.ts"
import { anyId } from "../../support/any-id.ts"
import { storeDown } from "../../support/worlds/store-down.ts"
import { makeHarness } from "../mail/harness.ts"

const INBOX = "Ops@X.test"

const failed: FailedSend = {
  sendId: anyId("0199a000-0000-7000-8000-000000000001"),
  provider: "provider_a",
  providerMessageId: "m-1",
  event: "bounced",
  recipients: ["a@x.test"],
  subject: "<script>alert(1)</script> & co\r\nBcc: evil@x.test",
  category: "transactional",
  source: "api:receipts",
  reason: "no such user",
  occurredAt: "2026-01-02T03:04:05Z"
}

/** A dispatcher on the mailer in memory. */
const makeWorld = Effect.fnUntraced(function* (
  options: {
    readonly email?: string | undefined
    readonly wanted?: { readonly email: boolean; readonly chat: boolean } | "down"
    /** `flaps`: fails at first. */
    readonly chat?: "ok" | "fails" | "flaps" | "none"
  } = {}
) {
  const mail = yield* makeHarness()
  const posts: Array<string> = []
  let asked = 0
  const logs: Array<{ readonly level: string; readonly message: string }> = []
  const capture = Logger.make(({ logLevel, message }) => {
    logs.push({ level: logLevel, message: String(Array.isArray(message) ? message[0] : message) })
  })
  const wanted = options.wanted ?? { email: true, chat: true }
  const services = layer.pipe(
    Layer.provide([
      Layer.succeed(AlertConfig, {
        email: "email" in options ? options.email : INBOX,
        baseUrl: "https://postlane.test"
      }),
      Layer.succeed(
        AlertPreferences,
        AlertPreferences.of({
          read:
            wanted === "down" ? Effect.fail(storeDown()) : Effect.succeed({ email_delivery_failure: wanted }),
          write: () => Effect.void
        })
      ),
      Layer.succeed(Mailer, Mailer.of({ send: mail.send })),
      MemoryDeferrals.layer(mail.database),
      MailTemplates.layer,
      Layer.succeed(
        Chats,
        Chats.of({
          chat: {
            configured: options.chat !== "none",
            post: (text) =>
              options.chat === "fails" || (options.chat === "flaps" && asked++ === 0)
                ? Effect.fail(new ChatFailure({ message: "telegram: 403" }))
                : Effect.sync(() => void posts.push(text))
          }
        })
      ),
      NodeCrypto.layer
    ])
  )
  const raise = (change: Partial<FailedSend> = {}) =>
    Alerts.use((alerts) => alerts.raise({ ...failed, ...change })).pipe(
      Effect.provide(services),
      Effect.provide(Logger.layer([capture]))
    )
  const sweep = sweepAlerts.pipe(
    Effect.provide(Layer.merge(services, MemoryDeliveryLog.layer(mail.database))),
    Effect.provide(Logger.layer([capture]))
  )
  const levels = () => logs.map(({ level }) => level)
  return { mail, posts, raise, sweep, levels }
})

const outcome = (delivery: AlertOutcome["delivery"], escalated?: AlertOutcome["escalated"]) => ({
  delivery,
  escalated
})

describe("an alert", () => {
  it.effect("goes by mail and chat, escaped, on one line a field", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      assert.deepEqual(yield* world.raise(), outcome("delivered"))
      assert.strictEqual(world.posts.length, 1)
      assert.include(world.posts[0], "Reason: no such user")
      const [row] = world.mail.database.rows()
      assert.deepInclude(row, { category: "alert", source: "api:email-alert" })
      const [copy] = yield* world.mail.providers.provider_a.copies
      const sent = JSON.stringify(copy)
      assert.include(sent, "&lt;script&gt;")
      assert.notInclude(sent.replace(/"text":"(?:[^"\\]|\\.)*"/, ""), "<script>")
      assert.notInclude(world.posts[0], "\nBcc:")
    })
  )

  it.effect("A1: raised again it is one mail, also in other words", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ chat: "none" })
      yield* world.raise()
      yield* world.raise()
      assert.strictEqual((yield* world.mail.copies).provider_a, 1)
      assert.deepEqual(yield* world.raise({ reason: "another" }), outcome("delivered"))
      assert.strictEqual((yield* world.mail.copies).provider_a, 1)
    })
  )

  it.effect("A1: a mail that waits for a retry is no alert yet; one that was accepted in the end is", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ chat: "none" })
      world.mail.scripts.provider_a.push("ambiguous-accepted")
      assert.deepEqual(yield* world.raise(), outcome("failed"))
      assert.deepEqual(yield* world.raise({ reason: "another" }), outcome("failed"))
      const [row] = world.mail.database.rows()
      assert.strictEqual(row?.status, "deferred")
      yield* world.mail.database.recordEvent({
        provider: "provider_a",
        providerMessageId: "proof",
        event: "delivered",
        keyTag: row?.keyTag ?? undefined
      })
      assert.deepEqual(yield* world.raise(), outcome("delivered"))
      assert.strictEqual((yield* world.mail.received).provider_a, 1)
    })
  )

  it.effect("failed: every channel was tried and none took it", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ chat: "fails" })
      world.mail.scripts.provider_a.push("rejected")
      assert.deepEqual(yield* world.raise(), outcome("failed"))
      assert.deepEqual(
        world.levels().filter((level) => level === "Fatal"),
        []
      )
    })
  )

  it.effect("delivered when one of two channels takes it, and raised again on the other alone (A1)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.mail.scripts.provider_a.push("unavailable")
      const lacks = { taken: ["chat"], missing: ["email"] } as const
      assert.deepEqual(yield* world.raise(), { ...outcome("delivered"), lacks })
      assert.deepEqual(yield* world.raise({ taken: ["chat"] }), outcome("delivered"))
      assert.deepEqual([world.posts.length, (yield* world.mail.copies).provider_a], [1, 1])
    })
  )

  it.effect("a mailbox that is blocked is not tried again where the chat took the alert", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.mail.database.suppress({ email: INBOX, reason: "manual" })
      assert.deepEqual(yield* world.raise(), outcome("delivered"))
    })
  )

  it.effect(
    "a chat that is down gets the alert from the sweep, once, and the mailbox no second one (A1)",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ chat: "flaps" })
        const { database } = world.mail
        yield* database.recordEvent({
          provider: "provider_a",
          providerMessageId: "m",
          event: "bounced",
          recipients: ["gone@x.test"],
          alertable: true
        })
        yield* TestClock.adjust("4 minutes")
        yield* world.sweep
        assert.deepEqual([world.posts.length, (yield* world.mail.copies).provider_a], [0, 1])
        yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () =>
          Effect.andThen(TestClock.adjust("1 minute"), world.sweep)
        )
        assert.deepEqual([world.posts.length, (yield* world.mail.copies).provider_a], [1, 1])
        assert.isUndefined(yield* database.claimDueAlert)
      })
  )

  it.effect("unconfigured, with an error in the log", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ chat: "none", email: undefined })
      assert.deepEqual(yield* world.raise(), outcome("unconfigured"))
      assert.deepEqual(world.levels(), ["Error"])
    })
  )

  it.effect("disabled sends nothing; preferences that do not answer silence nothing", () =>
    Effect.gen(function* () {
      const off = yield* makeWorld({ wanted: { email: false, chat: false } })
      assert.deepEqual(yield* off.raise(), outcome("disabled"))
      assert.deepEqual([off.posts.length, (yield* off.mail.copies).provider_a], [0, 0])
      const down = yield* makeWorld({ wanted: "down" })
      assert.deepEqual(yield* down.raise(), outcome("delivered"))
      assert.deepEqual([down.posts.length, (yield* down.mail.copies).provider_a], [1, 1])
    })
  )
})

describe("A2: an alert about the alert inbox", () => {
  const about = { recipients: ["b@x.test", "ops@x.test"] }
  for (const wanted of [
    { email: true, chat: true },
    { email: true, chat: false },
    { email: false, chat: false }
  ]) {
    it.effect(`goes to the chat alone, wanted ${JSON.stringify(wanted)}`, () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ wanted })
        assert.deepEqual(yield* world.raise(about), outcome("delivered", "telegram"))
        assert.deepEqual([world.posts.length, (yield* world.mail.received).provider_a], [1, 0])
      })
    )
  }

  for (const [chat, delivery] of [
    ["fails", "failed"],
    ["none", "unconfigured"]
  ] as const) {
    it.effect(`a fatal log line, and no mail, where the chat is: ${chat}`, () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ chat })
        assert.deepEqual(yield* world.raise(about), outcome(delivery))
        assert.include(world.levels(), "Fatal")
        assert.strictEqual((yield* world.mail.received).provider_a, 0)
      })
    )
  }
})
