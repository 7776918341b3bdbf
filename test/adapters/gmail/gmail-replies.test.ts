import { setImmediate } from "node:timers/promises"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import PostalMime from "postal-mime"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"

import { layer } from "../../../src/adapters/gmail/gmail-replies.ts"
import { composeReply } from "../../../src/adapters/gmail/mime.ts"
import { replyHold } from "../../../src/application/inbound/replying.ts"
import { type OutgoingReply, ReplyChannel } from "../../../src/ports/inbound/mails.ts"
import { fakeGmail } from "../../support/vendors/fake-gmail.ts"

const gmail = fakeGmail()
beforeAll(async () => {
  await gmail.fake.listen()
})
afterAll(() => gmail.fake.close())
afterEach(async () => {
  await gmail.fake.always("ok")
  gmail.fake.accepted.length = 0
  gmail.state.tokenRequests = 0
  gmail.state.refuseToken = false
  gmail.state.expiresIn = 3599
})

const REPLY: OutgoingReply = {
  key: "convert-email:1:success",
  to: "ann@reader.test",
  subject: "Re: Grüße an 東京",
  html: "<p>Hällo</p>",
  text: "Hällo",
  inReplyTo: "<a@reader.test>",
  references: "<z@reader.test> <a@reader.test>",
  automatic: true,
  attachment: {
    filename: "Bericht – für Ännchen und alle ihre Freundinnen in Österreich, zweite Fassung.html",
    contentType: "text/html; charset=utf-8",
    content: new TextEncoder().encode("<p>Ergebnis</p>")
  }
}

const channel = () =>
  layer({
    serviceAccountKey: Redacted.make(gmail.key),
    mailbox: "convert@legacy.test",
    name: "Postläne",
    replyTo: "convert@legacy.test",
    baseUrl: gmail.fake.url,
    authUrl: `${gmail.fake.url}/token`
  })

const withChannel = <A>(
  use: (send: (reply: OutgoingReply) => Effect.Effect<string | undefined>) => Effect.Effect<A>
): Promise<A> =>
  Effect.runPromise(
    ReplyChannel.use(({ send }) =>
      use((reply) =>
        Effect.map(Effect.result(send(reply)), (sent) =>
          Result.isSuccess(sent) ? undefined : `${sent.failure.reason}: ${sent.failure.message}`
        )
      )
    ).pipe(Effect.provide(Layer.provide(channel(), NodeCrypto.layer)))
  )

const sendOnce = (reply = REPLY) => withChannel((send) => send(reply))

