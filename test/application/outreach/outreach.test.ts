import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import { makeCampaignDatabase } from "../../../src/adapters/memory/outreach/campaign-book.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import * as CampaignEvents from "../../../src/application/outreach/campaign-events.ts"
import {
  layer,
  Outreach,
  OutreachConfig,
  type OutreachMail
} from "../../../src/application/outreach/outreach.ts"
import * as Unsubscribe from "../../../src/application/outreach/unsubscribe.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import { MailPreferences } from "../../../src/ports/mail/preferences.ts"
import { CampaignBook, Unsubscribes } from "../../../src/ports/outreach/campaign-book.ts"
import { deliveryEvent } from "../../contracts/delivery/delivery-log.ts"
import { plainTemplates, shownData } from "../../support/worlds/plain-templates.ts"
import { storeDown } from "../../support/worlds/store-down.ts"
import { makeHarness } from "../mail/harness.ts"

const mail = (changes: Partial<OutreachMail> = {}): OutreachMail => ({
  email: "Ann@x.test",
  name: "Ann, the first",
  campaign: "spring-1",
  subject: "Hello",
  paragraphs: ["One", "Two"],
  ...changes
})

/** Outreach on the mailer in memory. */
const makeWorld = Effect.fnUntraced(function* (
  options: { readonly down?: keyof CampaignBook["Service"]; readonly baseUrl?: string } = {}
) {
  const harness = yield* makeHarness({ fallback: "provider_a", primary: "provider_a" })
  const database = makeCampaignDatabase()
  const asked: Array<SendRequest> = []
  const unavailable = () => Effect.fail(storeDown())
  const book = options.down === undefined ? database.book : { ...database.book, [options.down]: unavailable }
  const services = Layer.mergeAll(layer, CampaignEvents.layer).pipe(
    Layer.provideMerge(Unsubscribe.layer),
    Layer.provide([
      Layer.succeed(OutreachConfig, {
        from: "Postlane <outreach@postlane.test>",
        configurationSet: "outreach-set",
        baseUrl: options.baseUrl ?? "https://p.test",
        footer: "Street 1"
      }),
      Layer.succeed(CampaignBook, CampaignBook.of(book)),
      Layer.succeed(Unsubscribes, database.unsubscribes),
      Layer.succeed(MailPreferences, database.preferences),
      Layer.succeed(
        Mailer,
        Mailer.of({
          send: (request) => {
            asked.push(request)
            return harness.send(request)
          }
        })
      ),
      plainTemplates,
      Mac.layerWebCrypto
    ]),
    Layer.provide(NodeCrypto.layer)
  )
  const context = yield* Effect.provide(
    Effect.all({
      outreach: Outreach,
      unsubscribing: Unsubscribe.Unsubscribing,
      events: CampaignEvents.CampaignEvents
    }),
    services
  )
  return { ...context, harness, database, asked }
})

