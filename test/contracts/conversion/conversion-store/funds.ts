import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import type { JobOptions } from "../../../../src/domain/conversion/job.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  addFile,
  ask,
  begin,
  clean,
  cost,
  customer,
  DocumentsWorld,
  fileOf,
  funds,
  job,
  pdf,
  STALE,
  WINDOW
} from "../documents-world.ts"

/** The daily budget, and what is charged without chunks. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`conversions: ${name}`, (it) => {
    it.effect(
      "the daily budget does not pause a job whose batch answers are paid; one that is paused goes on",
      () =>
        Effect.gen(function* () {
          yield* clean
          const world = yield* DocumentsWorld
          const store = yield* ConversionStore
          const owner = yield* customer(10)
          const primed = { highFidelity: true, _batchPrimed: true }
          const [paid, paused] = [
            yield* job(owner, yield* pdf(owner, 2), primed),
            yield* job(owner, yield* pdf(owner, 2), primed)
          ]
          yield* world.setJob(paused, { status: "paused_budget" })
          yield* store.bookCosts([cost(paid, 6)])
          assert.strictEqual(yield* store.modelCostToday, 6)
          assert.strictEqual(yield* store.applyBudget(5), 1)
          for (const id of [paid, paused]) assert.strictEqual((yield* world.job(id)).status, "pending")
        })
    )

    it.effect("the daily budget pauses jobs that use a model, and lets them go on", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const fileId = yield* pdf(owner, 2)
        const jobId = yield* job(owner, fileId, { highFidelity: true })
        yield* store.bookCosts([cost(jobId, 5)])
        assert.strictEqual(yield* store.applyBudget(undefined), 0)
        assert.strictEqual(yield* store.applyBudget(5), 1)
        assert.isUndefined(yield* store.claimChunk("w", anyId()))
        assert.strictEqual((yield* fileOf(fileId, owner)).phase, "Paused: the daily model budget is spent")
        assert.strictEqual(yield* store.applyBudget(6), 1)
        assert.isDefined(yield* store.claimChunk("w", anyId()))
        assert.strictEqual(yield* store.applyBudget(5), 1)
        yield* DocumentsWorld.use((world) => world.bookedYesterday)
        assert.strictEqual(yield* store.applyBudget(5), 1, "it is another day")
        assert.strictEqual(yield* store.applyBudget(5), 0)
      })
    )

    it.effect("the daily budget is for each job that a model converts, and for no other", () =>
      Effect.gen(function* () {
        const paused = (options: JobOptions) =>
          Effect.gen(function* () {
            const { owner, store } = yield* begin(10)
            const jobId = yield* job(owner, yield* pdf(owner, 2), options)
            yield* store.bookCosts([cost(jobId, 5)])
            return yield* store.applyBudget(5)
          })
        const asked: ReadonlyArray<JobOptions> = [
          {},
          { highFidelity: true },
          { parser: "harness" },
          { mathOcr: true },
          { parser: "layout" },
          { parser: "layout", highFidelity: true, mathOcr: true }
        ]
        const answers = yield* Effect.forEach(asked, paused)
        assert.deepStrictEqual(answers, [0, 1, 1, 1, 0, 0])
      })
    )

    it.effect("inline files and layout-true results are charged once, or not at all", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const picture = yield* addFile(owner, 1, "png")
        yield* ask(owner, picture)
        assert.strictEqual((yield* fileOf(picture, owner)).status, "processing")
        assert.isUndefined(yield* store.nextQueued, "no chunk job is made of it")
        const inline = yield* store.claimInline(anyId(), STALE)
        assert.isUndefined(yield* store.claimInline(anyId(), STALE))
        assert.isTrue(yield* store.heartbeatInline(inline!, WINDOW))
        assert.strictEqual(yield* store.finishInline(inline!, "r", []), "completed")
        assert.strictEqual(yield* store.finishInline(inline!, "r", []), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })

        const fileId = yield* pdf(owner, 3)
        const flyerId = anyId()
        const flyer = { id: flyerId, fileId, customerId: owner, window: WINDOW }
        assert.strictEqual(yield* store.requestFlyer({ ...flyer, fileId: picture }), "unsupported")
        assert.strictEqual(yield* store.requestFlyer(flyer), "queued")
        assert.strictEqual(yield* store.requestFlyer({ ...flyer, id: anyId() }), "active")
        const reflow = { flyerId, customerId: owner, jobId: anyId(), options: {}, window: WINDOW }
        assert.strictEqual(yield* store.requestReflow(reflow), "resolved")
        const claimed = yield* store.claimFlyer(anyId(), STALE)
        assert.strictEqual(yield* store.finishFlyer(claimed!, "flyer", []), "completed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 6, held: 0, charged: 4 })
        assert.strictEqual(yield* store.requestReflow(reflow), "queued")
        assert.strictEqual(yield* store.requestReflow({ ...reflow, jobId: anyId() }), "resolved")
        assert.deepStrictEqual(yield* funds(owner), { credits: 6, held: 0, charged: 4 })
        assert.strictEqual(yield* store.cancel(reflow.jobId), "cancelled")
        assert.strictEqual(yield* store.requestReflow({ ...reflow, jobId: anyId() }), "queued")
      })
    )
  })
