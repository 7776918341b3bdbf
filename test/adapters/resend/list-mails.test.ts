import { Effect, Exit, Fiber, Redacted, Stream } from "effect"
import * as fc from "fast-check"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"

import { examineAccount } from "../../../src/adapters/resend/account.ts"
import { decodeListItem, makeSentMails } from "../../../src/adapters/resend/list-mails.ts"
import { suppressionsOfTeam } from "../../../src/adapters/resend/suppressions.ts"
import type { ListFailure } from "../../../src/ports/delivery/event-poll.ts"
import type { Outcome } from "../../support/vendors/fake-http.ts"
import { fakeResend, type ListedItem } from "../../support/vendors/fake-resend.ts"

const KEY = "re_secret_4711"
let listed: ReadonlyArray<ListedItem> = []
const resend = fakeResend({ apiKey: KEY, listed: () => listed, scriptsList: true })
beforeAll(() => resend.listen())
afterAll(() => resend.close())
beforeEach(() => {
  resend.requests.length = 0
})

const list = (apiKey = KEY) => makeSentMails({ apiKey: Redacted.make(apiKey), baseUrl: `${resend.url}/` })
const page = (after?: string) => Effect.runPromise(list().page(after))
const failure = (after?: string, apiKey?: string): Promise<ListFailure> =>
  Effect.runPromise(Effect.flip(list(apiKey).page(after)))
const item = (id: string, changes: object = {}): ListedItem => ({
  id,
  message_id: `<${id}@x.test>`,
  to: ["Reader <Reader@Inbox.test>"],
  cc: null,
  bcc: ["b@x.test", "reader@inbox.test"],
  from: "Shop <Hello@shop.test>",
  subject: "Your order",
  created_at: "2026-04-03 22:13:42.674981+00",
  last_event: "delivered",
  scheduled_at: null,
  ...changes
})

