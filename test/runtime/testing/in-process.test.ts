import { Effect } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

import { layer, Mailer, sendEmail, type SendRequest } from "../../../src/runtime/entries/library.ts"
import { Resend } from "../../../src/runtime/entries/resend.ts"
import { type SimulatedEmail, simulateEmail, UnexpectedMails } from "../../../src/runtime/entries/testing.ts"
import { until } from "../../support/until.ts"

const RECEIPT = {
  to: "Ann <ann@shop.test>",
  subject: "Your receipt",
  text: "See https://shop.test/orders/17.",
  html: `<p>See <a href="https://shop.test/orders/17">your order</a></p>`,
  category: "transactional",
  source: "api:test",
  idempotencyKey: "receipt/17",
  headers: { "X-Order": "17" },
  attachments: [{ filename: "receipt.txt", content: Buffer.from("17 €").toString("base64") }]
} as const satisfies SendRequest

let mail: SimulatedEmail
beforeEach(async () => {
  mail = await simulateEmail({ env: {} })
})
afterEach(() => mail.close())

/** What a call that is to fail says. */
const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => assert.fail("it did not fail"),
    (error: unknown) => {
      assert.instanceOf(error, UnexpectedMails)
      return error.message
    }
  )

describe("a send of this process", () => {
  it("arrives in the outbox, decoded, and once for a key that is sent twice (I1)", async () => {
    const results = [await sendEmail(RECEIPT), await mail.sendEmail(RECEIPT)]
    assert.deepStrictEqual(results[0], results[1])
    assert.deepInclude(results[0], { ok: true, status: "sent", provider: "provider_a" })
    const receipt = await mail.outbox.expectOne({ to: "ANN@shop.test", subject: "Your receipt" })
    assert.deepInclude(receipt, {
      text: `${RECEIPT.text}\n`,
      idempotencyKey: "receipt/17",
      category: "transactional",
      tags: {},
      events: []
    })
    assert.include(receipt.html, "your order</a>")
    assert.strictEqual(receipt.headers["x-order"], "17")
    assert.deepStrictEqual(receipt.links, [{ text: "your order", href: "https://shop.test/orders/17" }])
    const [file] = receipt.attachments
    assert.deepStrictEqual([file?.filename, Buffer.from(file!.content).toString()], ["receipt.txt", "17 €"])
  })

  it("is one of Resend's drop-in and of the Effect service, too", async () => {
    const resend = new Resend("re_none", { source: "api:test" })
    const { error } = await resend.emails.send({
      from: "s@x.test",
      to: "a@x.test",
      subject: "One",
      text: "t"
    })
    assert.isNull(error)
    await mail.outbox.expectOne({ subject: "One" })
    await Mailer.use(({ send }) => send({ ...RECEIPT, subject: "Two" })).pipe(
      Effect.provide(layer()),
      Effect.runPromise
    )
    await mail.outbox.expectOne({ subject: /^Tw/, category: "transactional", via: "provider_a" })
  })

  it("goes nowhere real after the end of the simulation, nor to one that began before", async () => {
    const inner = await simulateEmail({ env: {} })
    await sendEmail(RECEIPT)
    await inner.close()
    await mail.outbox.expectNone()
    await sendEmail(RECEIPT)
    await mail.outbox.expectOne({ to: "ann@shop.test" })
    await mail.close()
    assert.deepInclude(await sendEmail(RECEIPT, { env: {} }), { ok: false, kind: "unavailable" })
  })
})

it("is the simulation's that began last, also after an earlier one has ended", async () => {
  const later = await simulateEmail({ env: {} })
  await mail.close()
  await sendEmail(RECEIPT)
  const { subject } = await later.outbox.expectOne({ to: "ann@shop.test" })
  assert.strictEqual(subject, RECEIPT.subject)
  await later.close()
})

describe("an expectation that is not met", () => {
  it("names what is there", async () => {
    await sendEmail(RECEIPT)
    const missing = await refusal(mail.outbox.expectOne({ to: "bob@shop.test" }, { withinMs: 1 }))
    assert.match(missing, /a mail with to "bob@shop.test".*has: \n {2}"Your receipt" to .*ann@shop.test/)
    await sendEmail({ ...RECEIPT, idempotencyKey: "receipt/18" })
    const twice = await refusal(mail.outbox.expectOne({ subject: /receipt/ }))
    assert.strictEqual(twice.match(/"Your receipt"/g)?.length, 2)
    assert.include(await refusal(mail.outbox.expectNone({ subject: "Your receipt" })), "Ann <ann@shop.test>")
    await mail.outbox.clear()
    await mail.outbox.expectNone()
  })

  it("waits for a mail that is under way", async () => {
    const expected = mail.outbox.expectOne({ to: "ann@shop.test" })
    await sendEmail(RECEIPT)
    assert.strictEqual((await expected).subject, "Your receipt")
  })
})

