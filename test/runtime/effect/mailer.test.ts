/**
 * The layers of `postlane/effect` on settings: what refuses them, and the `HttpClient` of the program under the providers. The memory
 * layer is tried by test/examples/effect-service.test.ts.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema, Tracer } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse
} from "effect/http"

import { Provider } from "../../../src/domain/mail/provider.ts"
import { Accepted, Mailer, SendId, SettingsRefused } from "../../../src/runtime/entries/effect.ts"
import { layerDatabase, TestDatabase } from "../../support/postgres/postgres.ts"

/** What each provider cannot be asked without; provider_b may have the machine's own credentials. */
const NEEDS = {
  provider_a: { PROVIDERA_API_KEY: "re_key" },
  provider_b: {},
  smtp: { SMTP_URL: "smtps://u:p@relay.test:465" },
  postmark: { POSTMARK_SERVER_TOKEN: "token" }
} satisfies Record<Provider, Readonly<Record<string, string>>>

const refusal = (env: Readonly<Record<string, string>>) =>
  Mailer.use(() => Effect.succeed<ReadonlyArray<string>>([])).pipe(
    Effect.provide(Mailer.layer({ env })),
    Effect.catchTag("SettingsRefused", ({ problems }) =>
      Effect.succeed(problems.map(({ setting }) => setting))
    )
  )

describe("the layer of settings", () => {
  it.effect("is refused by the name of what any chosen provider lacks, and by nothing else", () =>
    Effect.gen(function* () {
      for (const primary of Provider.literals)
        for (const fallback of Provider.literals) {
          const chosen = { EMAIL_PRIMARY: primary, EMAIL_FALLBACK: fallback }
          const lacks = [...Object.keys(NEEDS[primary]), ...Object.keys(NEEDS[fallback])]
          assert.sameMembers([...(yield* refusal(chosen))], [...new Set(lacks)], JSON.stringify(chosen))
          const complete = { ...chosen, ...NEEDS[primary], ...NEEDS[fallback] }
          assert.deepStrictEqual(yield* refusal(complete), [], JSON.stringify(complete))
        }
      assert.deepStrictEqual(yield* refusal({}), ["PROVIDERA_API_KEY"])
      assert.deepStrictEqual(yield* refusal({ EMAIL_PRIMARY: "none", PROVIDERA_API_KEY: "re_key" }), [
        "EMAIL_PRIMARY"
      ])
    })
  )

  it.effect("an error of it is a value with the settings by name", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Effect.provide(Mailer, Mailer.layer({ env: { EMAIL_PRIMARY: "postmark" } }))
      )
      assert.instanceOf(error, SettingsRefused)
      assert.include(error.message, "POSTMARK_SERVER_TOKEN")
    })
  )
})

/** What the program's client was asked. */
interface Asked {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly body: string
  readonly redirect: string | undefined
}

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

/** A client of a program, which answers by itself. */
const clientOf = (asked: Array<Asked>, answer: (url: URL) => Response | Error) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.gen(function* () {
        const init = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
        asked.push({
          request,
          body: bodyOf(request),
          redirect: init._tag === "Some" ? init.value.redirect : undefined
        })
        const given = answer(url)
        return given instanceof Error
          ? yield* new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({ request, cause: given })
            })
          : HttpClientResponse.fromWeb(request, given)
      })
    )
  )

const request = {
  to: "ann@shop.test",
  subject: "Receipt",
  text: "Thank you.",
  category: "transactional",
  source: "effect:test",
  idempotencyKey: "order-17"
} as const

const send = (
  env: Readonly<Record<string, string>>,
  asked: Array<Asked>,
  answer: Parameters<typeof clientOf>[1]
) =>
  Mailer.use((mailer) => mailer.send(request)).pipe(
    Effect.provide(Mailer.layer({ env }).pipe(Layer.provide(clientOf(asked, answer))))
  )

const REFUSED = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" })
const both = { ...NEEDS.provider_a, ...NEEDS.postmark }
const SES = {
  EMAIL_PRIMARY: "provider_b",
  CLOUD_ACCESS_KEY_ID: "AKIDEXAMPLE",
  CLOUD_SECRET_ACCESS_KEY: "secret-of-the-test",
  PROVIDERB_REGION: "eu-west-1"
}

