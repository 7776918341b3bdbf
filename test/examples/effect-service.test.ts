import { setTimeout } from "node:timers/promises"

import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer, Tracer } from "effect"
import { TestClock } from "effect/testing"

import { live, Receipts } from "../../examples/effect-service.ts"
import { Mailer, Outbox } from "../../src/runtime/entries/effect.ts"

/** Keeps what is traced. */
const spans: Array<{ readonly name: string; readonly parent: string | undefined }> = []
const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    const parent = options.parent._tag === "Some" ? options.parent.value : undefined
    spans.push({ name: options.name, parent: parent?._tag === "Span" ? parent.name : undefined })
    return span
  }
})

/** The machine's own time, in which files are read. */
const pause = Effect.promise(() => setTimeout(20))

layer(Receipts.layer.pipe(Layer.provideMerge(Mailer.layerMemory)))(
  "an Effect service on the memory layer",
  (it) => {
    it.effect("sends once, under a span of its caller, also where the first provider is down", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const { mails, next } = yield* Outbox
        yield* next(["unavailable"], { for: { key: "receipt/17" } })
        const sent = yield* receipts.send("17", "ann@shop.test").pipe(Effect.withTracer(tracer))
        assert.strictEqual(sent, "on its way")
        assert.strictEqual(yield* receipts.send("17", "ann@shop.test"), "on its way")
        const found = (yield* mails).filter(({ to }) => to.includes("ann@shop.test"))
        assert.deepStrictEqual(
          found.map(({ subject, via }) => [subject, via]),
          [["Receipt for order 17", "provider_b"]]
        )
        assert.deepStrictEqual(spans, [
          { name: "Receipts.send", parent: undefined },
          { name: "send transactional", parent: "Receipts.send" },
          { name: "attempt provider_a", parent: "send transactional" },
          { name: "attempt provider_b", parent: "send transactional" }
        ])
      })
    )

    it.effect("a provider that hangs is waited for in the test's time, and the retry comes in it", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const { mails, next } = yield* Outbox
        yield* next(["hang-lost"], { for: { key: "receipt/18" } })
        const sending = yield* Effect.forkChild(receipts.send("18", "bob@shop.test"), {
          startImmediately: true
        })
        const of = Effect.map(mails, (all) => all.filter(({ to }) => to.includes("bob@shop.test")).length)
        // The script is read from a file: the request may leave a little later.
        yield* Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), pause), {
          until: () => sending.pollUnsafe() !== undefined,
          times: 1000
        })
        assert.deepStrictEqual([yield* Fiber.join(sending), yield* of], ["on its way", 0])
        // The test's time must not run ahead of the files: the retries would be over before one is read.
        const soon = Effect.repeat(Effect.andThen(pause, of), { until: (count) => count === 1, times: 100 })
        yield* Effect.repeat(Effect.andThen(TestClock.adjust("1 minute"), soon), {
          until: (count) => count === 1,
          times: 30
        })
        assert.strictEqual(yield* of, 1)
      })
    )

    it.effect("errors are values that a caller takes by their tags", () =>
      Effect.gen(function* () {
        const mailer = yield* Mailer
        const { next } = yield* Outbox
        const request = {
          to: "cy@shop.test",
          subject: "s",
          text: "t",
          category: "transactional",
          source: "test",
          idempotencyKey: "k"
        } as const
        const invalid = yield* mailer
          .send({ ...request, to: "nobody" })
          .pipe(Effect.catchTag("InvalidRequest", ({ issues }) => Effect.succeed(issues[0]?.path)))
        assert.strictEqual(invalid, "to")
        yield* next(["rejected"], { for: { key: "k" } })
        const failed = yield* Effect.flip(mailer.send(request))
        assert.deepStrictEqual([failed._tag, "kind" in failed && failed.kind], ["MailFailed", "rejected"])
        yield* mailer.send({ ...request, idempotencyKey: "k2" })
        const conflict = yield* Effect.flip(mailer.send({ ...request, idempotencyKey: "k2", text: "other" }))
        assert.strictEqual(conflict._tag, "IdempotencyConflict")
      })
    )
  }
)

layer(Layer.empty)("the layer of the settings", (it) => {
  it.effect("consults the ConfigProvider, and a missing key refuses it", () =>
    Effect.gen(function* () {
      const withKeys = (env: Readonly<Record<string, string>>) =>
        Receipts.use(() => Effect.succeed("there")).pipe(
          Effect.provide(live.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))))),
          Effect.result
        )
      const refused = yield* withKeys({})
      assert.deepStrictEqual(
        [refused._tag, refused._tag === "Failure" && refused.failure.message.includes("PROVIDERA_API_KEY")],
        ["Failure", true]
      )
      const built = yield* withKeys({ PROVIDERA_API_KEY: "re_key" })
      assert.deepStrictEqual(built._tag === "Success" ? built.success : built.failure, "there")
    })
  )
})
