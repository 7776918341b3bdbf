import { createTransport } from "nodemailer"
import type { Resend as TheirResend } from "resend"
import { afterAll, assert, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from "vitest"

import type { SendRequest } from "../../../src/domain/mail/message.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { close } from "../../../src/runtime/entries/library.ts"
import { postlaneTransport } from "../../../src/runtime/entries/nodemailer.ts"
import { Resend } from "../../../src/runtime/entries/resend.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { sent } from "../http/harness.ts"

const requests: Array<SendRequest> = []
let answers: Array<SendResult> = []
beforeEach(() => {
  requests.length = 0
  answers = []
})
const send = (request: SendRequest) => {
  requests.push(request)
  return Promise.resolve(answers.shift() ?? sent)
}

const failed = (kind: "rejected" | "unavailable" | "ambiguous", error = "no"): SendResult => ({
  ...sent,
  ok: false,
  status: "failed",
  kind,
  error,
  providerMessageId: null
})
const suppressed: SendResult = {
  ...sent,
  ok: false,
  status: "suppressed",
  error: "Recipient suppressed: hard bounce",
  providerMessageId: null,
  suppressedRecipients: ["a@x.test"]
}

const email = { from: "Shop <shop@x.test>", to: "a@x.test", subject: "Hello", html: "<p>Hi</p>" }

describe("in place of Resend's SDK", () => {
  const resend = new Resend("re_key", { send, source: "api:shop" })

  it("takes what it takes and answers as it does", async () => {
    type Theirs = InstanceType<typeof TheirResend>
    expectTypeOf(resend.emails.send).toBeCallableWith(email)
    expectTypeOf<Theirs["emails"]["send"]>().toBeCallableWith(email)
    const { data, error } = await resend.emails.send(
      {
        ...email,
        replyTo: ["b@x.test"],
        tags: [{ name: "order", value: "17" }],
        headers: { "X-Order": "17" },
        category: "notification",
        list: "orders",
        attachments: [
          { filename: "a.txt", content: Buffer.from("öl"), contentType: "text/plain" },
          { filename: "b.txt", content: "aGk=", contentId: "b" }
        ]
      },
      { idempotencyKey: "order-17" }
    )
    expect([data, error]).toEqual([{ id: sent.sendId, status: "sent" }, null])
    expect(requests).toEqual([
      {
        ...email,
        replyTo: ["b@x.test"],
        tags: { order: "17" },
        headers: { "X-Order": "17" },
        attachments: [
          { filename: "a.txt", content: "w7Zs", contentType: "text/plain" },
          { filename: "b.txt", content: "aGk=", contentId: "b" }
        ],
        category: "notification",
        list: "orders",
        source: "api:shop",
        idempotencyKey: "order-17"
      }
    ])
  })

  it.each([
    [{ react: {} }, "invalid_parameter"],
    [{ template: { id: "t" } }, "invalid_parameter"],
    [{ scheduledAt: "in 1 hour" }, "validation_error"],
    [{ scheduledAt: "2026-01-31T09:00:00Z" }, "invalid_parameter"],
    [{ topicId: "t" }, "invalid_parameter"],
    [{ scheduled_at: "in 1 hour" }, "validation_error"],
    [{ topic_id: "t" }, "invalid_parameter"],
    [{ replyTos: "b@x.test" }, "invalid_parameter"],
    [{ replyTo: "b@x.test", reply_to: "c@x.test" }, "invalid_parameter"],
    [{ attachments: [{ filename: "a", content: "aGk=", cid: "a" }] }, "invalid_parameter"],
    [{ attachments: [{ filename: "a", path: "https://x.test/a" }] }, "invalid_attachment"],
    [{ subject: 7 as unknown as string }, "validation_error"]
  ])("refuses %j instead of sending another mail than was meant", async (part, name) => {
    const { data, error } = await resend.emails.send({ ...email, ...part })
    expect([data, error?.name, error?.statusCode]).toEqual([null, name, 422])
    expect(requests).toEqual([])
  })

  it("takes the names that members had before, and have over HTTP", async () => {
    const old = {
      ...email,
      reply_to: "b@x.test",
      topicId: null,
      attachments: [
        { filename: "a.txt", content: "aGk=", content_type: "text/plain", content_id: "a" },
        { filename: "b.txt", content: "aGk=", inlineContentId: "b" }
      ]
    }
    const { error } = await resend.emails.send(old, { idempotency_key: "order-17" } as object)
    expect(error).toBeNull()
    expect(requests[0]).toMatchObject({
      replyTo: "b@x.test",
      idempotencyKey: "order-17",
      attachments: [{ contentType: "text/plain", contentId: "a" }, { contentId: "b" }]
    })
  })

  it("refuses options that it does not know, with the name that was meant", async () => {
    const one = await resend.emails.send(email, { idempotencykeys: "k" } as object)
    expect(one.error?.message).toBe("idempotencykeys is not known here; did you mean idempotencyKey?")
    const batch = await resend.batch.send([email], { mode: "strict" } as object)
    expect(batch.error?.message).toBe("mode is not known here; known are idempotencyKey, batchValidation")
    expect(requests).toEqual([])
  })

  it("answers with an error, and does not throw, what JavaScript can hand over", async () => {
    const wrong: ReadonlyArray<unknown> = [
      undefined,
      null,
      "mail",
      [],
      { ...email, attachments: "a.txt" },
      { ...email, attachments: [null] },
      { ...email, attachments: [{ filename: "a", content: 5 }] },
      { ...email, attachments: [{ filename: "a", content: {} }] },
      { ...email, attachments: [{ filename: "a", content: [256] }] },
      { ...email, tags: { order: "17" } },
      { ...email, tags: [null] },
      { ...email, tags: [{ name: "order", value: 17 }] }
    ]
    for (const one of wrong) {
      const alone = await resend.emails.send(one as typeof email)
      const batch = await resend.batch.send([email, one as typeof email])
      for (const { data, error } of [alone, batch]) expect([data, error?.statusCode]).toEqual([null, 422])
    }
    for (const batch of [undefined, null, {}, "mails"])
      expect((await resend.batch.send(batch as Array<typeof email>)).error?.name).toBe("validation_error")
    expect(requests).toEqual([])
    const bytes = [
      new Uint8Array([104, 105]),
      new Uint8Array([104, 105]).buffer,
      Buffer.from("hi"),
      [104, 105]
    ]
    for (const content of bytes)
      await resend.emails.send({ ...email, attachments: [{ filename: "a", content }] })
    expect(requests.map(({ attachments }) => attachments?.[0]?.content)).toEqual(bytes.map(() => "aGk="))
  })

  it.each([
    [suppressed, "validation_error", 422],
    [failed("rejected"), "validation_error", 422],
    [failed("unavailable"), "application_error", 503],
    [failed("ambiguous"), "application_error", 500],
    [
      failed("rejected", "This idempotency key was used with another payload in the last 24 hours"),
      "invalid_idempotent_request",
      409
    ],
    [
      failed("ambiguous", "A call with this idempotency key is under way"),
      "concurrent_idempotent_requests",
      409
    ]
  ])("reports %o in its words", async (result, name, statusCode) => {
    answers = [result]
    const { data, error } = await resend.emails.send(email)
    expect([data, error]).toEqual([
      null,
      { name, statusCode, message: "error" in result ? result.error : "" }
    ])
  })

  it("sends a batch, each mail on a key of its own; strict sends none where one is not valid", async () => {
    const many = Array.from({ length: 25 }, (_, at) => ({ ...email, to: `a${at}@x.test` }))
    const { data } = await resend.batch.send(many, { idempotencyKey: "batch-1" })
    expect(data?.data.length).toBe(25)
    expect(requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual(many.map((_, at) => `batch-1/${at}`))
    requests.length = 0
    const wrong = { ...email, scheduledAt: "tomorrow" }
    expect((await resend.batch.send([email, wrong])).error?.name).toBe("validation_error")
    expect(requests).toEqual([])
    for (const part of [{ to: "nobody" }, { html: undefined }, { subject: " " }]) {
      const { error } = await resend.batch.send([email, { ...email, ...part }])
      expect([error?.name, error?.statusCode, requests]).toEqual(["validation_error", 422, []])
    }
    const permissive = await resend.batch.send([email, wrong], { batchValidation: "permissive" })
    expect(permissive.data).toEqual({
      data: [{ id: sent.sendId }],
      errors: [{ index: 1, message: expect.stringContaining("scheduledAt") }]
    })
    answers = [sent, failed("unavailable"), sent]
    const partly = await resend.batch.send([email, email, email])
    expect(partly.error?.message).toMatch(/^2 of 3 were accepted, mail 1 was not/)
    expect((await resend.batch.send(Array.from({ length: 101 }, () => email))).error?.name).toBe(
      "validation_error"
    )
  })
})

describe("as a transport of nodemailer", () => {
  const transport = createTransport(postlaneTransport({ send, category: "notification" }))

  it("sends what nodemailer has resolved", async () => {
    const message = {
      from: '"Müller, Ö" <shop@x.test>',
      to: "Ann <a@x.test>, b@x.test",
      bcc: { name: "", address: "c@x.test" },
      subject: "Hello",
      text: Buffer.from("Grüße"),
      html: "<img src='cid:logo'>",
      priority: "high" as const,
      inReplyTo: "<1@x.test>",
      attachments: [
        { filename: "a.txt", content: "öl" },
        { filename: "logo.png", content: "AAEC", encoding: "base64", cid: "logo" },
        { path: "data:text/plain;base64,aGk=", filename: "c.txt" }
      ],
      mailingList: "orders",
      idempotencyKey: "order-17"
    }
    const info = await transport.sendMail(message)
    expect(info).toMatchObject({ messageId: "m-1", rejected: [], response: "sent" })
    expect(info.accepted).toEqual(["a@x.test", "b@x.test", "c@x.test"])
    const [request] = requests
    assert.isDefined(request)
    expect(request).toMatchObject({
      from: '"Müller, Ö" <shop@x.test>',
      to: ['"Ann" <a@x.test>', "b@x.test"],
      bcc: ["c@x.test"],
      text: "Grüße",
      category: "notification",
      list: "orders",
      source: "nodemailer",
      idempotencyKey: "order-17"
    })
    expect(request.attachments?.map(({ content, contentId }) => [content, contentId])).toEqual([
      ["w7Zs", undefined],
      ["AAEC", "logo"],
      ["aGk=", undefined]
    ])
    expect(Object.keys(request.headers ?? {}).map((name) => name.toLowerCase())).toEqual(
      expect.arrayContaining(["in-reply-to", "x-priority"])
    )
    expect(Object.keys(request.headers ?? {}).map((name) => name.toLowerCase())).not.toContain("message-id")
  })

  it("sends headers in each of the forms that nodemailer takes", async () => {
    const message = { from: "s@x.test", to: "a@x.test", subject: "s", text: "t" }
    const forms = [
      { headers: { "X-Order": 17, "X-Prepared": { prepared: true, value: "a" } }, xMailer: "Shop 2" },
      { headers: [{ key: "X-Order", value: "17" }], priority: "High" },
      { headers: { "X-Order": ["17"] }, list: { unsubscribe: ["https://x.test/u", "u@x.test"] } }
    ]
    for (const form of forms) await transport.sendMail({ ...message, ...form })
    expect(requests.map(({ headers }) => headers)).toEqual([
      { "X-Order": "17", "X-Prepared": "a", "X-Mailer": "Shop 2" },
      { "X-Order": "17", "X-Priority": "1 (Highest)", "X-MSMail-Priority": "High", Importance: "High" },
      { "X-Order": "17", "list-unsubscribe": "<https://x.test/u>, <mailto:u@x.test>" }
    ])
  })

  it("rejects with the result where nothing was accepted, and names suppressed recipients where something was", async () => {
    answers = [failed("unavailable"), suppressed, { ...sent, suppressedRecipients: ["b@x.test"] }]
    const message = { from: "s@x.test", to: ["a@x.test", "B@x.test"], subject: "s", text: "t" }
    await expect(transport.sendMail(message)).rejects.toMatchObject({
      code: "ESEND",
      result: { kind: "unavailable" }
    })
    await expect(transport.sendMail(message)).rejects.toMatchObject({ code: "EMESSAGE" })
    const info = await transport.sendMail(message)
    expect([info.accepted, info.rejected]).toEqual([["a@x.test"], ["b@x.test"]])
    await expect(transport.verify()).rejects.toMatchObject({ code: "EVERIFY" })
  })

  it.each([
    { raw: "From: a" },
    { icalEvent: "BEGIN:VCALENDAR" },
    { alternatives: [{ content: "x" }] },
    { envelope: { from: "x@x.test", to: "y@x.test" } },
    { attachments: [{ filename: "a.txt", content: "a" }, { raw: "Content-Type: text/plain\r\n\r\nb" }] },
    { attachments: [{ filename: "a.txt", content: "a", headers: { "X-A": "1" } }] },
    { dsn: { id: "1", return: "headers" } },
    { to: "Team: a@x.test, b@x.test;" },
    { idempotency_key: "order-17" },
    { categorie: "auth" },
    { headers: { "X-Tag": ["a", "b"] } },
    { headers: { "X-Tag": "a", "x-tag": "b" } },
    {
      headers: [
        { key: "X-Tag", value: "a" },
        { key: "X-Tag", value: "b" }
      ]
    }
  ])("refuses %j instead of leaving it out", async (part) => {
    const message = { from: "s@x.test", to: "a@x.test", subject: "s", text: "t", ...part }
    await expect(transport.sendMail(message)).rejects.toMatchObject({ code: "EMESSAGE" })
    expect(requests).toEqual([])
  })
})

describe("both on the library itself", () => {
  const provider = fakeResend()
  beforeAll(() => provider.listen())
  afterAll(async () => {
    await close()
    await provider.close()
  })

  it("send by the provider that the settings name, and keep the key", async () => {
    const env = { PROVIDERA_API_KEY: "re_key", PROVIDERA_BASE_URL: provider.url }
    const one = await new Resend(undefined, { env }).emails.send(email, { idempotencyKey: "order-1" })
    expect(one.error).toBeNull()
    await createTransport(postlaneTransport({ env })).sendMail({
      ...email,
      idempotencyKey: "order-2"
    } as typeof email)
    expect(provider.accepted.map(({ key }) => key)).toEqual(["order-1", "order-2"])
  })
})
