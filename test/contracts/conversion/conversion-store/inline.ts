import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { CustomerId } from "../../../../src/domain/ids.ts"
import { type ClaimedInline, ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  addFile,
  ask,
  asked,
  begin,
  claimInline,
  clean,
  cost,
  customer,
  DocumentsWorld,
  fileOf,
  funds,
  ledgerUsd,
  STALE
} from "../documents-world.ts"

type Store = ConversionStore["Service"]

const LAST = { error: "no", costs: [], maxAttempts: 1 }

/** How an inline conversion ends. */
const ENDS = {
  completed: (store: Store, claimed: ClaimedInline) => store.finishInline(claimed, "k", []),
  failed: (store: Store, claimed: ClaimedInline) => store.failInline(claimed, LAST),
  deleted: (store: Store, { fileId }: ClaimedInline, owner: CustomerId) => store.deleteFile(fileId, owner)
} as const
const NAMES = ["completed", "failed", "deleted"] as const

/** A document whose conversion was asked for. */
const document = Effect.fnUntraced(function* (owner: CustomerId) {
  const id = yield* addFile(owner, 1, "docx")
  yield* ask(owner, id)
  return id
})

/** What every conversion store does with documents that are converted in one go. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`documents in one go: ${name}`, (it) => {
    it.effect.each(NAMES)("C2: one that was %s is claimed by nobody, not even by its own worker", (end) =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        yield* document(owner)
        const claimed = (yield* claimInline)!
        yield* ENDS[end](store, claimed, owner)
        assert.isUndefined(yield* store.claimInline(claimed.lease, STALE))
        assert.isUndefined(yield* store.claimInline(anyId(), Duration.zero))
        assert.isFalse(yield* store.heartbeatInline(claimed, STALE))
        assert.strictEqual(yield* store.failInline(claimed, LAST), "stale")
      })
    )

    it.effect("one that did not succeed says why once it has failed, and until then that it waits", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const id = yield* document(owner)
        const shown = Effect.map(fileOf(id, owner), ({ error, phase, status }) => [status, phase, error])
        yield* store.failInline((yield* claimInline)!, { ...LAST, maxAttempts: 2 })
        assert.deepStrictEqual(yield* shown, ["processing", "Queued", null])
        yield* store.failInline((yield* claimInline)!, { ...LAST, maxAttempts: 2 })
        assert.deepStrictEqual(yield* shown, ["failed", null, "no"])
      })
    )

    it.effect("H3: claimed again by its own worker, it goes on: its time began with the first claim", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        const greedy = yield* customer(100)
        yield* asked(greedy, 2)
        const first = (yield* claimInline)!
        yield* world.setFile(first.fileId, { claimedFor: Duration.minutes(5) })
        const [modest] = yield* asked(yield* customer(100), 1)
        assert.deepStrictEqual(yield* store.claimInline(first.lease, STALE), first)
        yield* store.finishInline(first, "k", [])
        assert.strictEqual((yield* claimInline)?.fileId, modest)
      })
    )

    it.effect("H3: one that is claimed while its owner's other one is claimed waits for that", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        yield* asked(owner, 2)
        const claim = Effect.suspend(() => store.claimInline(anyId(), STALE))
        assert.isUndefined(yield* world.whileOpen(claim, claim))
      })
    )

    it.effect("H3: two workers at once take documents of two owners, who were served before, too", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        const owners = [yield* customer(100), yield* customer(100)]
        for (const owner of owners) {
          yield* document(owner)
          yield* store.finishInline((yield* claimInline)!, anyId(), [])
        }
        for (const owner of owners) yield* asked(owner, 2)
        const taken: Array<ClaimedInline["fileId"]> = []
        const claim = Effect.map(
          Effect.suspend(() => store.claimInline(anyId(), STALE)),
          (one) => void taken.push(one?.fileId ?? anyId())
        )
        yield* world.whileOpen(claim, claim)
        const served = (yield* store.filesById(taken)).map(({ customerId }) => customerId)
        assert.sameMembers(served, owners)
      })
    )

    it.effect("H3: however many owners have a document under way, those of others are claimed", () =>
      Effect.gen(function* () {
        yield* clean
        for (let n = 0; n < 9; n++) yield* asked(yield* customer(100), 2)
        for (let n = 0; n < 9; n++) assert.isDefined(yield* claimInline, `owner ${n}`)
        assert.isUndefined(yield* claimInline)
      })
    )

    it.effect("H3: who has used up nothing is served by the document that waits longest", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const [one, other] = [yield* customer(100), yield* customer(100)]
        const hours = (count: number) => ({ unchangedFor: Duration.hours(count) })
        // What was converted long ago does not wait, nor what was deleted.
        const [done, gone, young] = [yield* document(one), yield* document(one), yield* document(one)]
        yield* world.setFile(done, { status: "completed", ...hours(9) })
        yield* (yield* ConversionStore).deleteFile(gone, one)
        yield* world.setFile(gone, hours(9))
        yield* world.setFile(young, hours(1))
        const [middle, old] = [yield* document(other), yield* document(other)]
        yield* world.setFile(middle, hours(2))
        yield* world.setFile(old, hours(3))
        assert.deepStrictEqual([(yield* claimInline)?.fileId, (yield* claimInline)?.fileId], [old, young])
      })
    )

    it.effect("X1: one that is deleted meanwhile is neither claimed nor completed nor paid for", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const waiting = yield* document(owner)
        const first = Effect.suspend(() => store.claimInline(anyId(), STALE))
        assert.isUndefined(yield* world.whileOpen(store.deleteFile(waiting, owner), first))
        const again = yield* document(owner)
        const held = (yield* claimInline)!
        const claim = store.claimInline(held.lease, STALE)
        assert.isUndefined(yield* world.whileOpen(store.deleteFile(again, owner), claim))
        const late = yield* document(owner)
        const claimed = (yield* claimInline)!
        const finish = store.finishInline(claimed, "k", [])
        assert.strictEqual(yield* world.whileOpen(store.deleteFile(late, owner), finish), "stale")
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
    )

    it.effect("K1: what it cost is booked with its end, whichever it is", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        yield* document(owner)
        const first = (yield* claimInline)!
        yield* store.finishInline(first, "k", [cost(first.jobId, 2)])
        const other = yield* document(owner)
        const second = (yield* claimInline)!
        yield* store.failInline(second, { ...LAST, costs: [cost(second.jobId, 3)] })
        assert.strictEqual(yield* ledgerUsd, 5)
        assert.strictEqual((yield* fileOf(other, owner)).status, "failed")
      })
    )
  })
