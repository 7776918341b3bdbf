import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"

import { type MakeLink, UnsubscribeLinks } from "../../../src/application/mail/unsubscribe-links.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import { decodeSendRequest } from "../../../src/domain/mail/read-request.ts"
import { storeDown } from "../../support/worlds/store-down.ts"
import { mail as plain, makeHarness } from "./harness.ts"

const urlOf = (email: string, list = "") => `https://shop.test/unsubscribe/${list}.${email}`
const makeLink: MakeLink = ({ email, list }) => Effect.succeed(urlOf(email, list))

const marketing = (change: Partial<SendRequest> = {}) => plain({ category: "marketing", ...change })

const harnessWith = (links: MakeLink | undefined) =>
  Effect.provideService(makeHarness({ fallback: "provider_b" }), UnsubscribeLinks, links)

/** Headers and texts of the mails that a provider took, oldest first. */
const taken = (harness: Effect.Success<ReturnType<typeof harnessWith>>) =>
  Effect.map(harness.providers.provider_a.copies, (copies) => copies.map(({ body }) => body))

describe("mail that its reader can leave (MAIL-67)", () => {
  it.effect("has a pair of headers and its link in the texts, with the name of its list", () =>
    Effect.gen(function* () {
      const harness = yield* harnessWith(makeLink)
      const text = "Bye: {{unsubscribe_url}}"
      const html = `<a href="%7B%7Bunsubscribe_url%7D%7D">Bye</a> {{ unsubscribe_url }}`
      const result = yield* harness.send(marketing({ list: "weekly", text, html }))
      assert.deepInclude(result, { status: "sent", oneClick: true })
      const [sent] = yield* taken(harness)
      const url = urlOf("a@x.test", "weekly")
      assert.deepStrictEqual(sent?.headers, {
        "List-Id": "<weekly.postlane.test>",
        "List-Unsubscribe": `<${url}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
      })
      assert.deepStrictEqual([sent?.text, sent?.html], [`Bye: ${url}`, `<a href="${url}">Bye</a> ${url}`])
      yield* harness.send(marketing())
      assert.strictEqual((yield* taken(harness))[1]?.headers["List-Unsubscribe"], `<${urlOf("a@x.test")}>`)
    })
  )

  it.effect("leaves other mail as it is", () =>
    Effect.gen(function* () {
      const harness = yield* harnessWith(makeLink)
      const result = yield* harness.send(plain({ text: "{{unsubscribe_url}}" }))
      assert.notProperty(result, "oneClick")
      const [sent] = yield* taken(harness)
      assert.deepStrictEqual([sent?.headers, sent?.text], [{}, "{{unsubscribe_url}}"])
    })
  )

  it.effect("keeps headers of the caller's own, and says whether a mail service takes them", () =>
    Effect.gen(function* () {
      const harness = yield* harnessWith(makeLink)
      const own = (link: string, post = true): Record<string, string> => ({
        "list-unsubscribe": link,
        ...(post ? { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" } : {})
      })
      const good = own("<mailto:bye@x.test>, <https://x.test/bye>")
      const kept = yield* harness.send(marketing({ headers: good, text: "{{unsubscribe_url}}" }))
      assert.strictEqual(kept.oneClick, true)
      const [sent] = yield* taken(harness)
      assert.deepStrictEqual([sent?.headers, sent?.text], [good, "https://x.test/bye"])
      for (const bad of [
        own("<http://x.test/bye>"),
        own("<mailto:bye@x.test>"),
        own("<https://x.test>", false)
      ]) {
        assert.strictEqual((yield* harness.send(marketing({ headers: bad }))).oneClick, false)
        const refused = yield* Effect.flip(harness.send(marketing({ headers: bad, list: "weekly" })))
        assert.strictEqual(refused._tag, "InvalidRequest")
      }
    })
  )

  it.effect(
    "without a link: mail of a list and a text that names one are refused, other marketing says so",
    () =>
      Effect.gen(function* () {
        const harness = yield* harnessWith(undefined)
        assert.strictEqual((yield* harness.send(marketing())).oneClick, false)
        const linked = yield* harnessWith(makeLink)
        const many = { to: ["a@x.test", "b@x.test"] }
        assert.strictEqual((yield* linked.send(marketing(many))).oneClick, false)
        const refusals = [
          harness.send(marketing({ list: "weekly" })),
          harness.send(marketing({ text: "{{unsubscribe_url}}" })),
          linked.send(marketing({ ...many, list: "weekly" })),
          linked.send(plain({ list: "weekly" }))
        ]
        for (const refusal of refusals)
          assert.strictEqual((yield* Effect.flip(refusal))._tag, "InvalidRequest")
        assert.lengthOf(yield* taken(harness), 1)
        for (const list of ["Weekly", "weekly news", "-a", "a..b", "", "a".repeat(65)])
          assert.isTrue(Result.isFailure(decodeSendRequest(marketing({ list }))), list)
      })
  )

  it.effect("waits for a link that cannot be made now", () =>
    Effect.gen(function* () {
      const harness = yield* harnessWith(() => Effect.fail(storeDown()))
      assert.strictEqual((yield* Effect.flip(harness.send(marketing())))._tag, "ClaimUnavailable")
      assert.strictEqual((yield* harness.send(plain())).status, "sent")
    })
  )

  it.effect(
    "who left the list gets the other one, a retry included, and all but marketing after leaving that",
    () =>
      Effect.gen(function* () {
        const harness = yield* harnessWith(makeLink)
        const { database } = harness
        const statusOf = (request: SendRequest) => Effect.map(harness.send(request), ({ status }) => status)
        harness.scripts.provider_a.push("ambiguous-lost")
        assert.strictEqual(yield* statusOf(marketing({ list: "weekly" })), "deferred")
        const [deferral] = yield* harness.queued
        assert.strictEqual(deferral?.details.list, "weekly")
        database.leaveList("a@x.test", "weekly")
        yield* harness.retry(deferral!)
        assert.strictEqual(database.rows().at(-1)?.outcome, "suppressed")
        const news = { category: "notification", list: "weekly" } as const
        assert.strictEqual(yield* statusOf(marketing({ list: "weekly" })), "suppressed")
        assert.strictEqual(yield* statusOf(plain(news)), "suppressed")
        assert.strictEqual(yield* statusOf(marketing({ list: "offers" })), "sent")
        assert.strictEqual(yield* statusOf(marketing()), "sent")
        database.unsubscribe("a@x.test")
        assert.strictEqual(yield* statusOf(marketing({ list: "offers" })), "suppressed")
        assert.strictEqual(yield* statusOf(plain({ ...news, list: "orders" })), "sent")
        assert.strictEqual(yield* statusOf(plain()), "sent")
      })
  )

  it.effect("the key is bound to the request, wherever the link leads", () =>
    Effect.gen(function* () {
      let host = "https://one.test"
      const harness = yield* harnessWith(() => Effect.sync(() => `${host}/unsubscribe/x`))
      const request = marketing({ idempotencyKey: "k", list: "weekly" })
      const first = yield* harness.send(request)
      host = "https://two.test"
      assert.deepStrictEqual(yield* harness.send(request), first)
      const other = yield* Effect.flip(harness.send({ ...request, list: "offers" }))
      assert.strictEqual(other._tag, "IdempotencyConflict")
    })
  )
})
