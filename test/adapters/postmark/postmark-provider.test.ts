import { createServer } from "node:https"
import type { AddressInfo } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import fc from "fast-check"

import { classifyAnswer } from "../../../src/adapters/postmark/classify.ts"
import { makePostmarkProvider } from "../../../src/adapters/postmark/postmark-provider.ts"
import { decodeTag } from "../../../src/domain/mail/tag.ts"
import { box, keyOf, mail } from "../../support/files/mail-message.ts"
import { LOCAL_CERTIFICATE } from "../../support/vendors/certificate.ts"
import { POSTMARK_TOKEN, postmarkWithFake } from "../../support/vendors/fake-peers.ts"
import { ROWS, says } from "./answers.ts"

const KEY = keyOf("order-17")

const at = (baseUrl: string, token = POSTMARK_TOKEN) =>
  makePostmarkProvider({ serverToken: Redacted.make(token), baseUrl, messageStream: "outbound" })

const failureAt = (provider: ReturnType<typeof at>) =>
  Effect.flip(provider.send(provider.prepare(mail(), KEY)))

describe("Postmark: classification over the wire (MAIL-37)", () => {
  it.effect.each(ROWS)("%s", ([, outcome, kind, code]) =>
    Effect.gen(function* () {
      const { fake, provider } = yield* postmarkWithFake()
      yield* Effect.promise(() => fake.script([outcome]))
      const failure = yield* failureAt(provider)
      assert.strictEqual(failure.kind, kind, failure.message)
      if (code !== undefined) assert.strictEqual(failure.code, code)
      assert.strictEqual(fake.received, outcome === "refused" ? 0 : 1)
      assert.notInclude(JSON.stringify(failure), POSTMARK_TOKEN)
    })
  )

  it("only a refusal's status is ever certain, and maintenance", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.anything(), fc.nat(2000), (status, body, code) => {
        const kinds = [body, { ErrorCode: code }].map(
          (one) => classifyAnswer({ status, body: one, retryAfterMs: undefined }).kind
        )
        if (status < 400 || (status >= 500 && (status !== 503 || code !== 100)))
          assert.deepStrictEqual(kinds, ["ambiguous", "ambiguous"])
      })
    )
  })

  it.effect("a host without a DNS entry is unavailable: nothing left", () =>
    Effect.gen(function* () {
      const failure = yield* failureAt(at("http://nonexistent.invalid"))
      assert.strictEqual(failure.kind, "unavailable")
      assert.match(
        failure.message,
        /^postmark gave no answer at http:\/\/nonexistent\.invalid: .*Check the network and POSTMARK_BASE_URL$/
      )
    })
  )

  it.effect("a server that nobody vouches for is unavailable, and gets no request", () =>
    Effect.gen(function* () {
      let requests = 0
      const server = yield* Effect.acquireRelease(
        Effect.promise(
          () =>
            new Promise<ReturnType<typeof createServer>>((resolve) => {
              const { cert, key } = LOCAL_CERTIFICATE
              const listening = createServer({ cert, key }, () => (requests += 1))
              listening.listen(0, "127.0.0.1", () => resolve(listening))
            })
        ),
        (open) => Effect.promise(() => new Promise((resolve) => open.close(resolve)))
      )
      const { port } = server.address() as AddressInfo
      assert.strictEqual((yield* failureAt(at(`https://127.0.0.1:${port}`))).kind, "unavailable")
      assert.strictEqual(requests, 0)
    })
  )

  it.effect("a plain server behind https proves nothing but an answer that cannot be read", () =>
    Effect.gen(function* () {
      const { fake } = yield* postmarkWithFake()
      const { kind } = yield* failureAt(at(fake.url.replace("http:", "https:")))
      assert.strictEqual(kind, "ambiguous")
      assert.strictEqual(fake.acceptedCount, 0)
    })
  )

  it.effect("a rate limit holds Postmark back for as long as it says", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* postmarkWithFake()
      const reply = { status: 429, body: { ErrorCode: 429, Message: "…" }, headers: { "retry-after": "7" } }
      yield* Effect.promise(() => fake.script([{ reply }, "429", "401"]))
      assert.deepStrictEqual((yield* failureAt(provider)).pace, { holdMs: 7_000, retryAfterMs: 7_000 })
      assert.deepStrictEqual((yield* failureAt(provider)).pace, { holdMs: 1_000 })
      assert.isUndefined((yield* failureAt(provider)).pace)
    })
  )

  it.effect("a token that is no header is unavailable without a request, and not in the message", () =>
    Effect.gen(function* () {
      for (const token of ["", "pm_line\nbreak", "pm_ümlaut", "pm two"]) {
        const failure = yield* failureAt(at("http://nonexistent.invalid", token))
        assert.strictEqual(failure.kind, "unavailable")
        assert.notInclude(failure.message, "pm")
      }
    })
  )

  it.effect("what the vendor says is cut, made one line, and rid of the token and of local parts", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* postmarkWithFake()
      const words = `token ${POSTMARK_TOKEN}\r\nfor secret.person@example.test ${"long ".repeat(200)}`
      yield* Effect.promise(() => fake.script([says(422, 300, words)]))
      const { message } = yield* failureAt(provider)
      assert.isAtMost(message.length, 300)
      assert.match(message, /^token … for …@example\.test long /)
    })
  )
})

