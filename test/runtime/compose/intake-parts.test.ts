import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import { afterAll, beforeAll, beforeEach, describe } from "vitest"

import { IntakeConfig } from "../../../src/application/inbound/intake-config.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import { type OutgoingReply, ReplyChannel } from "../../../src/ports/inbound/mails.ts"
import { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import {
  intakeConfig,
  intakeRecipients,
  replyChannel
} from "../../../src/runtime/compose/inbound/inbound-parts.ts"
import { authenticityRules } from "../../../src/runtime/compose/inbound/inbound.ts"
import { decodeSettings, type Env, formatProblems } from "../../../src/runtime/settings/settings.ts"
import { anyId } from "../../support/any-id.ts"
import { fakeGmail } from "../../support/vendors/fake-gmail.ts"

const BASE: Env = {
  PROVIDERA_API_KEY: "re_key",
  SENDER_DOMAIN: "sender.test",
  LEGACY_DOMAIN: "legacy.test",
  INBOUND_DOMAIN: "in.test"
}

const settingsOf = (env: Env, embedded = true) => {
  const read = decodeSettings({ ...BASE, ...env }, { embedded })
  return Result.isFailure(read) ? assert.fail(formatProblems(read.failure)) : read.success
}

const configOf = (env: Env) => {
  const settings = settingsOf(env)
  return Effect.map(
    Layer.build(intakeConfig(settings, authenticityRules(settings))),
    Context.get(IntakeConfig)
  )
}

const REPLY: OutgoingReply = {
  key: "convert-email:1:error",
  to: "ann@reader.test",
  subject: "Re: a",
  html: undefined,
  text: "No",
  inReplyTo: undefined,
  references: undefined,
  automatic: true,
  attachment: undefined
}

describe("convert-by-email by the settings", () => {
  const gmail = fakeGmail()
  const asked: Array<SendRequest> = []
  const mailer = Layer.succeed(
    Mailer,
    Mailer.of({
      send: (request) =>
        Effect.sync(() => {
          asked.push(request)
          return {
            ok: true,
            status: "sent",
            sendId: anyId("0199a000-0000-7000-8000-000000000001"),
            provider: "provider_a",
            providerMessageId: "m-1",
            failedOver: false,
            idempotencyKey: request.idempotencyKey ?? "",
            suppressedRecipients: []
          }
        })
    })
  )
  beforeAll(async () => {
    await gmail.fake.listen()
  })
  afterAll(() => gmail.fake.close())
  beforeEach(() => {
    asked.length = 0
    gmail.fake.accepted.length = 0
  })

  /** Sends a reply as the settings say; gives the name of the channel. */
  const reply = (env: Env) =>
    Effect.gen(function* () {
      const channel = Context.get(yield* Layer.build(replyChannel(settingsOf(env))), ReplyChannel)
      yield* channel.send(REPLY)
      return channel.name
    }).pipe(
      Effect.provide([
        mailer,
        Layer.succeed(Deferrals, { openKey: (key) => Effect.succeed({ key, state: "new" }) })
      ]),
      Effect.provide(NodeCrypto.layer)
    )

  const workspace = () => ({
    MAILAPI_SERVICE_ACCOUNT_KEY: gmail.key,
    MAILAPI_BASE_URL: gmail.fake.url,
    AUTH_URL: `${gmail.fake.url}/token`
  })

  it.live(
    "replies go through the library where there is no key for the workspace, or where it is chosen",
    () =>
      Effect.gen(function* () {
        for (const env of [{}, { ...workspace(), CONVERT_REPLY_CHANNEL: "library" }]) {
          assert.strictEqual(yield* reply(env), "library")
        }
        assert.deepStrictEqual(gmail.sent(), [])
        assert.deepStrictEqual(
          asked.map(({ from, replyTo, to }) => ({ from, replyTo, to })),
          [1, 2].map(() => ({
            from: "Postlane <noreply@sender.test>",
            replyTo: "convert@legacy.test",
            to: "ann@reader.test"
          }))
        )
      })
  )

  it.live("else through the workspace: as the convert mailbox, or as MAIL_SENDER", () =>
    Effect.gen(function* () {
      for (const [env, mailbox, from] of [
        [{}, "convert@legacy.test", '"Postlane" <convert@legacy.test>'],
        [{ CONVERT_REPLY_CHANNEL: "workspace" }, "convert@legacy.test", '"Postlane" <convert@legacy.test>'],
        [
          { MAIL_SENDER: "Paper desk <Desk@legacy.test>" },
          "Desk@legacy.test",
          '"Paper desk" <Desk@legacy.test>'
        ]
      ] as const) {
        assert.strictEqual(yield* reply({ ...workspace(), ...env }), "workspace")
        const raw = gmail.sent().at(-1)?.raw ?? ""
        assert.strictEqual(gmail.state.mailbox, mailbox)
        assert.strictEqual(/^From: (.+)\r$/m.exec(raw)?.[1], from)
        assert.strictEqual(/^Reply-To: (.+)\r$/m.exec(raw)?.[1], "convert@legacy.test")
      }
      assert.deepStrictEqual(asked, [])
    })
  )

  it.effect("mail from any address that is ours is never answered", () =>
    Effect.gen(function* () {
      const { ownAddresses } = yield* configOf({
        EMAIL_FROM: "News <News@Sender.test>",
        MAIL_SENDER: "Paper desk <Desk@legacy.test>"
      })
      assert.deepStrictEqual([...ownAddresses].toSorted(), [
        "convert@in.test",
        "convert@legacy.test",
        "desk@legacy.test",
        "news@sender.test",
        "noreply@sender.test"
      ])
    })
  )

  it.effect("links lead to our pages, or to those that are set", () =>
    Effect.gen(function* () {
      const own = yield* configOf({ BASE_URL: "https://p.test" })
      assert.deepStrictEqual(
        [own.registerUrl, own.buyUrl, own.baseUrl],
        ["https://p.test/register", "https://p.test/credits", "https://p.test"]
      )
      const other = yield* configOf({
        REGISTER_URL: "https://shop.test/join",
        BUY_CREDITS_URL: "https://shop.test/buy"
      })
      assert.deepStrictEqual(
        [other.registerUrl, other.buyUrl],
        ["https://shop.test/join", "https://shop.test/buy"]
      )
    })
  )

  it("mail is taken at both convert mailboxes; a sender is believed without a header in an embedded run alone", () => {
    assert.deepStrictEqual([...intakeRecipients(settingsOf({}))].toSorted(), [
      "convert@in.test",
      "convert@legacy.test"
    ])
    const hops = { TRUSTED_MAIL_HOPS: "MX.Hop.test, 203.0.113.7" }
    for (const [env, embedded, rules] of [
      [{}, true, { trustedHops: [], trustsLoopback: true, hopSecret: undefined }],
      [{}, false, { trustedHops: [], trustsLoopback: false, hopSecret: undefined }],
      [
        hops,
        true,
        { trustedHops: ["mx.hop.test", "203.0.113.7"], trustsLoopback: false, hopSecret: undefined }
      ],
      [
        hops,
        false,
        { trustedHops: ["mx.hop.test", "203.0.113.7"], trustsLoopback: false, hopSecret: undefined }
      ]
    ] as const) {
      assert.deepStrictEqual(authenticityRules(settingsOf(env, embedded)), rules)
    }
  })
})