describe("replies through the Gmail API", () => {
  it("sends as the mailbox: thread, names, subject and file name survive", async () => {
    assert.isUndefined(await sendOnce())
    assert.strictEqual(gmail.state.mailbox, "convert@legacy.test")
    const [sent] = gmail.sent()
    const mail = await PostalMime.parse(sent?.raw ?? "")
    assert.deepStrictEqual(
      [mail.from, mail.to, mail.replyTo, mail.subject, mail.inReplyTo, mail.references],
      [
        { name: "Postläne", address: "convert@legacy.test" },
        [{ name: "", address: "ann@reader.test" }],
        [{ name: "", address: "convert@legacy.test" }],
        REPLY.subject,
        REPLY.inReplyTo,
        REPLY.references
      ]
    )
    assert.strictEqual(mail.text?.trim(), "Hällo")
    assert.strictEqual(mail.html?.trim(), "<p>Hällo</p>")
    assert.strictEqual(mail.attachments[0]?.filename, REPLY.attachment?.filename)
    assert.include(sent?.raw ?? "", "Auto-Submitted: auto-replied")
  })

  it("exchanges a token once, and again when its hour is over or it is refused", async () => {
    await Effect.runPromise(
      ReplyChannel.use(({ send }) =>
        Effect.gen(function* () {
          yield* send(REPLY)
          yield* send(REPLY)
          assert.strictEqual(gmail.state.tokenRequests, 1)
          yield* TestClock.adjust("61 minutes")
          yield* send(REPLY)
          assert.strictEqual(gmail.state.tokenRequests, 2)
          gmail.revoke()
          yield* send(REPLY)
          assert.strictEqual(gmail.state.tokenRequests, 3)
        })
      ).pipe(Effect.provide(Layer.provide(channel(), NodeCrypto.layer)), Effect.provide(TestClock.layer()))
    )
    assert.lengthOf(gmail.sent(), 4)
  })

  it("a reply is held for longer than all calls of a slow vendor take together", async () => {
    const pending: Array<(response: Response) => void> = []
    const asked = Effect.promise(async () => {
      while (pending.length === 0) await setImmediate()
    })
    const answer = (response: Response) => Effect.sync(() => pending.shift()?.(response))
    const token = () => Response.json({ access_token: "t", expires_in: 3599 })
    vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => pending.push(resolve)))
    try {
      await Effect.runPromise(
        Effect.gen(function* () {
          const { send, sendsWithin } = yield* ReplyChannel
          const sending = yield* Effect.forkChild(Effect.exit(send(REPLY)))
          // Each call ends right before its deadline; the token is refused once, and the last call never ends.
          for (const response of [token(), new Response("", { status: 401 }), token()]) {
            yield* asked
            yield* TestClock.adjust("44999 millis")
            yield* answer(response)
          }
          yield* asked
          yield* TestClock.adjust("45 seconds")
          assert.isTrue(Exit.isFailure(yield* Fiber.join(sending)))
          const took = yield* Clock.currentTimeMillis
          assert.isAtLeast(took, 179_997)
          assert.isAtMost(took, Duration.toMillis(sendsWithin))
          assert.isAbove(
            Duration.toMillis(replyHold({ sendsWithin })),
            Duration.toMillis(sendsWithin) + 60_000
          )
        }).pipe(Effect.provide(Layer.provide(channel(), NodeCrypto.layer)), Effect.provide(TestClock.layer()))
      )
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it("keeps no token for longer than an hour, nor for longer than it holds", async () => {
    for (const [expiresIn, holds, over] of [
      [86_400, "58 minutes", "3 minutes"],
      [600, "8 minutes", "2 minutes"]
    ] as const) {
      gmail.state.expiresIn = expiresIn
      gmail.state.tokenRequests = 0
      await Effect.runPromise(
        ReplyChannel.use(({ send }) =>
          Effect.gen(function* () {
            yield* send(REPLY)
            yield* TestClock.adjust(holds)
            yield* send(REPLY)
            assert.strictEqual(gmail.state.tokenRequests, 1)
            yield* TestClock.adjust(over)
            yield* send(REPLY)
            assert.strictEqual(gmail.state.tokenRequests, 2)
          })
        ).pipe(Effect.provide(Layer.provide(channel(), NodeCrypto.layer)), Effect.provide(TestClock.layer()))
      )
    }
  })

  it("what it attaches fits into 25 MB with everything around it", async () => {
    const most = await Effect.runPromise(
      ReplyChannel.use(({ maxAttachmentBytes }) => Effect.succeed(maxAttachmentBytes)).pipe(
        Effect.provide(Layer.provide(channel(), NodeCrypto.layer))
      )
    )
    const frame = {
      from: { name: "Postlane", address: "convert@legacy.test" },
      replyTo: "convert@legacy.test",
      messageId: "<1@legacy.test>",
      date: new Date(0)
    }
    const attachment = { filename: "a.html", contentType: "text/html", content: new Uint8Array(most) }
    const { length } = composeReply({ ...REPLY, html: "x".repeat(100_000), attachment }, frame)
    assert.isAtMost(length, 25 * 1024 * 1024)
    assert.isAtLeast(length, 20 * 1024 * 1024)
  })

  it("a repetition has the same Message-ID", async () => {
    await sendOnce()
    await sendOnce()
    const ids = gmail.sent().map(({ raw }) => /^Message-ID: (.+)$/m.exec(raw)?.[1])
    assert.strictEqual(ids[0], ids[1])
    assert.match(ids[0] ?? "", /^<[\da-f]{32}@legacy\.test>$/)
  })

  it("a large result goes by the upload path", async () => {
    const content = new Uint8Array(4 * 1024 * 1024).fill(65)
    await sendOnce({ ...REPLY, attachment: { filename: "a.html", contentType: "text/html", content } })
    const [sent] = gmail.sent()
    assert.isTrue(sent?.upload)
    const mail = await PostalMime.parse(sent?.raw ?? "")
    assert.strictEqual(
      Buffer.compare(Buffer.from(mail.attachments[0]?.content as ArrayBuffer), Buffer.from(content)),
      0
    )
  })

  it("waits where the mailbox cannot send yet, and gives up a message that is not valid", async () => {
    for (const [why, reason] of [
      ["failedPrecondition", "later"],
      ["invalidArgument", "refused"]
    ] as const) {
      const body = { error: { code: 400, message: "No", errors: [{ domain: "global", reason: why }] } }
      await gmail.fake.always({ reply: { status: 400, body } })
      assert.match((await withChannel((send) => send(REPLY))) ?? "no error", new RegExp(`^${reason}: `), why)
    }
  })

  it("tells apart what may be tried again, what never, and what nobody knows", async () => {
    const cases = [
      ["429", "later"],
      ["403", "later"],
      ["503", "later"],
      ["refused", "later"],
      ["422", "refused"],
      ["500", "unknown"],
      ["reset-accepted", "unknown"],
      ["no-id-200", "unknown"]
    ] as const
    for (const [outcome, reason] of cases) {
      await gmail.fake.always(outcome === "refused" ? "ok" : outcome)
      const error = await withChannel((send) =>
        outcome === "refused"
          ? Effect.andThen(
              Effect.promise(() => gmail.fake.always("refused")),
              send(REPLY)
            )
          : send(REPLY)
      )
      assert.match(error ?? "no error", new RegExp(`^${reason}: `), outcome)
      assert.notInclude(error ?? "", "ya29")
    }
  })

  it("takes a gateway's page, a redirect and a time-out at a gateway for no proof that nothing was accepted", async () => {
    const page = { body: "<html>", headers: { "content-type": "text/html" } }
    for (const status of [302, 307, 408, 502, 503, 504]) {
      await gmail.fake.always({ reply: { status, ...page } })
      assert.match((await sendOnce()) ?? "no error", /^unknown: /, String(status))
    }
  })

  it("knows a connection that was never made from one that was lost", async () => {
    const failing = (code: string, syscall: string) =>
      new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code, syscall }) })
    const several = new TypeError("fetch failed", {
      cause: Object.assign(new AggregateError([failing("ENETUNREACH", "connect").cause]), {
        code: "ENETUNREACH"
      })
    })
    const real = globalThis.fetch
    for (const [failure, reason] of [
      [failing("ECONNREFUSED", "connect"), "later"],
      [failing("EAI_AGAIN", "getaddrinfo"), "later"],
      [several, "later"],
      [failing("EHOSTUNREACH", "read"), "unknown"],
      [failing("ECONNRESET", "write"), "unknown"]
    ] as const) {
      vi.stubGlobal("fetch", (url: string, init: RequestInit) =>
        url.includes("/messages/send") ? Promise.reject(failure) : real(url, init)
      )
      try {
        assert.match((await sendOnce()) ?? "no error", new RegExp(`^${reason}: `), String(failure.cause))
      } finally {
        vi.unstubAllGlobals()
      }
    }
  })

  it("a token that is not granted holds the reply back", async () => {
    gmail.state.refuseToken = true
    assert.match((await sendOnce()) ?? "", /^later: .*invalid_grant/)
    assert.lengthOf(gmail.sent(), 0)
  })
})

