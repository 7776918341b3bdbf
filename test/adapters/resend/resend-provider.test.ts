import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import fc from "fast-check"

import { classifyResendError } from "../../../src/adapters/resend/classify.ts"
import { makeResendProvider } from "../../../src/adapters/resend/resend-provider.ts"
import { UndiciResend } from "../../../src/adapters/resend/undici-resend.ts"
import { decodeTag } from "../../../src/domain/mail/tag.ts"
import { anyId } from "../../support/any-id.ts"
import { box, keyOf, mail } from "../../support/files/mail-message.ts"
import { RESEND_KEY, resendWithFake } from "../../support/vendors/fake-peers.ts"
import type { FakeResendOptions, ResendPayload } from "../../support/vendors/fake-resend.ts"
import { OTHER_STATUS, ROWS, says, WITHOUT_STATUS } from "./answers.ts"

const KEY = keyOf("order-17")

describe.each([
  ["fetch", undefined],
  ["undici", UndiciResend]
])("over %s", (_, client) => {
  const open = (options?: FakeResendOptions) => resendWithFake(options, client)

  describe("Resend: classification over the wire", () => {
    it.effect.each(ROWS)("%s", ([, outcome, kind, code]) =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        yield* Effect.promise(() => fake.script([outcome]))
        const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
        assert.strictEqual(failure.kind, kind)
        if (code !== undefined) assert.strictEqual(failure.code, code)
        assert.strictEqual(fake.received, outcome === "refused" ? 0 : 1)
      })
    )

    it.effect.each(OTHER_STATUS)("%s", ([, outcome, kind]) =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        yield* Effect.promise(() => fake.script([outcome]))
        const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
        assert.strictEqual(failure.kind, kind)
      })
    )

    it.effect.each(WITHOUT_STATUS)("%s, without a status in the body", ([, outcome, known]) =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        yield* Effect.promise(() => fake.script([outcome]))
        const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
        assert.strictEqual(failure.kind, known)
      })
    )

    it.effect("a host without a DNS entry is ambiguous", () =>
      Effect.gen(function* () {
        const provider = makeResendProvider({
          client,
          apiKey: Redacted.make("re_1"),
          baseUrl: "http://nonexistent.invalid"
        })
        const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
        assert.strictEqual(failure.kind, "ambiguous")
        const [, cause] =
          /^provider_a gave no answer at http:\/\/nonexistent\.invalid: (.+)\. Check the network and PROVIDERA_BASE_URL$/.exec(
            failure.message
          ) ?? []
        assert.match(cause ?? "", /nonexistent\.invalid/)
      })
    )

    it("no error of any shape throws, and one without a status is certain only by a refusal's name", () => {
      fc.assert(
        fc.property(fc.anything(), (error) => {
          assert.strictEqual(classifyResendError(error).kind, "ambiguous")
        })
      )
      fc.assert(
        fc.property(
          fc.integer({ min: 100, max: 599 }),
          fc.string(),
          fc.string(),
          (statusCode, name, message) => {
            const { kind } = classifyResendError({ statusCode, name, message })
            if (statusCode < 400 || (statusCode >= 500 && statusCode !== 503))
              assert.strictEqual(kind, "ambiguous")
          }
        )
      )
    })
  })

  describe("Resend: one attempt", () => {
    it.effect("an interrupted attempt is aborted, and the peer sees it", () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        yield* Effect.promise(() => fake.always("hang-accepted"))
        const fiber = yield* Effect.forkChild(provider.send(provider.prepare(mail(), KEY)))
        yield* Effect.promise(() => fake.until(() => fake.acceptedCount === 1))
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(() => fake.until(() => fake.requests[0]!.aborted))
        assert.strictEqual(fake.received, 1)
      })
    )

    it.effect(
      "a second attempt while the first is under way is ambiguous; the key is then one copy (S1)",
      () =>
        Effect.gen(function* () {
          const { fake, provider } = yield* open()
          const request = provider.prepare(mail(), KEY)
          yield* Effect.promise(() => fake.script(["slow", "ok"]))
          const first = yield* Effect.forkChild(provider.send(request))
          yield* Effect.promise(() => fake.until(() => fake.requests.length === 1))
          const second = yield* Effect.flip(provider.send(request))
          assert.deepStrictEqual([second.kind, second.code], ["ambiguous", "concurrent_idempotent_requests"])
          fake.release()
          const accepted = yield* Fiber.join(first)
          assert.deepStrictEqual(yield* provider.send(request), accepted)
          assert.strictEqual(fake.acceptedCount, 1)
        })
    )

    it.effect("the vendor forgets a key after 24 h, and refuses another payload before", () => {
      let now = 0
      return Effect.gen(function* () {
        const { fake, provider } = yield* open({ now: () => now })
        const request = provider.prepare(mail(), KEY)
        yield* provider.send(request)
        const other = yield* Effect.flip(provider.send(provider.prepare(mail({ subject: "Other" }), KEY)))
        assert.deepStrictEqual([other.kind, other.code], ["rejected", "invalid_idempotent_request"])
        now = 24 * 60 * 60 * 1000
        yield* provider.send(request)
        assert.strictEqual(fake.acceptedCount, 2)
      })
    })

    it.effect("a redirect is not followed: what it leads to is no answer to the send", () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        const { messageId } = yield* provider.send(provider.prepare(mail(), keyOf("first")))
        const elsewhere = { status: 302, headers: { location: `/emails/${messageId}` } }
        yield* Effect.promise(() => fake.script([{ reply: elsewhere }]))
        const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
        assert.strictEqual(failure.kind, "ambiguous")
        assert.strictEqual(fake.requests.length, 2)
      })
    )

    it.effect("a refusal says how long Resend takes nothing, and when it wants to be asked again", () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        const refusal = (status: number, headers: Record<string, string>) => ({
          reply: { status, headers, body: { statusCode: status, name: "rate_limit_exceeded", message: "no" } }
        })
        const answered = "Mon, 30 Nov 2026 10:00:00 GMT"
        for (const [answer, pace] of [
          [refusal(429, { "retry-after": "7" }), { holdMs: 7_000, retryAfterMs: 7_000 }],
          [
            refusal(429, { "retry-after": "Mon, 30 Nov 2026 10:00:08 GMT", date: answered }),
            { holdMs: 8_000, retryAfterMs: 8_000 }
          ],
          [refusal(429, { "retry-after": "soon" }), { holdMs: 1_000 }],
          [refusal(503, { "retry-after": "9" }), { retryAfterMs: 9_000 }],
          [refusal(422, {}), undefined]
        ] as const) {
          yield* Effect.promise(() => fake.script([answer]))
          const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
          assert.deepStrictEqual(
            failure.pace === undefined ? undefined : JSON.parse(JSON.stringify(failure.pace)),
            pace
          )
        }
      })
    )

    it.effect(
      "an API key that is no bearer token is unavailable without a request, and not in the message",
      () =>
        Effect.gen(function* () {
          for (const apiKey of ["", "re_line\nbreak", "re_ümlaut"]) {
            const provider = makeResendProvider({
              client,
              apiKey: Redacted.make(apiKey),
              baseUrl: "http://nonexistent.invalid"
            })
            const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
            assert.strictEqual(failure.kind, "unavailable")
            assert.notInclude(failure.message, "re_")
          }
        })
    )

    it.effect("what the vendor says is cut, made one line, and rid of the key and of local parts", () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        const words = `Bearer ${RESEND_KEY}\r\nfor secret.person@example.test \u0007${"long ".repeat(200)}`
        yield* Effect.promise(() => fake.script([says(422, "validation_error", words)]))
        const { message } = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
        assert.isAtMost(message.length, 300)
        assert.match(message, /^Bearer … for …@example\.test long /)
      })
    )
  })

  describe("Resend: what goes over the wire", () => {
    it.effect("every field, in the vendor's words", () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        const message = mail({
          from: box("noreply@postlane.test", "Zoë, of Postlane"),
          to: [box("ann@example.test", "Ann"), box("b@xn--bcher-kva.test")],
          cc: [box("c@example.test")],
          bcc: [box("d@example.test")],
          replyTo: [box("r@in.postlane.test", "Réply")],
          html: "<p>Grüße <img src=cid:logo></p>",
          headers: { "X-B": "2", "List-Unsubscribe": "<https://x.test/u>" },
          tags: { campaign: "c1", "späte Aktion": "a b" },
          configurationSet: "outreach-set",
          attachments: [
            {
              filename: "récépissé.pdf",
              contentType: "application/pdf",
              content: "JVBERg==",
              contentId: undefined
            },
            { filename: "logo.png", contentType: undefined, content: "iVBORw0K", contentId: "logo" }
          ]
        })
        yield* provider.send(provider.prepare(message, KEY))
        const { body, headers } = fake.requests[0]!
        assert.strictEqual(headers["idempotency-key"], "order-17")
        assert.strictEqual(headers.authorization, `Bearer ${RESEND_KEY}`)
        assert.deepStrictEqual(JSON.parse(body), {
          from: '"Zoë, of Postlane" <noreply@postlane.test>',
          to: ["Ann <ann@example.test>", "b@xn--bcher-kva.test"],
          cc: ["c@example.test"],
          bcc: ["d@example.test"],
          reply_to: ["Réply <r@in.postlane.test>"],
          subject: "Hello",
          html: "<p>Grüße <img src=cid:logo></p>",
          text: "Hi",
          headers: { "List-Unsubscribe": "<https://x.test/u>", "X-B": "2" },
          tags: [
            { name: "campaign", value: "c1" },
            { name: "b64_c3DDpHRlIEFrdGlvbg", value: "b64_YSBi" },
            { name: "postlane_key", value: KEY.tag }
          ],
          attachments: [
            { content: "JVBERg==", filename: "récépissé.pdf", content_type: "application/pdf" },
            { content: "iVBORw0K", filename: "logo.png", content_id: "logo" }
          ]
        })
      })
    )

    it.effect("absent fields are not there", () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        yield* provider.send(provider.prepare(mail({ text: undefined, html: "<p>h</p>" }), KEY))
        assert.deepStrictEqual(Object.keys(JSON.parse(fake.requests[0]!.body) as object).sort(), [
          "from",
          "html",
          "subject",
          "tags",
          "to"
        ])
      })
    )

    it.effect("a retry of the queued request is the same bytes, whatever order the queue kept", () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        const headers = { "X-Long-Name": "1", "X-B": "2", "List-Unsubscribe": "3" }
        const request = provider.prepare(mail({ headers, tags: { b: "1", a: "2" } }), KEY)
        const { headers: kept, ...rest } = request.body as {
          readonly headers: Readonly<Record<string, string>>
        }
        const queued = {
          ...request,
          body: { headers: Object.fromEntries(Object.entries(kept).reverse()), ...rest }
        }
        yield* provider.send(request)
        yield* provider.send(queued)
        assert.strictEqual(fake.requests[1]!.body, fake.requests[0]!.body)
        assert.strictEqual(fake.acceptedCount, 1)
      })
    )

    it.effect("keys that cannot be a header travel as their hash; the others as they are", () =>
      Effect.gen(function* () {
        const { fake, provider } = yield* open()
        const hashed = `postlane-${"a".repeat(64)}`
        const cases = [
          ["a b/c:d~", "a b/c:d~"],
          [" leading", hashed],
          ["trailing ", hashed],
          ["Bestellung-ü", hashed],
          ["tab\there", hashed],
          ["x".repeat(256), "x".repeat(256)]
        ] as const
        for (const [key, header] of cases) {
          const request = provider.prepare(mail({ subject: key }), {
            key: anyId(key),
            keyHash: anyId("a".repeat(64)),
            tag: anyId("b".repeat(64)),
            firstAttemptAt: 0
          })
          assert.strictEqual(request.key, header)
          yield* Effect.ignore(provider.send(request))
          assert.strictEqual(fake.requests.at(-1)?.headers["idempotency-key"], header)
        }
      })
    )

    it.effect("tags come back as they were written", () =>
      Effect.gen(function* () {
        const { provider } = yield* open()
        fc.assert(
          fc.property(
            fc.dictionary(fc.string({ unit: "binary", minLength: 1 }), fc.string({ unit: "binary" })),
            (written) => {
              const tags = Object.fromEntries(
                Object.entries(written).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()])
              )
              const { tags: sent = [] } = provider.prepare(mail({ tags }), KEY).body as ResendPayload
              assert.isTrue(sent.every(({ name, value }) => /^[\w-]+$/.test(name + value)))
              const back = new Map(sent.map(({ name, value }) => [decodeTag(name), decodeTag(value)]))
              back.delete("postlane_key")
              assert.deepStrictEqual(back, new Map(Object.entries(tags)))
            }
          )
        )
      })
    )
  })

  describe("Resend: RESEND_DEBUG", () => {
    beforeEach(() => void vi.stubEnv("RESEND_DEBUG", "true"))
    afterEach(() => {
      vi.unstubAllEnvs()
      vi.restoreAllMocks()
    })

    it.effect("prints nothing of a message", () =>
      Effect.gen(function* () {
        const printed = vi.spyOn(console, "error").mockImplementation(() => {})
        const { fake, provider } = yield* open()
        yield* Effect.promise(() => fake.script(["422"]))
        yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
        assert.strictEqual(printed.mock.calls.length, 0)
      })
    )
  })
})
