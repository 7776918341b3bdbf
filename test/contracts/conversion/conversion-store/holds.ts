import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { CustomerId, JobId } from "../../../../src/domain/ids.ts"
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
  funds,
  job,
  ledgerUsd,
  pdf,
  STALE,
  WINDOW
} from "../documents-world.ts"

/** Work under way: what its hold is kept under, how it is heard of, and how it ends where that is what charges it. */
const begun = {
  chunk: Effect.fnUntraced(function* (owner: CustomerId) {
    const store = yield* ConversionStore
    const fileId = yield* pdf(owner, 2)
    const id = yield* job(owner, fileId, { highFidelity: true })
    const chunk = yield* store.claimChunk("w", anyId())
    return { id, fileId, beat: store.heartbeatChunk(chunk!, 0, WINDOW) }
  }),
  assembly: Effect.fnUntraced(function* (owner: CustomerId) {
    const store = yield* ConversionStore
    const fileId = yield* pdf(owner, 2)
    const id = yield* job(owner, fileId)
    const chunk = yield* store.claimChunk("w", anyId())
    yield* store.completeChunk(chunk!, "r", [])
    const assembly = yield* store.claimAssembly(anyId(), STALE)
    return {
      id,
      fileId,
      beat: store.heartbeatAssembly(assembly!, WINDOW),
      finish: store.finishJob(assembly!, "result")
    }
  }),
  inline: Effect.fnUntraced(function* (owner: CustomerId) {
    const store = yield* ConversionStore
    const id = anyId()
    const fileId = yield* addFile(owner, 2, "docx")
    yield* ask(owner, fileId, id)
    const inline = yield* store.claimInline(anyId(), STALE)
    return {
      id,
      fileId,
      beat: store.heartbeatInline(inline!, WINDOW),
      finish: store.finishInline(inline!, "result", [])
    }
  }),
  flyer: Effect.fnUntraced(function* (owner: CustomerId) {
    const store = yield* ConversionStore
    const id = anyId()
    const fileId = yield* pdf(owner, 2)
    yield* store.requestFlyer({ id, fileId, customerId: owner, window: WINDOW })
    const flyer = yield* store.claimFlyer(anyId(), STALE)
    return {
      id,
      fileId,
      beat: store.heartbeatFlyer(flyer!, WINDOW),
      finish: store.finishFlyer(flyer!, "result", [])
    }
  })
}

const CHARGED = ["assembly", "inline", "flyer"] as const
const KINDS = ["chunk", ...CHARGED] as const

/** Sets when a hold lapses, in minutes from now. */
const lapsesIn = (jobId: JobId, minutes: number) =>
  DocumentsWorld.use((world) => world.lapsesIn(jobId, minutes))

/** Whether a hold lasts for most of its window. */
const lasts = (jobId: JobId) =>
  DocumentsWorld.use((world) =>
    Effect.map(world.hold(jobId), (hold) => hold?.state === "held" && hold.minutes > 80)
  )

