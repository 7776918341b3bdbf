/**
 * The funds behind the stores: a hold is settled or released once, for no more than was set aside, and a balance never goes
 * below zero.
 *
 * Adapters: memory, postgres. Rules: F1, F2, DOC-31.
 */
import { randomUUID } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Context, Effect, type Layer } from "effect"

import { anyId } from "../../support/any-id.ts"
import { clean, customer, DocumentsWorld } from "../conversion/documents-world.ts"

/** The funds behind the stores: what their functions answer. */
export class FundsWorld extends Context.Service<
  FundsWorld,
  {
    /** Sets pages aside for 90 minutes. */
    readonly place: (customerId: string, jobId: string, pages: number) => Effect.Effect<boolean, unknown>
    readonly settle: (jobId: string, pages?: number) => Effect.Effect<string>
    readonly release: (jobId: string) => Effect.Effect<boolean>
    readonly refresh: (jobId: string) => Effect.Effect<boolean>
    readonly widen: (jobId: string, pages: number) => Effect.Effect<boolean>
    /** Credits left, free pages used, open holds, credits charged, free pages charged. */
    readonly stateOf: (customerId: string) => Effect.Effect<ReadonlyArray<number>>
  }
>()("postlane/test/FundsWorld") {}

const expire = (jobId: string) => DocumentsWorld.use((world) => world.lapsesIn(anyId(jobId), -1))