describe("a provider", () => {
  it("follows its script with the next requests: it fails over, and refuses", async () => {
    await mail.provider.next(["unavailable", "rejected"])
    assert.deepInclude(await sendEmail(RECEIPT), { ok: true, failedOver: true, provider: "provider_b" })
    const refused = await sendEmail({ ...RECEIPT, idempotencyKey: "other" })
    assert.deepInclude(refused, { ok: false, status: "failed", kind: "rejected" })
    await mail.outbox.expectOne({ via: "provider_b" })
    assert.deepStrictEqual(
      mail.log().map(({ status }) => status),
      ["sent", "failed"]
    )
  })

  it.each([{ to: "Bob@shop.test" }, { key: "b" }, { category: "notification" }])(
    "does it with one mail alone: %j",
    async (target) => {
      await mail.provider.next("rejected", { for: target })
      const send = (to: string, idempotencyKey: string, category: SendRequest["category"]) =>
        sendEmail({ ...RECEIPT, to, idempotencyKey, category })
      assert.isTrue((await send("ann@shop.test", "a", "transactional")).ok)
      assert.isFalse((await send("bob@shop.test", "b", "notification")).ok)
      assert.isTrue((await send("bob@shop.test", "c", "notification")).ok)
    }
  )

  it("has what is for one mail before what is for all, and keeps both", async () => {
    await mail.provider.always("rejected")
    await mail.provider.next(["ok", "ok"], { for: { to: "ann@shop.test" } })
    await mail.provider.next("unavailable", { for: { key: "k" } })
    const kindOf = async (change: Partial<SendRequest>) => {
      const result = await sendEmail({ ...RECEIPT, ...change })
      return result.ok ? result.provider : result.status === "failed" && result.kind
    }
    assert.strictEqual(await kindOf({ to: "bob@shop.test" }), "rejected")
    assert.strictEqual(await kindOf({ to: "bob@shop.test", idempotencyKey: "k" }), "provider_b")
    assert.strictEqual(await kindOf({ idempotencyKey: "1" }), "provider_a")
    assert.strictEqual(await kindOf({ idempotencyKey: "2" }), "provider_a")
    assert.strictEqual(await kindOf({ idempotencyKey: "3" }), "rejected")
  })

  it("reports a bounce: the row says so, and nothing goes there any more", async () => {
    await sendEmail(RECEIPT)
    await mail.bounce(await mail.outbox.expectOne({ to: "ann@shop.test" }))
    assert.deepStrictEqual(mail.suppressions(), [{ email: "ann@shop.test", reason: "hard_bounce" }])
    assert.deepInclude(mail.log()[0], { status: "bounced", lastEvent: "bounced" })
    const again = await sendEmail({ ...RECEIPT, idempotencyKey: "receipt/18" })
    assert.deepInclude(again, { ok: false, status: "suppressed" })
    assert.deepInclude(await mail.outbox.expectOne({ to: "ann@shop.test" }), { events: ["bounced"] })
  })

  it("reports a complaint of one recipient, by the other provider", async () => {
    await sendEmail({ ...RECEIPT, to: ["ann@shop.test", "bob@shop.test"], provider: "provider_b" })
    const sent = await mail.outbox.expectOne({ to: "bob@shop.test" })
    await mail.complain(sent, { recipients: ["bob@shop.test"] })
    assert.deepStrictEqual(mail.suppressions(), [{ email: "bob@shop.test", reason: "complaint" }])
  })
})

describe("the clock", () => {
  it("ends a wait for an answer, and brings the retry, which sends the mail once (I1)", async () => {
    await mail.provider.next("hang-lost")
    const sending = sendEmail(RECEIPT)
    let isAsked = false
    void sending.then(() => (isAsked = true))
    while (!isAsked) await mail.clock.advance("1 second")
    assert.deepInclude(await sending, { ok: true, status: "deferred" })
    await mail.outbox.expectNone()
    await mail.clock.advance("2 minutes")
    await mail.outbox.expectOne({ idempotencyKey: "receipt/17" })
    await until("the retry has its row", async () => mail.log().length === 2)
    assert.deepStrictEqual(
      mail.log().map(({ status }) => status),
      ["deferred", "sent"]
    )
  })
})