describe("outreach", () => {
  it.effect("goes through provider_b alone, on its set, with one-click unsubscribing that works", () =>
    Effect.gen(function* () {
      const { asked, database, harness, outreach, unsubscribing } = yield* makeWorld()
      const sent = yield* outreach.send(mail())
      assert.strictEqual(sent._tag === "Ended" && sent.result.status, "sent")
      const [request] = asked
      assert.deepInclude(request, {
        from: "Postlane <outreach@postlane.test>",
        to: '"Ann, the first" <Ann@x.test>',
        category: "marketing",
        source: "api:outreach",
        provider: "provider_b",
        configurationSet: "outreach-set"
      })
      assert.deepStrictEqual(yield* harness.copies, { provider_a: 0, provider_b: 1 })
      const list = request?.headers?.["List-Unsubscribe"] ?? ""
      assert.match(list, /^<https:\/\/p\.test\/unsubscribe\/[\w.-]+>$/)
      assert.strictEqual(request?.headers?.["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click")
      const data = shownData(request?.text)
      assert.deepInclude(data, { kind: "outreach", footer: "Street 1", unsubscribeUrl: list.slice(1, -1) })
      const [row] = database.sends()
      assert.deepInclude(row, { email: "ann@x.test", campaign: "spring-1", status: "sent" })
      assert.deepStrictEqual(request?.tags, { campaign: "spring-1", outreach_send: row?.id ?? "" })

      yield* unsubscribing.choose(list.slice(1, -1).split("/").at(-1) ?? "", "leave")
      assert.deepStrictEqual(database.unsubscribed(), { "ann@x.test": "one_click" })
      for (const other of [mail({ email: "ANN@X.TEST" }), mail({ campaign: "summer" })]) {
        assert.strictEqual((yield* outreach.send(other))._tag, "Unsubscribed")
      }
      assert.lengthOf(asked, 1)
    })
  )

  it.effect("sends nothing where it cannot know whether the person unsubscribed", () =>
    Effect.gen(function* () {
      const { asked, outreach } = yield* makeWorld({ down: "begin" })
      assert.strictEqual((yield* Effect.flip(outreach.send(mail())))._tag, "StoreUnavailable")
      assert.deepStrictEqual(asked, [])
    })
  )

  it.effect("sends nothing with a link that no mail service takes", () =>
    Effect.gen(function* () {
      const { asked, database, outreach } = yield* makeWorld({ baseUrl: "http://p.test" })
      const refused = yield* Effect.flip(outreach.send(mail()))
      assert.match(refused.message, /^BASE_URL /)
      assert.deepStrictEqual([asked, database.sends()], [[], []])
    })
  )

  it.effect("a mail that went out stays sent where its end cannot be booked, and goes out once", () =>
    Effect.gen(function* () {
      const { harness, outreach } = yield* makeWorld({ down: "finish" })
      for (let round = 0; round < 2; round += 1) {
        const sent = yield* outreach.send(mail())
        assert.strictEqual(sent._tag === "Ended" && sent.result.status, "sent")
      }
      assert.strictEqual((yield* harness.copies).provider_b, 1)
    })
  )

  it.effect("the same mail goes out once, other words are another mail", () =>
    Effect.gen(function* () {
      const { harness, outreach } = yield* makeWorld()
      yield* outreach.send(mail())
      const again = yield* outreach.send(mail())
      assert.deepInclude(again, { _tag: "SentBefore", status: "sent" })
      yield* outreach.send(mail({ paragraphs: ["One", "Three"] }))
      assert.strictEqual((yield* harness.copies).provider_b, 2)
    })
  )

  it.effect("one that surely did not go out may be tried again, and never by provider_a", () =>
    Effect.gen(function* () {
      const { database, harness, outreach } = yield* makeWorld()
      harness.scripts.provider_b.push("unavailable")
      const failed = yield* outreach.send(mail())
      assert.strictEqual(failed._tag === "Ended" && failed.result.status, "failed")
      assert.strictEqual(database.sends()[0]?.status, "failed")
      yield* outreach.send(mail())
      assert.deepStrictEqual(yield* harness.copies, { provider_a: 0, provider_b: 1 })
      assert.deepStrictEqual(
        database.sends().map(({ status }) => status),
        ["sent"]
      )
    })
  )

  it.effect("a suppressed address gets nothing, and a later complaint unsubscribes", () =>
    Effect.gen(function* () {
      const { database, events, harness, outreach } = yield* makeWorld()
      harness.database.suppress({ email: "ann@x.test", reason: "hard_bounce" })
      const suppressed = yield* outreach.send(mail())
      assert.strictEqual(suppressed._tag === "Ended" && suppressed.result.status, "suppressed")
      harness.database.unsuppress("ann@x.test")
      yield* outreach.send(mail())
      const [row] = database.sends()
      const [copy] = yield* harness.providers.provider_b.copies
      assert.isDefined(copy)
      yield* events.record(
        deliveryEvent({
          provider: "provider_b",
          providerMessageId: row?.providerMessageId ?? "",
          event: "complained",
          recipients: ["ann@x.test"],
          alertable: false
        })
      )
      assert.deepStrictEqual(database.unsubscribed(), { "ann@x.test": "complaint" })
      assert.strictEqual((yield* outreach.send(mail({ subject: "Again" })))._tag, "Unsubscribed")
    })
  )

  it.effect("hostile input is refused before anything is asked or written", () =>
    Effect.gen(function* () {
      const { asked, database, outreach } = yield* makeWorld()
      const hostile: ReadonlyArray<readonly [string, Partial<OutreachMail>]> = [
        ["email", { email: "a@x.test, b@x.test" }],
        ["email", { email: "a@x.test\r\nBcc: evil@x.test" }],
        ["email", { email: "" }],
        ["name", { name: "A\r\nBcc: evil@x.test" }],
        ["campaign", { campaign: "a\nb" }],
        ["campaign", { campaign: "" }],
        ["campaign", { campaign: "x".repeat(65) }],
        ["subject", { subject: "a\r\nBcc: evil@x.test" }],
        ["subject", { subject: "  " }],
        ["paragraphs", { paragraphs: [] }],
        ["action.url", { action: { text: "t", url: "javascript:alert(1)" } }]
      ]
      for (const [path, changes] of hostile) {
        const refused = yield* Effect.flip(outreach.send(mail(changes)))
        assert.strictEqual(refused._tag === "InvalidRequest" && refused.issues[0]?.path, path)
      }
      assert.deepStrictEqual([asked, database.sends()], [[], []])
    })
  )

  it.effect("events of other mail are not booked", () =>
    Effect.gen(function* () {
      const { database, events } = yield* makeWorld()
      yield* events.record(deliveryEvent({ provider: "provider_b" }))
      yield* events.record(deliveryEvent({ provider: "provider_a", alertable: false }))
      assert.deepStrictEqual(database.sends(), [])
    })
  )
})