describe("the list of mails", () => {
  it("comes in pages of 100, newest first, each after the last of the one before", async () => {
    await resend.always("ok")
    listed = Array.from({ length: 250 }, (_, index) => item(`m-${index}`))
    const ids: Array<string> = []
    let after: string | undefined
    do {
      const { mails, next } = await page(after)
      ids.push(...mails.map(({ id }) => id))
      after = next
    } while (after !== undefined)
    assert.deepStrictEqual(
      ids,
      listed.map(({ id }) => id)
    )
    assert.deepStrictEqual(
      resend.requests.map(({ path }) => path),
      ["/emails?limit=100", "/emails?limit=100&after=m-99", "/emails?limit=100&after=m-199"]
    )
  })

  it("is asked for under the agent's name of the settings, as are the account and its suppressions", async () => {
    await resend.always("ok")
    listed = []
    const options = { apiKey: Redacted.make(KEY), baseUrl: resend.url, userAgent: "shop/2" }
    await Effect.runPromise(makeSentMails(options).page(undefined))
    await Effect.runPromise(examineAccount(options))
    await Effect.runPromise(Stream.runDrain(suppressionsOfTeam(options)))
    assert.deepStrictEqual(
      resend.requests.map(({ headers, path }) => [path, headers["user-agent"]]),
      [
        ["/emails?limit=100", "shop/2"],
        ["/domains?limit=100", "shop/2"],
        ["/suppressions?limit=100", "shop/2"]
      ]
    )
  })

  it("is read into the core's words, both of the vendor's times included", () => {
    const raw = item("m-1")
    assert.deepStrictEqual(decodeListItem(raw), {
      id: "m-1",
      lastEvent: "delivered",
      sentAt: Date.parse("2026-04-03T22:13:42.674Z"),
      recipients: ["reader@inbox.test", "b@x.test"],
      from: "hello@shop.test",
      subject: "Your order",
      raw
    })
    const other = decodeListItem(item("m-1", { created_at: "2026-04-03T22:13:42.674981+00:00" }))
    assert.strictEqual(other?.sentAt, Date.parse("2026-04-03T22:13:42.674Z"))
  })

  it("leaves out what is no mail, and counts it; any item gives an answer", async () => {
    let deep: unknown = "x"
    for (let depth = 0; depth < 2_000; depth += 1) deep = [deep]
    const junk: ReadonlyArray<unknown> = [
      null,
      7,
      [],
      { id: "x" },
      { id: "", last_event: "sent" },
      { id: "a\nb", last_event: "sent" },
      { id: "x".repeat(300), last_event: "sent" },
      { id: {}, last_event: "sent" },
      { id: "x", last_event: "<script>" },
      { id: "x", last_event: "sent", tags: deep }
    ]
    const data = [...junk, { id: "good", last_event: "sent" }, null]
    await resend.always({ reply: { status: 200, body: { object: "list", has_more: true, data } } })
    const { mails, next, unreadable } = await page()
    assert.deepStrictEqual([mails.map(({ id }) => id), unreadable, next], [["good"], 11, "good"])
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({
            id: fc.anything(),
            last_event: fc.anything(),
            to: fc.anything(),
            created_at: fc.anything()
          })
        ),
        (value) => {
          const mail = decodeListItem(value)
          if (mail !== undefined) assert.match(mail.id, /^[\x21-\x7e]{1,255}$/)
        }
      )
    )
  })

  it("is not there where the answer is no list", async () => {
    const reply = (body: object | string): Outcome => ({ reply: { status: 200, body } })
    const answers: ReadonlyArray<Outcome> = [
      reply({}),
      reply({ data: "x" }),
      reply({ data: {}, has_more: false }),
      reply([]),
      "html-200",
      "empty-200",
      "truncated-200",
      "502-html",
      "503",
      "500",
      "reset-before"
    ]
    for (const answer of answers) {
      await resend.always(answer)
      assert.strictEqual((await failure()).kind, "unavailable", JSON.stringify(answer))
    }
  })

  it("tells a throttled caller how long to wait, as far as the vendor says so", async () => {
    await resend.always("429")
    const { kind, retryAfterMs } = await failure()
    assert.deepStrictEqual([kind, retryAfterMs], ["throttled", 1_000])
    for (const value of ["soon", "-1", "", "1e9"]) {
      const body = { statusCode: 429, name: "daily_quota_exceeded", message: "no" }
      await resend.always({ reply: { status: 429, headers: { "retry-after": value }, body } })
      const throttled = await failure()
      assert.deepStrictEqual([throttled.kind, throttled.retryAfterMs], ["throttled", undefined])
    }
  })

  it("tells a refused key from a cursor that is gone, and repeats no key", async () => {
    await resend.always("ok")
    listed = [item("m-1")]
    assert.strictEqual((await failure("gone")).kind, "cursor")
    assert.strictEqual((await failure(undefined, "re_wrong")).kind, "refused")
    const body = { statusCode: 401, name: "restricted_api_key", message: `the key ${KEY} may only send` }
    await resend.always({ reply: { status: 401, body } })
    const refused = await failure("m-1")
    assert.strictEqual(refused.kind, "refused")
    assert.notInclude(refused.message, KEY)
    await resend.always("422")
    assert.strictEqual((await failure()).kind, "refused")
    assert.strictEqual((await failure(undefined, "no key\n")).kind, "unconfigured")
    assert.strictEqual((await failure(undefined, "")).kind, "unconfigured")
  })

  it("does not delay an interrupted caller", async () => {
    await resend.always("hang")
    const asking = Effect.runFork(list().page(undefined))
    await resend.until(() => resend.requests.length > 0)
    const exit = await Effect.runPromise(Effect.andThen(Fiber.interrupt(asking), Fiber.await(asking)))
    assert.isTrue(Exit.isFailure(exit))
    await resend.until(() => resend.requests.some(({ aborted }) => aborted))
  })
})
