import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import fc from "fast-check"
import { decodeWords } from "postal-mime"

import { classifySesError } from "../../../src/adapters/ses/classify.ts"
import { CredentialsUnavailable, credentialSource } from "../../../src/adapters/ses/credentials.ts"
import { encodeWords } from "../../../src/adapters/ses/request.ts"
import { makeSesProvider } from "../../../src/adapters/ses/ses-provider.ts"
import type { FailureKind } from "../../../src/domain/mail/failover.ts"
import { decodeTag } from "../../../src/domain/mail/tag.ts"
import { box, keyOf, mail, nameArb } from "../../support/files/mail-message.ts"
import type { Outcome } from "../../support/vendors/fake-http.ts"
import { listening, sesWithFake, STATIC } from "../../support/vendors/fake-peers.ts"
import { fakeSes, sesError, type SesPayload } from "../../support/vendors/fake-ses.ts"

const KEY = keyOf("order-17")
const PAGE = "<html><body><h1>Bad gateway</h1></body></html>"

const says = (status: number, name: string, message = "The vendor's words."): Outcome => ({
  reply: sesError(status, name, message)
})
const answers = (status: number, body: string | object): Outcome => ({ reply: { status, body } })

/** MAIL-34 and the SES API reference, row by row. */
const ROWS: ReadonlyArray<readonly [what: string, outcome: Outcome, kind: FailureKind, code?: string]> = [
  ["429 TooManyRequests", "429", "unavailable", "TooManyRequestsException"],
  ["400 LimitExceeded", says(400, "LimitExceededException", "Daily message quota exceeded."), "unavailable"],
  ["400 Throttling", says(400, "ThrottlingException", "Rate exceeded"), "unavailable", "ThrottlingException"],
  [
    "daily quota under another name",
    says(400, "BadRequestException", "Daily message quota exceeded."),
    "unavailable"
  ],
  [
    "sending rate under another name",
    says(400, "MessageRejected", "Maximum sending rate exceeded."),
    "unavailable"
  ],
  [
    "400 AccountSuspended",
    says(400, "AccountSuspendedException"),
    "unavailable",
    "AccountSuspendedException"
  ],
  ["400 SendingPaused", says(400, "SendingPausedException"), "unavailable", "SendingPausedException"],
  ["400 MailFromDomainNotVerified", says(400, "MailFromDomainNotVerifiedException"), "unavailable"],
  [
    "400 MessageRejected, unverified identity",
    says(
      400,
      "MessageRejected",
      "Email address is not verified. The following identities failed the check: a@x.test"
    ),
    "unavailable",
    "MessageRejected"
  ],
  [
    "400 MessageRejected, content",
    says(400, "MessageRejected", "Illegal content"),
    "rejected",
    "MessageRejected"
  ],
  [
    "400 BadRequest",
    says(400, "BadRequestException", "Missing final '@domain'"),
    "rejected",
    "BadRequestException"
  ],
  [
    "404 configuration set",
    says(404, "NotFoundException", "Configuration set <x> does not exist."),
    "rejected"
  ],
  ["409 Conflict", says(409, "ConflictException"), "rejected"],
  ["400, a name of the future", says(400, "MoonPhaseException"), "rejected", "MoonPhaseException"],
  ["403 ExpiredToken", "403", "unavailable", "ExpiredTokenException"],
  ["400 ExpiredToken", says(400, "ExpiredToken"), "unavailable"],
  ["403 UnrecognizedClient", says(403, "UnrecognizedClientException"), "unavailable"],
  ["403 InvalidClientTokenId", says(403, "InvalidClientTokenId"), "unavailable"],
  [
    "403 InvalidSignature",
    says(403, "InvalidSignatureException", "Signature expired: 1 is now earlier than 2"),
    "unavailable"
  ],
  ["400 InvalidSignature", says(400, "InvalidSignatureException"), "unavailable"],
  ["400 IncompleteSignature", says(400, "IncompleteSignature"), "unavailable"],
  ["403 MissingAuthenticationToken", says(403, "MissingAuthenticationTokenException"), "unavailable"],
  ["401", "401", "unavailable"],
  ["403 AccessDenied", says(403, "AccessDeniedException"), "unavailable", "AccessDeniedException"],
  ["403, a name of the future", says(403, "WrongMoonException"), "unavailable"],
  ["403 of a proxy", answers(403, PAGE), "unavailable"],
  ["408 of a gateway", answers(408, PAGE), "ambiguous"],
  ["413 of a proxy", answers(413, PAGE), "rejected"],
  ["429 of a proxy", answers(429, PAGE), "unavailable"],
  ["500 InternalServiceError", "500", "ambiguous", "InternalServiceErrorException"],
  ["500 ConcurrentModification", says(500, "ConcurrentModificationException"), "ambiguous"],
  ["500 with a throttling name", says(500, "ThrottlingException"), "ambiguous"],
  ["500, empty", answers(500, ""), "ambiguous"],
  ["500, the body breaks off", "truncated-500", "ambiguous"],
  ["502, a page", "502-html", "ambiguous"],
  ["503 ServiceUnavailable", "503", "unavailable", "ServiceUnavailableException"],
  [
    "503, named by its header alone",
    { reply: { status: 503, body: "", headers: { "x-amzn-errortype": "ServiceUnavailableException" } } },
    "unavailable",
    "ServiceUnavailableException"
  ],
  ["503, JSON without a name", answers(503, { message: "Service is unavailable" }), "unavailable"],
  ["503, a page", "503-html", "ambiguous"],
  ["503, empty", answers(503, ""), "ambiguous"],
  ["504, a page", "504", "ambiguous"],
  ["504, JSON", says(504, "GatewayTimeout"), "ambiguous"],
  ["200 without an id", "no-id-200", "ambiguous"],
  ["200, id empty", answers(200, { MessageId: "" }), "ambiguous"],
  ["200, id blank", answers(200, { MessageId: " " }), "ambiguous"],
  ["200, id endless", answers(200, { MessageId: "i".repeat(501) }), "ambiguous"],
  ["200, empty", "empty-200", "ambiguous"],
  ["200, a page", "html-200", "ambiguous"],
  ["200, the body breaks off", "truncated-200", "ambiguous"],
  ["200, accepted, the body breaks off", "truncated-200-accepted", "ambiguous"],
  ["302", { reply: { status: 302, headers: { location: "/elsewhere" } } }, "ambiguous"],
  ["reset before the body was read", "reset-before", "ambiguous"],
  ["reset after the body was read", "reset", "ambiguous"],
  ["accepted, then reset", "reset-after", "ambiguous"],
  ["connection refused", "refused", "ambiguous"]
]

