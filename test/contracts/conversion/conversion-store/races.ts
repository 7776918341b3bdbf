import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  begin,
  clean,
  completeAll,
  customer,
  type DocumentsWorld,
  fileOf,
  funds,
  job,
  pdf,
  STALE,
  WINDOW
} from "../documents-world.ts"

/** Races: a chunk is claimed once, credits are held once, a cancel or the last chunk wins. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`conversions: ${name}`, (it) => {
    it.effect("twenty workers race for ten chunks: each is claimed once", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(100)
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
        const { owner, store } = yield* begin(10)
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

    it.effect("DOC-14: of the last two chunks, completed at once, one takes the job to its assembly", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 4))
        const [one, other] = [
          (yield* store.claimChunk("w", anyId()))!,
          (yield* store.claimChunk("w", anyId()))!
        ]
        const answer = yield* world.whileOpen(
          store.completeChunk(one, "r0", []),
          store.completeChunk(other, "r1", [])
        )
        assert.strictEqual(answer, "assembling")
        assert.deepInclude(yield* world.job(jobId), { status: "assembling", doneChunks: 2 })
        assert.strictEqual((yield* store.claimAssembly(anyId(), STALE))?.jobId, jobId)
      })
    )

    it.effect.each(["request", "requestFlyer"] as const)(
      "C3: a file is converted one way, though both are asked for at once (%s second)",
      (second) =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(10)
          const fileId = yield* pdf(owner, 2)
          const asked = { fileId, customerId: owner, window: WINDOW }
          const ways = {
            request: store.request({ ...asked, jobId: anyId(), options: {} }),
            requestFlyer: store.requestFlyer({ ...asked, id: anyId() })
          }
          const first = second === "request" ? "requestFlyer" : "request"
          assert.strictEqual(yield* world.whileOpen(ways[first], ways[second]), "active")
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 2, charged: 0 })
        })
    )

    it.effect("DOC-14: two workers at once assemble two jobs", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const first = yield* job(owner, yield* pdf(owner, 1))
        const second = yield* job(owner, yield* pdf(owner, 1))
        yield* completeAll
        const claim = Effect.suspend(() => store.claimAssembly(anyId(), STALE))
        assert.strictEqual((yield* world.whileOpen(claim, claim))?.jobId, second)
        assert.deepInclude(yield* world.job(first), { status: "assembling" })
        assert.isUndefined(yield* claim)
      })
    )

    it.effect("C3: of two heartbeats of one chunk the one with more pages counts, whichever comes last", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const fileId = yield* pdf(owner, 4)
        yield* job(owner, fileId, {}, 4)
        const chunk = (yield* store.claimChunk("w", anyId()))!
        const beat = (pages: number) => store.heartbeatChunk(chunk, pages, WINDOW)
        assert.isTrue(yield* world.whileOpen(beat(3), beat(1)))
        assert.strictEqual((yield* fileOf(fileId, owner)).progress.done, 3)
        assert.isTrue(yield* beat(2))
        assert.strictEqual((yield* fileOf(fileId, owner)).progress.done, 3)
      })
    )

    it.effect("C2: a chunk that is handed back meanwhile is not completed", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        const chunk = (yield* store.claimChunk("w", anyId()))!
        const answer = yield* world.whileOpen(
          store.handBackChunk(chunk, []),
          store.completeChunk(chunk, "r0", [])
        )
        assert.strictEqual(answer, "stale")
        assert.deepInclude(yield* world.job(jobId), { status: "processing", doneChunks: 0 })
        assert.deepInclude((yield* world.chunks(jobId))[0], { status: "pending", resultKey: null })
      })
    )

    it.effect("C2: a chunk that is completed meanwhile is not heard of again", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        yield* job(owner, yield* pdf(owner, 2))
        const chunk = (yield* store.claimChunk("w", anyId()))!
        const alive = yield* world.whileOpen(
          store.completeChunk(chunk, "r0", []),
          store.heartbeatChunk(chunk, 1, WINDOW)
        )
        assert.isFalse(alive)
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
