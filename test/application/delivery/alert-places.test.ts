import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as MailTemplates from "../../../src/adapters/mail-templates/mail-templates.ts"
import * as MemoryDeferrals from "../../../src/adapters/memory/mail/deferrals.ts"
import { AlertPlaces, layer } from "../../../src/application/delivery/alert-places.ts"
import { AlertConfig } from "../../../src/application/delivery/alert-ways.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import { ChatFailure, Chats } from "../../../src/ports/delivery/alert-channels.ts"
import { makeHarness } from "../mail/harness.ts"

const makeWorld = Effect.fnUntraced(function* (
  options: { readonly email?: string; readonly chat?: "ok" | "fails" | "none" } = {}
) {
  const mail = yield* makeHarness()
  const posts: Array<string> = []
  const { chat = "ok", email } = options
  const services = layer.pipe(
    Layer.provide([
      Layer.succeed(AlertConfig, { email, baseUrl: "https://postlane.test" }),
      Layer.succeed(Mailer, Mailer.of({ send: mail.send })),
      MemoryDeferrals.layer(mail.database),
      MailTemplates.layer,
      Layer.succeed(
        Chats,
        Chats.of({
          chat: {
            configured: chat !== "none",
            where: chat === "none" ? undefined : "a room",
            post: (text) =>
              chat === "fails"
                ? Effect.fail(new ChatFailure({ message: "telegram: 403" }))
                : Effect.sync(() => void posts.push(text))
          }
        })
      ),
      NodeCrypto.layer
    ])
  )
  return { mail, posts, provided: Effect.provide(services) }
})

it.effect("says where each channel leads, and what configures it", () =>
  Effect.gen(function* () {
    const { provided } = yield* makeWorld({ email: "ops@x.test" })
    const { places } = yield* provided(AlertPlaces)
    assert.deepStrictEqual(places, {
      email: { configured: true, where: "ops@x.test", settings: "ALERT_EMAIL" },
      chat: { configured: true, where: "a room", settings: "CHAT_BOT_TOKEN and CHAT_ID" }
    })
    const none = yield* (yield* makeWorld({ chat: "none" })).provided(AlertPlaces)
    assert.deepStrictEqual(
      Object.values(none.places).map(({ configured, where }) => [configured, where]),
      [
        [false, undefined],
        [false, undefined]
      ]
    )
  })
)

it.effect(
  "each test is a mail or a post of its own, with a link to the page; none where nothing is configured",
  () =>
    Effect.gen(function* () {
      const { mail, posts, provided } = yield* makeWorld({ email: "ops@x.test" })
      const { test } = yield* provided(AlertPlaces)
      for (const channel of ["email", "email", "chat"] as const)
        assert.deepStrictEqual(yield* test(channel, "<ann>"), { answer: "took" })
      const rows = mail.database.rows()
      assert.deepStrictEqual(
        rows.map(({ category, source, to }) => [category, source, ...to]),
        [
          ["alert", "api:alert-test", "ops@x.test"],
          ["alert", "api:alert-test", "ops@x.test"]
        ]
      )
      assert.lengthOf(posts, 1)
      assert.include(posts[0], "<ann> asked for this test")
      assert.include(posts[0], "https://postlane.test/admin/notifications")

      const without = yield* makeWorld({ chat: "none" })
      const { test: nothing } = yield* without.provided(AlertPlaces)
      assert.isUndefined(yield* nothing("email", "ann"))
      assert.isUndefined(yield* nothing("chat", "ann"))
      assert.isEmpty(without.mail.database.rows())

      const { test: refused } = yield* (yield* makeWorld({ chat: "fails" })).provided(AlertPlaces)
      assert.deepStrictEqual(yield* refused("chat", "ann"), { answer: "failed", error: "telegram: 403" })
    })
)