describe("Amazon SES: classification over the wire", () => {
  // The SDK would take these for its retries, were they not set by the adapter.
  beforeEach(() => {
    vi.stubEnv("AWS_MAX_ATTEMPTS", "5")
    vi.stubEnv("AWS_RETRY_MODE", "adaptive")
  })
  afterEach(() => void vi.unstubAllEnvs())

  it.effect.each(ROWS)("%s", ([, outcome, kind, code]) =>
    Effect.gen(function* () {
      const { fake, provider } = yield* sesWithFake()
      yield* Effect.promise(() => fake.script([outcome]))
      const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
      assert.strictEqual(failure.kind, kind)
      if (code !== undefined) assert.strictEqual(failure.code, code)
      assert.strictEqual(fake.received, outcome === "refused" ? 0 : 1)
      assert.isAtMost(fake.acceptedCount, 1)
    })
  )

  it.effect("a refusal of the rate holds the sender back for a second, one of the day's quota does not", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* sesWithFake()
      const held: Array<unknown> = []
      for (const outcome of [
        "429",
        says(400, "MessageRejected", "Maximum sending rate exceeded."),
        says(400, "LimitExceededException", "Daily message quota exceeded."),
        says(400, "MessageRejected", "Illegal content")
      ] as const) {
        yield* Effect.promise(() => fake.script([outcome]))
        held.push((yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))).pace)
      }
      assert.deepStrictEqual(held, [{ holdMs: 1000 }, { holdMs: 1000 }, undefined, undefined])
    })
  )

  it.effect("a host without a DNS entry is ambiguous", () =>
    Effect.gen(function* () {
      const endpoint = "http://nonexistent.invalid"
      const provider = yield* makeSesProvider({ region: "us-east-1", endpoint, credentials: STATIC })
      const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
      assert.strictEqual(failure.kind, "ambiguous")
      assert.match(
        failure.message,
        /^provider_b gave no answer at http:\/\/nonexistent\.invalid: .*nonexistent\.invalid\. Check the network and PROVIDERB_ENDPOINT$/
      )
    })
  )

  it.effect("an unverified sender and an unknown configuration set, by the vendor's own rules", () =>
    Effect.gen(function* () {
      const { provider } = yield* sesWithFake({
        verifiedDomains: ["postlane.test"],
        configurationSets: ["known"]
      })
      const unverified = mail({ from: box("a@other.test") })
      const first = yield* Effect.flip(provider.send(provider.prepare(unverified, KEY)))
      assert.strictEqual(first.kind, "unavailable")
      assert.include(first.message, "…@other.test")
      const unknown = provider.prepare(mail({ configurationSet: "unknown" }), KEY)
      assert.strictEqual((yield* Effect.flip(provider.send(unknown))).kind, "rejected")
      yield* provider.send(provider.prepare(mail({ configurationSet: "known" }), KEY))
    })
  )

  it("no error of any shape throws, and none without a 4xx or a 503 is certain", () => {
    fc.assert(
      fc.property(fc.anything(), (error) => assert.strictEqual(classifySesError(error).kind, "ambiguous"))
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 599 }),
        fc.string(),
        fc.boolean(),
        (status, message, parsed) => {
          const error = Object.assign(new Error(message), { $metadata: { httpStatusCode: status } })
          const { kind } = classifySesError(parsed ? Object.assign(error, { $fault: "server" }) : error)
          if (status < 400 || (status >= 500 && !(status === 503 && parsed)))
            assert.strictEqual(kind, "ambiguous")
        }
      )
    )
  })
})

