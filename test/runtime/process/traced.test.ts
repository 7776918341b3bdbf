import { assert, it } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"

import type { DeferredSend } from "../../../src/domain/mail/deferred-send.ts"
import { Mailer } from "../../../src/domain/mail/mailer.ts"
import { RetryHandler } from "../../../src/domain/mail/retry.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { layerTraced } from "../../../src/runtime/process/telemetry.ts"
import { mail } from "../../domain/mail/harness.ts"

it.effect("puts a span around each send and each retry, and keeps what is in a mail out of it", () =>
  Effect.gen(function* () {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const inner = Layer.mergeAll(
      Layer.succeed(Mailer, Mailer.of({ send: () => Effect.succeed({} as SendResult) })),
      Layer.succeed(RetryHandler, RetryHandler.of({ handle: () => Effect.void }))
    )
    yield* Effect.gen(function* () {
      yield* (yield* Mailer).send(mail({ to: "secret@x.test", subject: "private" }))
      yield* (yield* RetryHandler).handle({ request: { provider: "provider_b" }, attempt: 2 } as DeferredSend)
    }).pipe(
      Effect.provide(Layer.provideMerge(layerTraced, inner)),
      Effect.provideService(Tracer.Tracer, tracer)
    )
    assert.deepStrictEqual(
      spans.map(({ name, attributes }) => [name, Object.fromEntries(attributes)]),
      [
        ["Mailer.send", { category: "transactional", source: "api:test" }],
        ["RetryHandler.handle", { provider: "provider_b", attempt: 2 }]
      ]
    )
  })
)
