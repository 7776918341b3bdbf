import { assert, describe, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"

import type { MailProvider } from "../../src/ports/mail/mail-provider.ts"
import { keyOf, mail } from "../support/files/mail-message.ts"
import type { Outcome } from "../support/vendors/fake-http.ts"
import { resendWithFake, sesWithFake } from "../support/vendors/fake-peers.ts"
import { sesError } from "../support/vendors/fake-ses.ts"

const KEY = keyOf("order-17")

/** What the span of an attempt says of the server and its answer. */
const said = Effect.fnUntraced(function* (provider: MailProvider) {
  let span: Tracer.NativeSpan | undefined
  const tracer = Tracer.make({ span: (options) => (span ??= new Tracer.NativeSpan(options)) })
  yield* provider
    .send(provider.prepare(mail(), KEY))
    .pipe(
      Effect.exit,
      Effect.withSpan("attempt", { root: true }),
      Effect.provideService(Tracer.Tracer, tracer)
    )
  const { attributes } = span ?? assert.fail("no span")
  return [
    attributes.get("server.address"),
    attributes.get("server.port"),
    attributes.get("http.response.status_code")
  ]
})

const peers = {
  Resend: {
    open: resendWithFake(),
    refusal: { reply: { status: 422, body: { statusCode: 422, name: "validation_error", message: "no" } } }
  },
  "Amazon SES": { open: sesWithFake(), refusal: { reply: sesError(400, "BadRequestException", "no") } }
} satisfies Readonly<Record<string, { readonly open: unknown; readonly refusal: Outcome }>>

describe.each(["Resend", "Amazon SES"] as const)("the span of an attempt at %s", (name) => {
  it.effect("names the server, and the status of its answer", () =>
    Effect.gen(function* () {
      const { open, refusal } = peers[name]
      const { fake, provider } = yield* open
      const port = Number(new URL(fake.url).port)
      yield* Effect.promise(() => fake.script(["ok", refusal, "reset"]))
      assert.deepStrictEqual(yield* said(provider), ["127.0.0.1", port, 200])
      assert.deepStrictEqual(yield* said(provider), ["127.0.0.1", port, name === "Resend" ? 422 : 400])
      assert.deepStrictEqual(yield* said(provider), ["127.0.0.1", port, undefined])
    })
  )
})