describe("Amazon SES: credentials", () => {
  const attempt = (credentials: ReturnType<typeof credentialSource>) =>
    Effect.gen(function* () {
      const fake = yield* listening(() => fakeSes())
      const provider = yield* makeSesProvider({ region: "us-east-1", endpoint: fake.url, credentials })
      const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
      assert.strictEqual(fake.received, 0)
      return failure
    })

  it.effect("none, half a pair and a source that breaks are unavailable, without a request", () =>
    Effect.gen(function* () {
      const none = { accessKeyId: undefined, secretAccessKey: undefined, sessionToken: undefined }
      const broken = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })
      for (const source of [
        credentialSource(none),
        credentialSource({ ...none, accessKeyId: "AKIA" }),
        () => Promise.reject(broken),
        () => Promise.reject(new CredentialsUnavailable("gone"))
      ]) {
        const failure = yield* attempt(source)
        assert.deepStrictEqual([failure.kind, failure.code], ["unavailable", "CredentialsProviderError"])
      }
    })
  )

  it.effect("the session token goes along", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* sesWithFake()
      yield* provider.send(provider.prepare(mail(), KEY))
      const { headers } = fake.requests[0]!
      assert.strictEqual(headers["x-amz-security-token"], "ses-session-token")
      assert.match(headers.authorization ?? "", /Credential=AKIAEXAMPLE\/\d{8}\/us-east-1\/ses\//)
    })
  )

  it.effect("no secret in what a refused signature says", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* sesWithFake()
      const canonical =
        "The Canonical String for this request should have been\n'POST\nx-amz-security-token:ses-session-token'"
      const words = `The request signature does not match (ses-secret-key).\n\n${canonical}`
      yield* Effect.promise(() => fake.script([says(403, "SignatureDoesNotMatch", words)]))
      const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), KEY)))
      assert.strictEqual(failure.kind, "unavailable")
      assert.strictEqual(failure.message, "The request signature does not match (…).")
    })
  )
})

