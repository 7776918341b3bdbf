import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { SendRequest } from "../../../../../src/domain/mail/message.ts"
import {
  ClaimUnavailable,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest,
  type NotBegun,
  type SendResult
} from "../../../../../src/domain/mail/send-result.ts"
import { call, mail, relay, sent, startServer, type TestServer } from "../../harness.ts"

/** What the next send does. */
let next: (request: SendRequest) => Effect.Effect<SendResult, NotBegun>
const got: Array<SendRequest> = []
let server: TestServer

beforeAll(async () => {
  server = await startServer({
    send: (request) => {
      got.push(request)
      return next(request)
    }
  })
})
afterAll(() => server.stop())

const failed = (
  kind: "rejected" | "unavailable" | "ambiguous",
  provider: "provider_a" | "provider_b" = "provider_a"
) =>
  ({
    ok: false,
    status: "failed",
    error: "the provider said no",
    kind,
    sendId: sent.sendId,
    provider,
    providerMessageId: null,
    failedOver: false,
    idempotencyKey: "order-17",
    suppressedRecipients: []
  }) as const satisfies SendResult

describe("where no mail goes out (EMAIL_PRIMARY=none)", () => {
  it("each route that sends answers 503 PROVIDER_NOT_CONFIGURED, which a repetition does not change", async () => {
    const before = got.length
    const silent = await startServer({ sendsMail: false, send: () => Effect.succeed(sent) })
    try {
      const answers = [
        await relay(silent, mail, {}, "/internal/send-email"),
        await relay(silent, mail, {}, "/api/send-email"),
        await relay(silent, { ...mail, queue: true }, {}, "/internal/send-email"),
        await relay(silent, { emails: [mail] }, {}, "/api/send-email/batch")
      ]
      for (const { json, status } of answers) {
        expect(status).toBe(503)
        expect(json).toMatchObject({ code: "PROVIDER_NOT_CONFIGURED", retryable: false })
      }
      const stranger = await relay(silent, mail, { "x-proxy-secret": "wrong" }, "/internal/send-email")
      expect(stranger.status).toBe(403)
      expect(got.length).toBe(before)
    } finally {
      await silent.stop()
    }
  })
})

describe("the relay's answers", () => {
  it("200 with the result's members, on both paths", async () => {
    next = () => Effect.succeed(sent)
    for (const path of ["/internal/send-email", "/api/send-email"]) {
      const answer = await relay(server, { ...mail, idempotencyKey: "order-17" }, {}, path)
      expect(answer.status).toBe(200)
      expect(answer.headers["content-type"]).toBe("application/json")
      expect(answer.json).toEqual(sent)
      expect(got.at(-1)).toEqual({ ...mail, idempotencyKey: "order-17" })
    }
  })

  it("503 UNAVAILABLE, retryable, where `requireClaim` cannot be had (MAIL-45)", async () => {
    next = () => Effect.fail(new ClaimUnavailable({ idempotencyKey: "order-17" }))
    const asked = { ...mail, idempotencyKey: "order-17", requireClaim: true }
    const answer = await relay(server, asked)
    expect(got.at(-1)).toEqual(asked)
    expect(answer.status).toBe(503)
    expect(answer.json).toMatchObject({ code: "UNAVAILABLE", retryable: true })
  })

  it("200 for a deferred send", async () => {
    const deferred: SendResult = { ...sent, ok: true, status: "deferred", providerMessageId: null }
    next = () => Effect.succeed(deferred)
    const answer = await relay(server, mail)
    expect([answer.status, answer.json]).toEqual([200, deferred])
  })

  it("422 EMAIL_SUPPRESSED, not retryable", async () => {
    next = () =>
      Effect.succeed({
        ok: false,
        status: "suppressed",
        error: "Recipient suppressed: hard bounce",
        sendId: sent.sendId,
        provider: null,
        providerMessageId: null,
        failedOver: false,
        idempotencyKey: "order-17",
        suppressedRecipients: ["a@x.test"]
      })
    const answer = await relay(server, mail)
    expect(answer.headers["content-type"]).toBe("application/problem+json")
    expect([answer.status, answer.json]).toEqual([
      422,
      {
        type: "urn:postlane:problem:email-suppressed",
        title: "Every recipient is suppressed",
        status: 422,
        detail: "Recipient suppressed: hard bounce",
        code: "EMAIL_SUPPRESSED",
        retryable: false,
        sendId: sent.sendId,
        idempotencyKey: "order-17",
        suppressedRecipients: ["a@x.test"]
      }
    ])
  })

  it.each([
    ["rejected", "provider_a", "order-17", false],
    ["unavailable", "provider_a", "order-17", true],
    ["unavailable", "provider_b", undefined, true],
    ["ambiguous", "provider_a", "order-17", true],
    ["ambiguous", "provider_a", undefined, false],
    ["ambiguous", "provider_b", "order-17", false]
  ] as const)(
    "500 EMAIL_FAILED: %s of %s under key %s is retryable: %s",
    async (kind, provider, key, retryable) => {
      next = () => Effect.succeed(failed(kind, provider))
      const answer = await relay(server, key === undefined ? mail : { ...mail, idempotencyKey: key })
      expect(answer.status).toBe(500)
      expect(answer.json).toMatchObject({
        code: "EMAIL_FAILED",
        type: "urn:postlane:problem:email-failed",
        detail: "the provider said no",
        kind,
        retryable
      })
    }
  )

  it("409 for a key that stands for another payload, and for one under way", async () => {
    next = () => Effect.fail(new IdempotencyConflict({ idempotencyKey: "k" }))
    const conflict = await relay(server, mail)
    expect([conflict.status, conflict.json.code, conflict.json.retryable]).toEqual([
      409,
      "IDEMPOTENCY_CONFLICT",
      false
    ])
    next = () => Effect.fail(new IdempotencyInProgress({ idempotencyKey: "k" }))
    const busy = await relay(server, mail)
    expect([busy.status, busy.json.code, busy.json.retryable]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS", true])
  })

  it("400 for what the mailer finds wrong, with every field named", async () => {
    const issues = [
      { path: "to", message: "more than 50 recipients with cc and bcc" },
      { path: "headers.X-A", message: "holds a line break or NUL" }
    ]
    next = () => Effect.fail(new InvalidRequest({ issues }))
    const answer = await relay(server, mail)
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ code: "INVALID_REQUEST", retryable: false, issues })
    expect(answer.json.detail).toContain("headers.X-A: holds a line break")
  })

  it("500 INTERNAL for a defect: logged with its cause, nothing of it in the answer", async () => {
    next = () => Effect.die(new Error("password=hunter2"))
    const answer = await relay(server, mail, { "x-request-id": "req-500" })
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([500, "INTERNAL", false])
    expect(answer.text).not.toMatch(/hunter2|at |\.ts/)
    expect(server.logs.join("\n")).toMatch(/hunter2/)
  })
})