describe("the HttpClient of the program", () => {
  it.live.each([
    {
      provider: "provider_a",
      env: NEEDS.provider_a,
      host: "api.resend.com",
      says: { id: "m-1" },
      header: "authorization"
    },
    {
      provider: "postmark",
      env: { EMAIL_PRIMARY: "postmark", ...NEEDS.postmark },
      host: "api.postmarkapp.com",
      says: { ErrorCode: 0, Message: "OK", MessageID: "m-1" },
      header: "x-postmark-server-token"
    },
    {
      provider: "provider_b",
      env: SES,
      host: "email.eu-west-1.amazonaws.com",
      says: { MessageId: "m-1" },
      header: "authorization"
    }
  ] as const)("makes the requests to $provider, below the span of the attempt", (of) =>
    Effect.gen(function* () {
      const asked: Array<Asked> = []
      const spans = new Map<string, string | undefined>()
      const kept: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const parent = options.parent._tag === "Some" ? options.parent.value : undefined
          spans.set(options.name, parent?._tag === "Span" ? parent.name : undefined)
          const span = new Tracer.NativeSpan(options)
          kept.push(span)
          return span
        }
      })
      const accepted = yield* send(of.env, asked, () => Response.json(of.says)).pipe(
        Effect.withSpan("Receipts.send"),
        Effect.withTracer(tracer)
      )
      assert.deepInclude(accepted, { status: "sent", provider: of.provider, providerMessageId: "m-1" })
      assert.lengthOf(asked, 1)
      const [{ body, redirect, request: made }] = asked as [Asked]
      assert.strictEqual(new URL(made.url).host, of.host)
      assert.include(body, "ann@shop.test")
      assert.isString(made.headers[of.header])
      assert.strictEqual(redirect, "manual", "a redirect would carry the key elsewhere")
      const attempt = kept.find(({ name }) => name === `attempt ${of.provider}`)
      assert.deepInclude(Object.fromEntries(attempt?.attributes ?? []), {
        "server.address": of.host,
        "server.port": 443,
        "http.response.status_code": 200,
        "postlane.outcome": "accepted"
      })
      assert.deepStrictEqual(
        ["POST", `attempt ${of.provider}`, "send transactional"].map((name) => spans.get(name)),
        [`attempt ${of.provider}`, "send transactional", "Receipts.send"]
      )
    })
  )

  it.live("a connection that was never made fails over; one that breaks off does not", () =>
    Effect.gen(function* () {
      const env = { ...both, EMAIL_PRIMARY: "postmark", EMAIL_FALLBACK: "provider_a" }
      const asked: Array<Asked> = []
      const accepted = yield* send(env, asked, ({ host }) =>
        host === "api.postmarkapp.com" ? REFUSED : Response.json({ id: "m-2" })
      )
      assert.deepInclude(accepted, { status: "sent", provider: "provider_a", failedOver: true })
      assert.lengthOf(asked, 2)
      const broken: Array<Asked> = []
      const failed = yield* Effect.flip(send(env, broken, () => new Error("socket hang up")))
      assert.deepInclude(failed, { _tag: "MailFailed", kind: "ambiguous", provider: "postmark" })
      assert.lengthOf(broken, 1)
    })
  )

  it.live("an answer without an end is read to a bound", () =>
    Effect.gen(function* () {
      const asked: Array<Asked> = []
      const endless = () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024))
          })
        )
      const failed = yield* Effect.flip(send(NEEDS.provider_a, asked, endless))
      assert.deepInclude(failed, { _tag: "MailFailed", kind: "ambiguous" })
    })
  )

  it.live("a provider without HTTP never asks it", () =>
    Effect.gen(function* () {
      const asked: Array<Asked> = []
      const env = { EMAIL_PRIMARY: "smtp", SMTP_URL: "smtp://127.0.0.1:1", SMTP_TLS: "optional" }
      const failed = yield* Effect.flip(send(env, asked, () => Response.json({})))
      assert.deepInclude(failed, { _tag: "MailFailed", kind: "unavailable", provider: "smtp" })
      assert.lengthOf(asked, 0)
    })
  )
})

it.live("the statements of the database are spans below the send", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const made: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        made.push(span)
        return span
      }
    })
    const env = { ...NEEDS.provider_a, DB_URL: url, DB_SECRET_KEY: "any" }
    yield* send(env, [], () => Response.json({ id: "m-3" })).pipe(Effect.withTracer(tracer))
    const lineage = (span: Tracer.AnySpan | undefined): ReadonlyArray<string> =>
      span?._tag === "Span"
        ? [span.name, ...lineage(span.parent._tag === "Some" ? span.parent.value : undefined)]
        : []
    const statements = made.filter(({ attributes }) => attributes.get("db.system.name") === "postgresql")
    const below = statements.filter((span) => lineage(span).includes("send transactional"))
    assert.isAtLeast(below.length, 2, "the claim with its look-up, and the row")
    assert.isString(below[0]?.attributes.get("server.address"))
  }).pipe(Effect.provide(layerDatabase))
)

it("what was accepted is a codec, and is matched by its status", () => {
  const sent = Accepted.make({
    ok: true,
    status: "sent",
    sendId: SendId.make("s-1"),
    provider: "provider_a",
    providerMessageId: "m-1",
    failedOver: false,
    idempotencyKey: "k",
    suppressedRecipients: []
  })
  const again = Schema.decodeUnknownSync(Accepted)(JSON.parse(JSON.stringify(sent)))
  const words = Accepted.match(again, {
    sent: ({ providerMessageId }) => `sent as ${providerMessageId}`,
    deferred: () => "on its way"
  })
  assert.strictEqual(words, "sent as m-1")
  assert.isFalse(Schema.is(Accepted)({ ...sent, ok: false, status: "failed" }))
})