describe("Amazon SES: one attempt", () => {
  it.effect("an interrupted attempt is aborted, and the peer sees it", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* sesWithFake()
      yield* Effect.promise(() => fake.always("hang-accepted"))
      const fiber = yield* Effect.forkChild(provider.send(provider.prepare(mail(), KEY)))
      yield* Effect.promise(() => fake.until(() => fake.acceptedCount === 1))
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => fake.until(() => fake.requests[0]!.aborted))
      assert.strictEqual(fake.received, 1)
    })
  )

  it.effect("what the service cannot take is rejected in clear words, without a request", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* sesWithFake()
      const headers = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`X-H${index}`, "1"]))
      const many = yield* Effect.flip(provider.send(provider.prepare(mail({ headers }), KEY)))
      assert.deepStrictEqual(
        [many.kind, many.message],
        ["rejected", "Amazon SES takes at most 15 headers of one's own, this message has 16"]
      )
      for (const field of ["to", "cc", "bcc", "replyTo"] as const) {
        const message = mail({ [field]: [box("jörg@example.test")] })
        const local = yield* Effect.flip(provider.send(provider.prepare(message, KEY)))
        assert.deepStrictEqual(
          [local.kind, local.message],
          ["rejected", "Amazon SES takes no address with a character outside ASCII before the @"]
        )
      }
      assert.strictEqual(fake.received, 0)
    })
  )
})

describe("Amazon SES: what goes over the wire", () => {
  it.effect("every field, in the vendor's words", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* sesWithFake()
      const message = mail({
        from: box("noreply@postlane.test", "Zoë"),
        to: [box("ann@example.test", "Ann, of Example"), box("b@xn--bcher-kva.test")],
        cc: [box("c@example.test")],
        bcc: [box("d@example.test")],
        replyTo: [box("r@in.postlane.test")],
        subject: "Grüße",
        html: "<p>Grüße <img src=cid:logo></p>",
        headers: { "X-Who": "Zoë", "List-Unsubscribe": "<https://x.test/u>" },
        tags: { campaign: "c1", "späte Aktion": "a b" },
        attachments: [
          {
            filename: "récépissé.pdf",
            contentType: "application/pdf",
            content: "JVBERg==",
            contentId: undefined
          },
          { filename: "logo.png", contentType: "image/png", content: "iVBORw0K", contentId: "logo" }
        ]
      })
      yield* provider.send(provider.prepare(message, KEY))
      assert.deepStrictEqual(JSON.parse(fake.requests[0]!.body), {
        FromEmailAddress: "=?UTF-8?B?Wm/Dqw==?= <noreply@postlane.test>",
        Destination: {
          ToAddresses: ['"Ann, of Example" <ann@example.test>', "b@xn--bcher-kva.test"],
          CcAddresses: ["c@example.test"],
          BccAddresses: ["d@example.test"]
        },
        ReplyToAddresses: ["r@in.postlane.test"],
        Content: {
          Simple: {
            Subject: { Data: "Grüße", Charset: "UTF-8" },
            Body: {
              Text: { Data: "Hi", Charset: "UTF-8" },
              Html: { Data: "<p>Grüße <img src=cid:logo></p>", Charset: "UTF-8" }
            },
            Headers: [
              { Name: "List-Unsubscribe", Value: "<https://x.test/u>" },
              { Name: "X-Who", Value: "=?UTF-8?B?Wm/Dqw==?=" }
            ],
            Attachments: [
              {
                FileName: "=?UTF-8?B?csOpY8OpcGlzc8OpLnBkZg==?=",
                ContentType: "application/pdf",
                ContentDisposition: "ATTACHMENT",
                ContentTransferEncoding: "BASE64",
                RawContent: "JVBERg=="
              },
              {
                FileName: "logo.png",
                ContentType: "image/png",
                ContentDisposition: "INLINE",
                ContentId: "logo",
                ContentTransferEncoding: "BASE64",
                RawContent: "iVBORw0K"
              }
            ]
          }
        },
        EmailTags: [
          { Name: "campaign", Value: "c1" },
          { Name: "b64_c3DDpHRlIEFrdGlvbg", Value: "b64_YSBi" },
          { Name: "postlane_key", Value: KEY.tag }
        ]
      })
    })
  )

  it.effect("configuration set: the request's, else the setting's, else the identity's own", () =>
    Effect.gen(function* () {
      const sets: Array<string | undefined> = []
      for (const [setting, requested] of [
        ["setting-set", "outreach-set"],
        ["setting-set", undefined],
        [undefined, "outreach-set"],
        [undefined, undefined]
      ] as const) {
        const { fake, provider } = yield* sesWithFake(
          setting === undefined ? {} : { configurationSet: setting }
        )
        yield* provider.send(provider.prepare(mail({ configurationSet: requested }), KEY))
        sets.push((JSON.parse(fake.requests[0]!.body) as SesPayload).ConfigurationSetName)
      }
      assert.deepStrictEqual(sets, ["outreach-set", "setting-set", "outreach-set", undefined])
    })
  )

  it.effect("a retry of the queued request is the same bytes", () =>
    Effect.gen(function* () {
      const { fake, provider } = yield* sesWithFake()
      const attachments = [
        { filename: "a.bin", contentType: undefined, content: "AAEC/w==", contentId: undefined }
      ]
      const request = provider.prepare(mail({ headers: { "X-B": "2", "X-A": "1" }, attachments }), KEY)
      const queued = {
        ...request,
        body: Object.fromEntries(Object.entries(request.body as object).reverse())
      }
      yield* provider.send(request)
      yield* provider.send(JSON.parse(JSON.stringify(queued)) as typeof request)
      assert.strictEqual(fake.requests[1]!.body, fake.requests[0]!.body)
    })
  )

  it.effect("tags come back as they were written", () =>
    Effect.gen(function* () {
      const { provider } = yield* sesWithFake()
      fc.assert(
        fc.property(
          fc.dictionary(fc.string({ unit: "grapheme", minLength: 1 }), fc.string({ unit: "grapheme" })),
          (tags) => {
            const { EmailTags: sent = [] } = provider.prepare(mail({ tags }), KEY).body as SesPayload
            assert.isTrue(sent.every(({ Name, Value }) => /^[\w-]+$/.test(Name + Value)))
            const back = new Map(sent.map(({ Name, Value }) => [decodeTag(Name), decodeTag(Value)]))
            back.delete("postlane_key")
            assert.deepStrictEqual(back, new Map(Object.entries(tags)))
          }
        )
      )
    })
  )
})