describe("messages of our own making", () => {
  it("any reply can be read back, no line is too long, and nothing gets out of its header", async () => {
    const text = fc.string({ unit: "binary", maxLength: 200, size: "max" })
    await fc.assert(
      fc.asyncProperty(
        text,
        text,
        text,
        fc.uint8Array({ maxLength: 300, size: "max" }),
        async (subject, body, filename, content) => {
          const raw = composeReply(
            { ...REPLY, subject, text: body, attachment: { filename, contentType: "text/html", content } },
            {
              from: { name: filename, address: "a@b.test" },
              replyTo: "c@d.test",
              messageId: "<1@b.test>",
              date: new Date(0)
            }
          )
          for (const line of raw.split("\r\n")) {
            assert.isAtMost(line.length, 998)
            // What is not left as it was: encoded words (RFC 2047), pieces of a name (RFC 2231) and base64.
            if (/^ (?:file)?name|^[\w+/]+=*$/.test(line)) assert.isAtMost(line.length, 76)
          }
          assert.match(raw, /^[\r\n\x20-\x7e]*$/)
          for (const [word] of raw.matchAll(/=\?UTF-8\?B\?[^?]*\?=/g)) assert.isAtMost(word.length, 75)
          assert.notMatch(raw.replaceAll("\r\n", ""), /[\r\n]/)
          const mail = await PostalMime.parse(raw)
          assert.deepStrictEqual(mail.to, [{ name: "", address: REPLY.to }])
          assert.strictEqual(mail.headers.filter(({ key }) => key === "subject").length, 1)
          assert.lengthOf(mail.headers, 11)
          assert.deepStrictEqual(
            Buffer.from(mail.attachments[0]?.content as ArrayBuffer),
            Buffer.from(content)
          )
          const plain = subject.toWellFormed().replaceAll(/\p{Cc}+/gu, " ")
          assert.strictEqual(
            (mail.subject ?? "").replaceAll(/\s+/g, " ").trim(),
            plain.replaceAll(/\s+/g, " ").trim()
          )
        }
      ),
      { numRuns: 100 }
    )
  })
})
