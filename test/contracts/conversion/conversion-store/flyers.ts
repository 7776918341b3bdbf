import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { FAILURES } from "../../../../src/domain/conversion/failures.ts"
import type { CustomerId, FileId } from "../../../../src/domain/ids.ts"
import { type ClaimedFlyer, ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  addFile,
  begin,
  cost,
  customer,
  type DocumentsWorld,
  funds,
  ledgerUsd,
  pdf,
  STALE,
  WINDOW
} from "../documents-world.ts"

type Store = ConversionStore["Service"]

/** Asks for the flyer of a file. */
const ask = (customerId: CustomerId, fileId: FileId, id = anyId()) =>
  ConversionStore.use((store) => store.requestFlyer({ id, fileId, customerId, window: WINDOW }))

/** A flyer of a new file that waits. */
const waiting = Effect.fnUntraced(function* (owner: CustomerId) {
  const id = anyId()
  const fileId = yield* pdf(owner, 2)
  assert.strictEqual(yield* ask(owner, fileId, id), "queued")
  return { id, fileId }
})

const LAST = { error: "no", costs: [], maxAttempts: 1 }

/** How a flyer that is being made ends. */
const ENDS = {
  completed: (store: Store, flyer: ClaimedFlyer) => store.finishFlyer(flyer, "k", []),
  failed: (store: Store, flyer: ClaimedFlyer) => store.failFlyer(flyer, LAST),
  stopped: (store: Store, flyer: ClaimedFlyer, owner: CustomerId) => store.cancelFlyer(flyer.id, owner)
} as const
const NAMES = ["completed", "failed", "stopped"] as const

/** What every conversion store does with layout-true results: who gets one, and in which state it may be stopped. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`flyers: ${name}`, (it) => {
    it.effect.each(NAMES)(
      "C2: one that has %s is claimed by nobody, neither by its own worker nor as a silent one",
      (end) =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(10)
          yield* waiting(owner)
          const claimed = (yield* store.claimFlyer(anyId(), STALE))!
          yield* ENDS[end](store, claimed, owner)
          assert.isUndefined(yield* store.claimFlyer(claimed.lease, STALE))
          assert.isUndefined(yield* store.claimFlyer(anyId(), Duration.zero))
        })
    )

    it.effect(
      "C2: a worker gets its own back first, then the oldest of silent ones, then one that waits",
      () =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(10)
          const [oldest, other] = [yield* waiting(owner), yield* waiting(owner)]
          const first = (yield* store.claimFlyer(anyId(), STALE))!
          const second = (yield* store.claimFlyer(anyId(), STALE))!
          yield* waiting(owner)
          assert.strictEqual((yield* store.claimFlyer(second.lease, Duration.zero))?.id, other.id)
          // Heard of last, it is the oldest all the same.
          assert.strictEqual((yield* store.claimFlyer(first.lease, Duration.zero))?.id, oldest.id)
          assert.strictEqual((yield* store.claimFlyer(anyId(), Duration.zero))?.id, oldest.id)
        })
    )

    it.effect("DOC-42: one that waits or is being made is stopped, once; one that has ended is not", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(20)
        const stop = ({ id }: Pick<ClaimedFlyer, "id">) => store.cancelFlyer(id, owner)
        const claimed = Effect.suspend(() => store.claimFlyer(anyId(), STALE))
        const later = yield* waiting(owner)
        assert.strictEqual(yield* store.cancelFlyer(later.id, yield* customer(1)), "not_found")
        assert.deepStrictEqual([yield* stop(later), yield* stop(later)], ["cancelled", "cancelled"])
        yield* waiting(owner)
        const made = (yield* claimed)!
        assert.strictEqual(yield* stop(made), "cancelled")
        // The sentence of an attempt that failed says nothing of how it ended.
        yield* waiting(owner)
        const tried = (yield* claimed)!
        yield* store.failFlyer(tried, { error: FAILURES.stopped, costs: [], maxAttempts: 2 })
        assert.strictEqual(yield* stop(tried), "cancelled")
        assert.strictEqual((yield* store.flyer(tried.id, owner))?.status, "failed")
        for (const end of ["completed", "failed"] as const) {
          yield* waiting(owner)
          const flyer = (yield* claimed)!
          yield* ENDS[end](store, flyer)
          assert.strictEqual(yield* stop(flyer), "not_active", end)
          assert.strictEqual((yield* store.flyer(flyer.id, owner))?.status, end)
        }
        assert.deepStrictEqual(yield* funds(owner), { credits: 18, held: 0, charged: 2 })
      })
    )

    it.effect("DOC-42: one that is stopped while it is completed, or claimed, is one or the other", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(20)
        const claim = Effect.suspend(() => store.claimFlyer(anyId(), STALE))
        const { id } = yield* waiting(owner)
        const made = (yield* claim)!
        const finish = store.finishFlyer(made, "k", [])
        assert.strictEqual(yield* world.whileOpen(finish, store.cancelFlyer(id, owner)), "not_active")
        assert.strictEqual((yield* store.flyer(id, owner))?.status, "completed")
        yield* waiting(owner)
        const other = (yield* claim)!
        const late = store.finishFlyer(other, "k", [])
        assert.strictEqual(yield* world.whileOpen(store.cancelFlyer(other.id, owner), late), "stale")
        const queued = yield* waiting(owner)
        assert.isUndefined(yield* world.whileOpen(store.cancelFlyer(queued.id, owner), claim))
        assert.strictEqual((yield* store.flyer(queued.id, owner))?.status, "failed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 18, held: 0, charged: 2 })
      })
    )

    it.effect("DOC-42: a file that is deleted stops one that waits, too", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const { fileId } = yield* waiting(owner)
        assert.strictEqual(yield* store.deleteFile(fileId, owner), "deleted")
        assert.isUndefined(yield* store.claimFlyer(anyId(), STALE))
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
    )

    it.effect("is asked for where nothing else is under way: no flyer, no conversion of either kind", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(20)
        const { fileId } = yield* waiting(owner)
        assert.strictEqual(yield* ask(owner, fileId), "active", "it waits")
        yield* store.claimFlyer(anyId(), STALE)
        assert.strictEqual(yield* ask(owner, fileId), "active", "it is being made")
        const busy = yield* pdf(owner, 2)
        for (const status of ["processing", "chunked_processing"] as const) {
          yield* world.setFile(busy, { status, jobId: anyId() })
          assert.strictEqual(yield* ask(owner, busy), "active", status)
        }
        yield* world.setFile(busy, { status: "completed" })
        assert.strictEqual(yield* ask(owner, busy), "queued")
        assert.strictEqual(yield* ask(owner, yield* addFile(owner, 1, "docx")), "unsupported")
      })
    )

    it.effect("DOC-32: there is no free reflow in place of one that is not made", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(20)
        const { id } = yield* waiting(owner)
        const reflow = store.requestReflow({
          flyerId: id,
          customerId: owner,
          jobId: anyId(),
          options: {},
          window: WINDOW
        })
        assert.strictEqual(yield* reflow, "resolved")
        const claimed = (yield* store.claimFlyer(anyId(), STALE))!
        assert.strictEqual(yield* reflow, "resolved")
        yield* store.failFlyer(claimed, LAST)
        assert.strictEqual(yield* reflow, "resolved")
      })
    )

    it.effect("K1: what it cost is booked with its end", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(20)
        const { id } = yield* waiting(owner)
        const claimed = (yield* store.claimFlyer(anyId(), STALE))!
        yield* store.finishFlyer(claimed, "k", [cost(id, 2)])
        assert.strictEqual(yield* ledgerUsd, 2)
      })
    )
  })