describe("Amazon SES: RFC 2047", () => {
  it("any name comes back, in words of at most 75 characters", () => {
    fc.assert(
      fc.property(nameArb, (name) => {
        const encoded = encodeWords(name)
        assert.isTrue(
          encoded.split(" ").every((word) => word.length <= 75 && /^=\?UTF-8\?B\?[\w+/]+=*\?=$/.test(word))
        )
        assert.strictEqual(decodeWords(encoded), name)
      }),
      { numRuns: 500 }
    )
  })

  it("each word holds whole code points", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 20, maxLength: 80 }), (name) => {
        const words = encodeWords(name).split(" ")
        assert.strictEqual(words.map((word) => decodeWords(word)).join(""), name)
      })
    )
  })

  it.effect("a file name outside ASCII fits the service's 255 characters and keeps its extension", () =>
    Effect.gen(function* () {
      const { provider } = yield* sesWithFake()
      fc.assert(
        fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 250 }), (stem) => {
          const filename = `é${stem.replaceAll(/\p{Cc}/gu, "")}.pdf`
          const attachments = [{ filename, contentType: undefined, content: "", contentId: undefined }]
          const body = provider.prepare(mail({ attachments }), KEY).body as SesPayload
          const { FileName = "" } = body.Content?.Simple?.Attachments?.[0] ?? {}
          assert.isAtMost(FileName.length, 255)
          const read = decodeWords(FileName)
          assert.isTrue(read.endsWith(".pdf") && filename.startsWith(read.slice(0, -4)))
          if (filename.length < 30) assert.strictEqual(read, filename)
        })
      )
    })
  )
})
