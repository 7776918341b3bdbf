import { Duration, Effect, Layer, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { ConvertByEmail } from "../../../../../src/application/inbound/convert-by-email.ts"
import { Access, MagicLinks } from "../../../../../src/ports/accounts/access.ts"
import { type IncomingMailRow, IncomingMails } from "../../../../../src/ports/inbound/incoming-mails.ts"
import { type OutgoingReply, ReplyChannel, ReplyFailure } from "../../../../../src/ports/inbound/mails.ts"
import { MailObjects } from "../../../../../src/ports/object-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { call, PROXY_SECRET, startServer, type TestServer } from "../../harness.ts"

const sent: Array<OutgoingReply> = []
const html = new TextEncoder().encode("<!doctype html><p>result")

const layer = Layer.mergeAll(
  Layer.mock(ConvertByEmail, {
    keptResults: (customerId) =>
      Effect.succeed([
        {
          id: anyId(customerId),
          name: "a.pdf",
          pages: 2,
          unreadablePages: [2],
          hasText: true,
          creditsCharged: 2,
          convertedAt: "2026-01-01T00:00:00.000Z",
          reply: "failed",
          expiresAt: 0,
          url: "https://p.test/convert-email/results/good"
        }
      ]),
    result: (token) =>
      Effect.succeed(token === "good" ? { key: "mails/1/result.html", filename: "a.pdf" } : undefined)
  }),
  Layer.mock(MailObjects, {
    stat: (key) => Effect.succeed({ key, size: html.length }),
    get: () => Stream.make(html)
  }),
  Layer.succeed(
    ReplyChannel,
    ReplyChannel.of({
      name: "library",
      maxAttachmentBytes: 0,
      sendsWithin: Duration.seconds(1),
      send: (reply) =>
        Effect.suspend(() => {
          sent.push(reply)
          if (reply.to === "never@x.test")
            return Effect.fail(new ReplyFailure({ reason: "refused", message: "no" }))
          return reply.to === "later@x.test"
            ? Effect.fail(new ReplyFailure({ reason: "later", message: "busy" }))
            : Effect.void
        })
    })
  )
)

const OWNER = "6f0b1a52-8c5e-4f3c-9a53-0d6a0f0c8a11"

/** One owner, by one token. */
const access = Layer.merge(
  Layer.mock(Access, {
    byToken: (token) =>
      Effect.succeed(
        token === OWNER
          ? { actor: "owner", customerId: anyId(OWNER), rights: ["owner" as const], via: "token" as const }
          : undefined
      )
  }),
  Layer.mock(MagicLinks, {})
)

const mailOf = (changes: Partial<IncomingMailRow>): IncomingMailRow => ({
  id: "mail",
  createdAt: "2026-01-01T00:00:00.000000Z",
  sender: "ann@x.test",
  envelopeFrom: "ann@x.test",
  subject: "Report",
  rawBytes: 1,
  step: "ended",
  outcome: null,
  reason: null,
  customerId: OWNER,
  filename: "a.pdf",
  fileBytes: 1,
  pages: 2,
  creditsCharged: 0,
  attempts: 1,
  failingPart: null,
  failingSince: null,
  notBefore: "2026-01-01T00:00:00.000000Z",
  endedAt: null,
  replies: [
    {
      kind: "success",
      recipient: "ann@x.test",
      status: "failed",
      attempts: 1,
      asLink: false,
      error: "no",
      createdAt: "2026-01-01T00:00:00.000000Z",
      endedAt: null
    }
  ],
  ...changes
})

describe("convert-by-email over HTTP", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({
      convertByEmail: layer,
      access,
      incomingMails: Layer.mock(IncomingMails, {
        ofCustomer: (customerId) =>
          Effect.succeed([
            mailOf({ id: customerId, outcome: "success", creditsCharged: 2 }),
            mailOf({ id: "other", outcome: "error", reason: "It opens with a password only.", replies: [] })
          ])
      })
    })
  })
  afterAll(() => server.stop())

  const testSend = (body: unknown, secret = PROXY_SECRET) =>
    call(server, "/convert-email/test-send", {
      method: "POST",
      headers: { "content-type": "application/json", "x-proxy-secret": secret },
      body: JSON.stringify(body)
    })

  it("is alive", async () => {
    const answer = await call(server, "/convert-email/health")
    assert.strictEqual(answer.status, 200)
    assert.deepStrictEqual(answer.json, { status: "ok", channel: "library" })
  })

  it("sends a test message, with the secret only", async () => {
    sent.length = 0
    assert.strictEqual((await testSend({ to: "a@x.test", subject: "s", body: "b" }, "wrong")).status, 403)
    assert.lengthOf(sent, 0)
    const answer = await testSend({ to: "A <a@x.test>", subject: "s", body: "b" })
    assert.strictEqual(answer.status, 200)
    assert.deepStrictEqual(answer.json, { ok: true, channel: "library" })
    assert.deepStrictEqual(
      sent.map(({ automatic, subject, text, to }) => ({ automatic, subject, text, to })),
      [{ automatic: false, subject: "s", text: "b", to: "a@x.test" }]
    )
  })

  it("tells what is wrong with it", async () => {
    for (const body of [
      {},
      { to: "a@x.test", subject: "s" },
      { to: "nobody", subject: "s", body: "b" },
      { to: "a@x.test", subject: "a\r\nBcc: b@x.test", body: "b" }
    ]) {
      assert.strictEqual((await testSend(body)).status, 400)
    }
    assert.strictEqual((await testSend({ to: "never@x.test", subject: "s", body: "b" })).status, 400)
    assert.strictEqual((await testSend({ to: "later@x.test", subject: "s", body: "b" })).status, 503)
  })

  it("lists an owner's results that no reply has delivered, and none without a token", async () => {
    const list = (token: string) =>
      call(server, "/api/v1/mail-results", { headers: { authorization: `Bearer ${token}` } })
    const answer = await list(OWNER)
    assert.strictEqual(answer.status, 200)
    assert.deepStrictEqual(answer.json.results, [
      {
        id: OWNER,
        name: "a.pdf",
        pages: 2,
        unreadablePages: [2],
        hasText: true,
        creditsCharged: 2,
        convertedAt: "2026-01-01T00:00:00.000Z",
        reply: "failed",
        expiresAt: "1970-01-01T00:00:00.000Z",
        url: "https://p.test/convert-email/results/good"
      }
    ])
    assert.strictEqual((await list("nobody")).status, 401)
  })

  it("lists an owner's mails with what became of each, and the result that no reply brought", async () => {
    const list = (token: string) =>
      call(server, "/api/v1/mails", { headers: { authorization: `Bearer ${token}` } })
    const answer = await list(OWNER)
    assert.strictEqual(answer.status, 200)
    const common = {
      receivedAt: "2026-01-01T00:00:00.000000Z",
      subject: "Report",
      fileName: "a.pdf",
      step: "ended",
      pages: 2
    }
    assert.deepStrictEqual(answer.json.mails, [
      {
        ...common,
        id: OWNER,
        outcome: "success",
        reason: null,
        creditsCharged: 2,
        reply: "failed",
        url: "https://p.test/convert-email/results/good",
        expiresAt: "1970-01-01T00:00:00.000Z"
      },
      {
        ...common,
        id: "other",
        outcome: "error",
        reason: "It opens with a password only.",
        creditsCharged: 0,
        reply: null,
        url: null,
        expiresAt: null
      }
    ])
    assert.strictEqual((await list("nobody")).status, 401)
  })

  it("serves a result to anyone with its link, as a sandboxed document", async () => {
    const answer = await call(server, "/convert-email/results/good")
    assert.strictEqual(answer.status, 200)
    assert.include(answer.text, "result")
    assert.match(String(answer.headers["content-security-policy"]), /^sandbox; default-src 'none'/)
    assert.strictEqual((await call(server, "/convert-email/results/bad")).status, 404)
  })
})
