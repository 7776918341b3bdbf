import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, type DocumentsWorld, fileOf, funds, job, pdf, WINDOW } from "../documents-world.ts"

/** Races: a chunk is claimed once, credits are held once, a cancel or the last chunk wins. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`conversions: ${name}`, (it) => {
    it.effect("twenty workers race for ten chunks: each is claimed once", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(100)
        yield* job(owner, yield* pdf(owner, 20))
        const claimed = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, n) => n),
          (n) => store.claimChunk(`w${n}`, anyId()),
          { concurrency: "unbounded" }
        )
        const indexes = claimed.flatMap((chunk) => (chunk === undefined ? [] : [chunk.chunkIndex]))
        assert.deepStrictEqual(
          indexes.sort((a, b) => a - b),
          Array.from({ length: 10 }, (_, n) => n)
        )
      })
    )

    it.effect("fifty requests race for ten credits: ten pages are held, never more", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const answers = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, n) => n),
          () =>
            Effect.flatMap(pdf(owner, 1), (fileId) =>
              store.request({ jobId: anyId(), fileId, customerId: owner, options: {}, window: WINDOW })
            ),
          { concurrency: 10 }
        )
        assert.strictEqual(answers.filter((answer) => answer === "queued").length, 10)
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 10, charged: 0 })
      })
    )

    it.effect(
      "a cancel races the last chunk: the job ends cancelled or assembling, with all that goes with it",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* ConversionStore
          for (let round = 0; round < 15; round++) {
            const owner = yield* customer(10)
            const fileId = yield* pdf(owner, 2)
            const jobId = yield* job(owner, fileId)
            const chunk = yield* store.claimChunk("w", anyId())
            const [completed, cancelled] = yield* Effect.all(
              [store.completeChunk(chunk!, "r", []), store.cancel(jobId)],
              { concurrency: 2 }
            )
            const file = yield* fileOf(fileId, owner)
            const { held } = yield* funds(owner)
            if (cancelled === "cancelled") {
              assert.deepStrictEqual(
                [completed, file.status, file.jobStatus, held],
                ["stale", "uploaded", "cancelled", 0]
              )
            } else {
              assert.deepStrictEqual(
                [completed, cancelled, file.status, file.jobStatus, held],
                ["assembling", "finishing", "chunked_processing", "assembling", 2]
              )
            }
          }
        })
    )
  })