describe("the header Idempotency-Key", () => {
  it("is the key of a request that has none", async () => {
    next = () => Effect.succeed(sent)
    for (const path of ["/internal/send-email", "/api/send-email"]) {
      for (const body of [mail, { ...mail, idempotencyKey: null }, { ...mail, idempotencyKey: "order-17" }]) {
        expect((await relay(server, body, { "idempotency-key": "order-17" }, path)).status).toBe(200)
        expect(got.at(-1)).toEqual({ ...mail, idempotencyKey: "order-17" })
      }
    }
  })

  it("is refused where it differs from the member, where it is empty, and where it is too long", async () => {
    const calls = got.length
    const differs = await relay(server, { ...mail, idempotencyKey: "a" }, { "idempotency-key": "b" })
    expect([differs.status, differs.json.code, differs.json.retryable]).toEqual([
      409,
      "IDEMPOTENCY_CONFLICT",
      false
    ])
    for (const key of ["", "k".repeat(257)]) {
      const answer = await relay(server, mail, { "idempotency-key": key })
      expect([answer.status, answer.json.issues[0].path]).toEqual([400, "idempotencyKey"])
    }
    expect(got.length).toBe(calls)
  })
})

describe("the relay's body", () => {
  const before = () => {
    next = () => Effect.succeed(sent)
    return got.length
  }

  it.each([
    ["no JSON", "{", ""],
    ["empty", "", ""],
    ["trailing comma", '{"to":"a@x.test",}', ""],
    ["cut", JSON.stringify(mail).slice(0, -5), ""],
    ["null", "null", ""],
    ["a list", "[]", ""],
    ["a string", '"hello"', ""],
    ["a number for to", JSON.stringify({ ...mail, to: 5 }), "to"],
    ["null for to", JSON.stringify({ ...mail, to: null }), "to"],
    ["an object for subject", JSON.stringify({ ...mail, subject: {} }), "subject"],
    ["another category", JSON.stringify({ ...mail, category: "spam" }), "category"],
    ["another provider", JSON.stringify({ ...mail, provider: "provider_c" }), "provider"],
    ["an empty key", JSON.stringify({ ...mail, idempotencyKey: "" }), "idempotencyKey"],
    ["a long key", JSON.stringify({ ...mail, idempotencyKey: "k".repeat(257) }), "idempotencyKey"],
    ["a number as a header", JSON.stringify({ ...mail, headers: { "X-A": 1 } }), "headers.X-A"],
    ["a list as tags", JSON.stringify({ ...mail, tags: [1] }), "tags"],
    [
      "attachments without content",
      JSON.stringify({ ...mail, attachments: [{ filename: "f" }] }),
      "attachments.0.content"
    ],
    ["a number in to", JSON.stringify({ ...mail, to: ["a@x.test", 7] }), "to"]
  ])("400, and nothing is sent: %s", async (_, body, path) => {
    const calls = before()
    const answer = await relay(server, body)
    expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
    expect(answer.json.issues.map((issue: { path: string }) => issue.path).join()).toContain(path)
    expect(got.length).toBe(calls)
  })

  it("names every missing field at once", async () => {
    const answer = await relay(server, "{}")
    expect(answer.json.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
      "category",
      "source",
      "subject",
      "to"
    ])
  })

  it("400 for bytes that are not UTF-8, instead of altering the mail", async () => {
    const calls = before()
    const bytes = Buffer.from(JSON.stringify({ ...mail, subject: "caf\u00e9" }), "latin1")
    const answer = await relay(server, bytes)
    expect([answer.status, answer.json.code, got.length]).toEqual([400, "INVALID_REQUEST", calls])
  })

  it("400 for JSON of a depth that breaks naive readers, wherever it is", async () => {
    const calls = before()
    const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
    const bodies = [
      deep(1_000_000),
      `{"to":${deep(200_000)}}`,
      `{"tags":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`
    ]
    for (const body of bodies) {
      const answer = await relay(server, body)
      expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
      expect(answer.text.length).toBeLessThan(10_000)
    }
    expect(got.length).toBe(calls)
  })

  it("shortens an answer that would repeat a hostile body", async () => {
    const answer = await relay(server, { ...mail, attachments: Array.from({ length: 5_000 }, () => 1) })
    expect(answer.status).toBe(400)
    expect(answer.text.length).toBeLessThan(20_000)
  })

  it("__proto__ and constructor keys are refused by name and touch nothing", async () => {
    const calls = before()
    const body = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},${JSON.stringify(mail).slice(1)}`
    const answer = await relay(server, body)
    expect(answer.json.issues.map((issue: { path: string }) => issue.path)).toEqual([
      "__proto__",
      "constructor"
    ])
    expect([answer.status, got.length, Reflect.get({}, "polluted")]).toEqual([400, calls, undefined])
  })

  it.each([
    ["scheduledAt", "in 1 min"],
    ["scheduled_at", "in 1 min"]
  ])("400 with the name that the send queue has for %s, which would be sent at once", async (name, value) => {
    const calls = before()
    const answer = await relay(server, { ...mail, [name]: value })
    expect([answer.status, answer.json.issues[0].path, got.length]).toEqual([400, name, calls])
    expect(answer.json.detail).toContain("the send queue takes sendAt")
  })

  it.each([{ queue: "yes" }, { sendAt: "tomorrow" }, { sendAt: "2030-01-01T00:00:00" }, { sendAt: 5 }])(
    "400 for %j, of which nobody can tell what is meant",
    async (change) => {
      const calls = before()
      const answer = await relay(server, { ...mail, ...change })
      expect([answer.status, answer.json.issues[0].path, got.length]).toEqual([
        400,
        Object.keys(change)[0],
        calls
      ])
    }
  )

  it("takes null for what is absent, [] for no tags, and a byte order mark", async () => {
    before()
    const nulls = {
      cc: null,
      bcc: null,
      from: null,
      html: null,
      idempotencyKey: null,
      expiresAt: null,
      queue: null,
      sendAt: null
    }
    const attachment = { filename: "a.txt", content: "aGk=", contentType: null, contentId: null }
    const body = { ...mail, ...nulls, tags: [], headers: [], attachments: [attachment] }
    expect((await relay(server, `\uFEFF${JSON.stringify(body)}`)).status).toBe(200)
    expect(got.at(-1)).toEqual({
      ...mail,
      tags: {},
      headers: {},
      attachments: [{ filename: "a.txt", content: "aGk=" }]
    })
  })

  it.each([{ cc: "b@x.test" }, { bcc: ["b@x.test"], to: null }])(
    "400 with what to write for a mail that has only %j",
    async (recipients) => {
      const { to: _, ...rest } = mail
      const answer = await relay(server, { ...rest, ...recipients })
      expect([answer.status, answer.json.issues]).toEqual([
        400,
        [
          {
            path: "to",
            message:
              "names no recipient, and neither cc nor bcc can stand alone: put one of them into to, or an address of your own"
          }
        ]
      ])
    }
  )

  it("of a key that is there twice, the last one counts", async () => {
    before()
    expect((await relay(server, JSON.stringify(mail).replace("{", '{"subject":"first",'))).status).toBe(200)
    expect(got.at(-1)?.subject).toBe("s")
  })

  it.each([
    ["text/plain", {}],
    ["application/x-www-form-urlencoded", {}],
    ["multipart/form-data; boundary=x", {}],
    ["application/jsonp", {}],
    ["application/json; charset=iso-8859-1", {}],
    ["application/json", { "content-encoding": "gzip" }],
    ["application/json", { "content-encoding": "identity, br" }]
  ])("415 for %s %j", async (type, headers) => {
    const calls = before()
    const answer = await relay(server, mail, { "content-type": type, ...headers })
    expect([answer.status, answer.json.code, got.length]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE", calls])
  })

  it.each(["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"'])(
    "takes %s",
    async (type) => {
      before()
      expect((await relay(server, mail, { "content-type": type })).status).toBe(200)
    }
  )

  it("takes a chunked body", async () => {
    before()
    const body = JSON.stringify(mail)
    const answer = await call(server, "/api/send-email", {
      method: "POST",
      headers: { "x-proxy-secret": "proxy-secret-4711", "content-type": "application/json" },
      body: [body.slice(0, 7), body.slice(7)]
    })
    expect(answer.status).toBe(200)
    expect(got.at(-1)).toEqual(mail)
  })
})