describe("Postmark: what goes over the wire", () => {
  it.effect("every field, in the vendor's words", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* postmarkWithFake()
      const message = mail({
        from: box("noreply@postlane.test", "Zoë, of Postlane"),
        to: [box("ann@example.test", "Ann"), box("b@xn--bcher-kva.test")],
        cc: [box("c@example.test")],
        bcc: [box("d@example.test"), box("e@example.test")],
        replyTo: [box("r@in.postlane.test", "Réply")],
        html: "<p>Grüße <img src=cid:logo></p>",
        headers: { "X-B": "2", "List-Unsubscribe": "<https://x.test/u>" },
        tags: { campaign: "späte Aktion", "b64_x y": "a b" },
        configurationSet: "outreach-set",
        attachments: [
          { filename: "récépissé.pdf", contentType: undefined, content: "JVBERg==", contentId: undefined },
          { filename: "logo.png", contentType: "image/png", content: "iVBORw0K", contentId: "logo" }
        ]
      })
      yield* provider.send(provider.prepare(message, KEY))
      const { body, headers } = fake.requests[0]!
      assert.strictEqual(headers["x-postmark-server-token"], POSTMARK_TOKEN)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers.accept, "application/json")
      assert.deepStrictEqual(JSON.parse(body), {
        From: '"Zoë, of Postlane" <noreply@postlane.test>',
        To: "Ann <ann@example.test>, b@xn--bcher-kva.test",
        Cc: "c@example.test",
        Bcc: "d@example.test, e@example.test",
        ReplyTo: "Réply <r@in.postlane.test>",
        Subject: "Hello",
        HtmlBody: "<p>Grüße <img src=cid:logo></p>",
        TextBody: "Hi",
        Headers: [
          { Name: "List-Unsubscribe", Value: "<https://x.test/u>" },
          { Name: "X-B", Value: "2" }
        ],
        Metadata: { postlane_key: KEY.tag, b64_YjY0X3ggeQ: "a b", campaign: "b64_c3DDpHRlIEFrdGlvbg" },
        Attachments: [
          { Name: "récépissé.pdf", Content: "JVBERg==", ContentType: "application/octet-stream" },
          { Name: "logo.png", Content: "iVBORw0K", ContentType: "image/png", ContentID: "cid:logo" }
        ],
        MessageStream: "outbound"
      })
    })
  )

  it.effect("absent fields are not there, and marketing goes to the broadcast stream", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* postmarkWithFake()
      yield* provider.send(provider.prepare(mail({ text: undefined, html: "<p>h</p>" }), KEY))
      yield* provider.send(provider.prepare(mail({ category: "marketing" }), KEY))
      const [plain, marketing] = fake.requests.map(({ body }) => JSON.parse(body) as object)
      assert.deepStrictEqual(Object.keys(plain ?? {}), [
        "From",
        "To",
        "Subject",
        "HtmlBody",
        "Metadata",
        "MessageStream"
      ])
      assert.deepInclude(marketing, { MessageStream: "broadcast" })
    })
  )

  it.effect("the key's tag always fits; of the others as many come back as metadata has room for", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* postmarkWithFake()
      const texts = fc.string({ unit: "binary" }).map((text) => text.toWellFormed())
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            fc.dictionary(
              texts.filter((name) => name !== ""),
              texts,
              { maxKeys: 14 }
            ),
            async (tags) => {
              await Effect.runPromise(provider.send(provider.prepare(mail({ tags }), KEY)))
              const { Metadata = {} } = JSON.parse(fake.requests.at(-1)!.body) as {
                readonly Metadata?: Readonly<Record<string, string>>
              }
              assert.strictEqual(Metadata["postlane_key"], KEY.tag)
              const back = Object.entries(Metadata).map(([name, value]) => [
                decodeTag(name),
                decodeTag(value)
              ])
              for (const [name = "", value] of back) {
                if (name !== "postlane_key") assert.strictEqual(tags[name], value)
              }
            }
          ),
          { numRuns: 50 }
        )
      )
      const short = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`a-tag-${n}`, `${n}`]))
      const more = { ...short, "b-tag": "1", "postlane-more": "2", "z-tag": "3" }
      yield* provider.send(provider.prepare(mail({ tags: more }), KEY))
      const { Metadata } = JSON.parse(fake.requests.at(-1)!.body) as { readonly Metadata: object }
      assert.deepStrictEqual(Metadata, { ...short, postlane_key: KEY.tag })
    })
  )

  it.effect("a mail of the largest size is taken, and one beyond it is rejected", () =>
    Effect.gen(function* () {
      const { provider } = yield* postmarkWithFake()
      const sized = (bytes: number) =>
        provider.send(
          provider.prepare(
            mail({
              attachments: [
                { filename: "a", contentType: "a/b", content: "A".repeat(bytes), contentId: undefined }
              ]
            }),
            KEY
          )
        )
      yield* sized(10 * 1024 * 1024 - 1_000)
      assert.strictEqual((yield* Effect.flip(sized(10 * 1024 * 1024))).kind, "rejected")
    })
  )
})

describe("Postmark: inactive recipients", () => {
  it.effect("a mail to none but inactive ones is rejected: no other provider gets it", () =>
    Effect.gen(function* () {
      const { provider } = yield* postmarkWithFake({ inactive: ["ann@example.test"] })
      const failure = yield* failureAt(provider)
      assert.deepInclude(failure, { kind: "rejected", code: "406" })
      assert.match(failure.message, /^Postmark holds mail to this recipient back: .*…@example\.test/)
    })
  )

  it.effect("a mail to others too is accepted, and the log says who does not get it", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(JSON.stringify(message)))
    return Effect.gen(function* () {
      const { fake, provider } = yield* postmarkWithFake({ inactive: ["bob@inactive.test"] })
      const to = [box("ann@example.test"), box("bob@inactive.test")]
      const { messageId, withheld } = yield* provider.send(provider.prepare(mail({ to }), KEY))
      assert.deepStrictEqual(withheld, ["bob@inactive.test"])
      assert.strictEqual(fake.acceptedCount, 1)
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], messageId)
      assert.include(lines[0], "…@inactive.test")
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