/** What every conversion store does with the funds of work under way. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) => {
  suiteLayer(stores)(`holds of work under way: ${name}`, (it) => {
    it.effect.each(KINDS)("F1: of %s work lasts as long as it is heard of", (kind) =>
      Effect.gen(function* () {
        yield* clean
        const { beat, id } = yield* begun[kind](yield* customer(10))
        yield* lapsesIn(id, 1)
        assert.isFalse(yield* lasts(id))
        assert.isTrue(yield* beat)
        assert.isTrue(yield* lasts(id))
      })
    )

    it.effect.each(CHARGED)("F1 F2: of %s work that lapsed, its funds spent: no result, no charge", (kind) =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(3)
        const { fileId, finish, id } = yield* begun[kind](owner)
        yield* lapsesIn(id, -1)
        yield* DocumentsWorld.use((world) => world.spend(owner, 2))
        assert.strictEqual(yield* finish, "insufficient")
        assert.deepStrictEqual(yield* funds(owner), { credits: 1, held: 0, charged: 0 })
        const shown = yield* kind === "flyer" ? store.flyer(id, owner) : store.file(fileId, owner)
        assert.deepStrictEqual(
          [shown?.status, shown?.resultKey, shown?.error],
          ["failed", null, "Not enough credits were left when the result was ready"]
        )
        assert.notStrictEqual(yield* finish, "completed")
      })
    )

    it.effect("F1: the sweep keeps those of jobs that wait, and closes those of jobs that have ended", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const paused = yield* job(owner, yield* pdf(owner, 2), { highFidelity: true })
        yield* store.applyBudget(0)
        yield* lapsesIn(paused, 1)
        const ended = yield* job(owner, yield* pdf(owner, 3))
        yield* world.setJob(ended, { status: "failed" })
        yield* store.sweep(WINDOW, Duration.zero)
        assert.isTrue(yield* lasts(paused))
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 2, charged: 0 })
      })
    )
  })

  suiteLayer(stores)(`a file with a layout-true result: ${name}`, (it) => {
    const made = Effect.gen(function* () {
      const { owner, store } = yield* begin(10)
      const fileId = yield* pdf(owner, 2)
      const flyerId = anyId()
      const flyer = { id: flyerId, fileId, customerId: owner, window: WINDOW }
      yield* store.requestFlyer(flyer)
      const reflow = (jobId: JobId) =>
        store.requestReflow({ flyerId, customerId: owner, jobId, options: {}, window: WINDOW })
      const convert = (jobId: JobId) =>
        store.request({ jobId, fileId, customerId: owner, options: {}, window: WINDOW })
      return { store, owner, fileId, flyerId, flyer, reflow, convert }
    })

    it.effect("is converted one way at a time", () =>
      Effect.gen(function* () {
        const { convert, flyer, owner, store } = yield* made
        assert.strictEqual(yield* convert(anyId()), "active")
        const claimed = (yield* store.claimFlyer(anyId(), STALE))!
        assert.strictEqual(yield* convert(anyId()), "active", "while it is made, too")
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 2, charged: 0 })
        yield* store.finishFlyer(claimed, "k", [])
        assert.strictEqual(yield* convert(anyId()), "queued")
        assert.strictEqual(yield* store.requestFlyer({ ...flyer, id: anyId() }), "active")
      })
    )

    it.effect("a free reflow that is refused, or fails, may be chosen again", () =>
      Effect.gen(function* () {
        const { convert, owner, reflow, store } = yield* made
        yield* store.finishFlyer((yield* store.claimFlyer(anyId(), STALE))!, "k", [])
        const paid = anyId()
        assert.strictEqual(yield* convert(paid), "queued")
        assert.strictEqual(yield* reflow(anyId()), "active")
        assert.strictEqual(yield* store.cancel(paid), "cancelled")
        const first = anyId()
        assert.strictEqual(yield* reflow(first), "queued")
        assert.strictEqual(yield* reflow(anyId()), "resolved")
        yield* store.createJob(first, {
          status: "pending",
          options: (yield* store.nextQueued)!.options,
          chunkPages: 2
        })
        assert.isTrue(yield* store.failJob(first, "no"))
        assert.strictEqual(yield* reflow(anyId()), "queued")
        assert.deepStrictEqual(yield* funds(owner), { credits: 8, held: 0, charged: 2 })
      })
    )

    it.effect(
      "that is still made when the file is deleted: its funds are given back, its worker too late",
      () =>
        Effect.gen(function* () {
          const { fileId, owner, store } = yield* made
          const claim = yield* store.claimFlyer(anyId(), STALE)
          assert.strictEqual(yield* store.deleteFile(fileId, owner), "deleted")
          assert.strictEqual(yield* store.finishFlyer(claim!, "late", []), "stale")
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
        })
    )

    it.effect("that fails is made again; its last attempt ends it, free of charge", () =>
      Effect.gen(function* () {
        const { flyerId, owner, store } = yield* made
        const failed = (error: string) => ({ error, costs: [cost(flyerId, 1)], maxAttempts: 2 })
        const shown = Effect.map(store.flyer(flyerId, owner), (flyer) => [flyer?.status, flyer?.error])
        const first = (yield* store.claimFlyer(anyId(), STALE))!
        assert.strictEqual(yield* store.failFlyer({ ...first, lease: anyId() }, failed("theirs")), "stale")
        assert.strictEqual(yield* store.failFlyer(first, failed("no model")), "pending")
        assert.deepStrictEqual(yield* shown, ["pending", null])
        assert.strictEqual((yield* funds(owner)).held, 2)
        const second = (yield* store.claimFlyer(anyId(), STALE))!
        assert.deepStrictEqual([second.id, second.attempts], [flyerId, 2])
        assert.strictEqual(yield* store.failFlyer(first, failed("late")), "stale")
        // A worker that stops gives no reason, and its attempt does not count.
        assert.strictEqual(yield* store.failFlyer(second, { costs: [] }), "pending")
        const third = (yield* store.claimFlyer(anyId(), STALE))!
        assert.strictEqual(third.attempts, 2)
        assert.strictEqual(yield* store.failFlyer(third, failed("still none")), "failed")
        assert.deepStrictEqual(yield* shown, ["failed", "still none"])
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
        assert.strictEqual(yield* store.failFlyer(third, failed("again")), "stale")
        assert.isUndefined(yield* store.claimFlyer(anyId(), STALE))
        assert.strictEqual(yield* ledgerUsd, 5, "every attempt is booked")
      })
    )

    it.effect("that has ended is not failed by who made it, though nobody took it over", () =>
      Effect.gen(function* () {
        const { convert, flyerId, owner, store } = yield* made
        const claimed = (yield* store.claimFlyer(anyId(), STALE))!
        assert.strictEqual(yield* store.finishFlyer(claimed, "k", []), "completed")
        const failure = { error: "late", costs: [], maxAttempts: 1 }
        assert.strictEqual(yield* store.failFlyer(claimed, failure), "stale")
        assert.deepInclude(yield* store.flyer(flyerId, owner), { status: "completed", error: null })
        assert.strictEqual(yield* convert(anyId()), "queued")
      })
    )

    it.effect("that the user stopped gives its funds back", () =>
      Effect.gen(function* () {
        const { flyerId, owner, store } = yield* made
        assert.strictEqual((yield* funds(owner)).held, 2)
        assert.strictEqual(yield* store.cancelFlyer(flyerId, owner), "cancelled")
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
    )
  })
}