/** What every store of funds does with holds and charges. */
export const suite = (name: string, stores: Layer.Layer<DocumentsWorld | FundsWorld>) =>
  suiteLayer(stores)(`funds: ${name}`, (it) => {
    it.effect("F1 F2: a hold is closed once, whichever way, and charged at most once", () =>
      Effect.gen(function* () {
        yield* clean
        const { place, refresh, release, settle, stateOf } = yield* FundsWorld
        const owner = yield* customer(10)
        const [settled, released] = [randomUUID(), randomUUID()]
        assert.isTrue(yield* place(owner, settled, 4))
        assert.isTrue(yield* place(owner, settled, 4), "the same call again")
        assert.strictEqual(yield* settle(settled), "settled")
        assert.strictEqual(yield* settle(settled), "settled")
        assert.isFalse(yield* release(settled))
        assert.isFalse(yield* refresh(settled))
        assert.deepStrictEqual(yield* stateOf(owner), [6, 0, 0, 4, 0])
        assert.isTrue(yield* place(owner, released, 6))
        assert.isTrue(yield* release(released))
        assert.isFalse(yield* release(released))
        assert.strictEqual(yield* settle(released), "released")
        assert.isFalse(yield* place(owner, released, 6), "its work has ended")
        assert.strictEqual(yield* settle(randomUUID()), "none")
        assert.deepStrictEqual(yield* stateOf(owner), [6, 0, 0, 4, 0])
      })
    )

    it.effect("F1: a settlement may be for less than was held, never for more", () =>
      Effect.gen(function* () {
        yield* clean
        const { place, settle, stateOf } = yield* FundsWorld
        const owner = yield* customer(10)
        for (const [pages, left] of [
          [2, 8],
          [9, 4],
          [0, 4]
        ] as const) {
          const job = randomUUID()
          yield* place(owner, job, 4)
          assert.strictEqual(yield* settle(job, pages), "settled")
          assert.strictEqual((yield* stateOf(owner))[0], left)
        }
      })
    )

    it.effect(
      "F1: a lapsed hold sets nothing aside; it is settled or refreshed only while there is enough",
      () =>
        Effect.gen(function* () {
          yield* clean
          const { place, refresh, settle, stateOf } = yield* FundsWorld
          const owner = yield* customer(10)
          const [lapsed, other] = [randomUUID(), randomUUID()]
          yield* place(owner, lapsed, 6)
          assert.isFalse(yield* place(owner, other, 6))
          yield* expire(lapsed)
          assert.isTrue(yield* refresh(lapsed))
          assert.isFalse(yield* place(owner, other, 6))
          yield* expire(lapsed)
          assert.isTrue(yield* place(owner, other, 6))
          assert.isFalse(yield* refresh(lapsed))
          assert.strictEqual(yield* settle(lapsed), "insufficient")
          assert.strictEqual(yield* settle(lapsed, 4), "settled")
          assert.strictEqual(yield* settle(other), "settled")
          assert.deepStrictEqual(yield* stateOf(owner), [0, 0, 0, 10, 0])
        })
    )

    it.effect("F1: a free customer has ten pages in a lifetime", () =>
      Effect.gen(function* () {
        yield* clean
        const { place, settle, stateOf } = yield* FundsWorld
        const owner = yield* customer("free")
        assert.isFalse(yield* place(owner, randomUUID(), 11))
        const [first, second] = [randomUUID(), randomUUID()]
        assert.isTrue(yield* place(owner, first, 3))
        assert.isTrue(yield* place(owner, second, 7))
        assert.isFalse(yield* place(owner, randomUUID(), 1))
        assert.strictEqual(yield* settle(first), "settled")
        assert.strictEqual(yield* settle(second), "settled")
        assert.deepStrictEqual(yield* stateOf(owner), [0, 10, 0, 0, 10])
        assert.isFalse(yield* place(owner, randomUUID(), 1))
      })
    )

    it.effect("F1: a balance below what is set aside is insufficient, whatever the hold says", () =>
      Effect.gen(function* () {
        yield* clean
        const { place, settle, stateOf } = yield* FundsWorld
        const owner = yield* customer(10)
        const [large, small] = [randomUUID(), randomUUID()]
        yield* place(owner, large, 6)
        yield* place(owner, small, 4)
        yield* (yield* DocumentsWorld).setCredits(owner, 5)
        assert.strictEqual(yield* settle(large), "insufficient")
        assert.strictEqual(yield* settle(small), "settled")
        assert.deepStrictEqual(yield* stateOf(owner), [1, 0, 1, 4, 0])
      })
    )

    it.effect("F1: a hold follows the plan: free pages held become credits where they must", () =>
      Effect.gen(function* () {
        yield* clean
        const { place, refresh, settle, stateOf, widen } = yield* FundsWorld
        const world = yield* DocumentsWorld
        const owner = yield* customer("free")
        const [widened, lapsed, kept, spent] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
        for (const [job, pages] of [
          [widened, 3],
          [lapsed, 3],
          [kept, 2],
          [spent, 2]
        ] as const)
          assert.isTrue(yield* place(owner, job, pages))
        yield* world.setPlan(owner, "paid")
        yield* world.setCredits(owner, 25)
        assert.isTrue(yield* widen(widened, 20), "more than a lifetime's free pages")
        assert.strictEqual(yield* settle(widened, 20), "settled")
        assert.deepStrictEqual(yield* stateOf(owner), [5, 0, 3, 20, 0])
        yield* expire(lapsed)
        assert.isTrue(yield* refresh(lapsed))
        assert.strictEqual(yield* settle(lapsed), "settled")
        assert.deepStrictEqual(yield* stateOf(owner), [2, 0, 2, 23, 0])
        assert.strictEqual(yield* settle(kept), "settled", "what was promised free of charge")
        assert.deepStrictEqual(yield* stateOf(owner), [2, 2, 1, 23, 2])
        yield* world.setCredits(owner, 0)
        yield* expire(spent)
        assert.strictEqual(yield* settle(spent), "settled", "the free pages are still there")
        assert.deepStrictEqual(yield* stateOf(owner), [0, 4, 0, 23, 4])
      })
    )

    it.effect("hostile amounts and strangers change nothing", () =>
      Effect.gen(function* () {
        yield* clean
        const { place, stateOf } = yield* FundsWorld
        const owner = yield* customer(10)
        for (const amount of [-1, -2_147_483_648])
          assert.isDefined(yield* Effect.flip(place(owner, randomUUID(), amount)))
        assert.isFalse(yield* place(owner, randomUUID(), 2_147_483_647))
        assert.isFalse(yield* place(randomUUID(), randomUUID(), 1))
        assert.deepStrictEqual(yield* stateOf(owner), [10, 0, 0, 0, 0])
      })
    )
  })
