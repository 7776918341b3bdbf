import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { CustomerId } from "../../../src/domain/ids.ts"
import { type ClaimedInline, ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../support/any-id.ts"
import { addFile, ask, clean, customer, DocumentsWorld, STALE } from "./documents-world.ts"

/** Word documents of an owner whose conversion was asked for, in this order. */
const asked = Effect.fnUntraced(function* (owner: CustomerId, count: number) {
  const ids: Array<string> = []
  for (let n = 0; n < count; n++) {
    const id = yield* addFile(owner, 1, "docx")
    yield* ask(owner, id)
    ids.push(id)
  }
  return ids
})

const claim = Effect.flatMap(ConversionStore, (store) => store.claimInline(anyId(), STALE))

/** Ends a conversion without a result, for good. */
const fail = (claimed: ClaimedInline) =>
  Effect.flatMap(ConversionStore, (store) =>
    store.failInline(claimed, { error: "broken", costs: [], maxAttempts: 1 })
  )

/** In which order every conversion store gives out what is converted inline. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`turns between owners: ${name}`, (it) => {
    it.effect("H3: a document waits for one of another owner, not for all that came before it", () =>
      Effect.gen(function* () {
        yield* clean
        const many = yield* asked(yield* customer(100), 5)
        const [one] = yield* asked(yield* customer(100), 1)
        const first = yield* claim
        assert.strictEqual(first?.fileId, many[0])
        yield* fail(first!)
        assert.strictEqual((yield* claim)?.fileId, one)
        // The other owner's next one goes on beside it.
        assert.strictEqual((yield* claim)?.fileId, many[1])
      })
    )

    it.effect("H3: who used up time, in vain or not, goes behind who did not", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const [greedy, modest] = [yield* customer(100), yield* customer(100)]
        const long = yield* asked(greedy, 2)
        const first = yield* claim
        yield* DocumentsWorld.use((world) =>
          world.setFile(first!.fileId, { claimedFor: Duration.minutes(5) })
        )
        // Deleting what is under way gives nothing back.
        yield* store.deleteFile(first!.fileId, greedy)
        const short = yield* asked(modest, 3)
        for (const id of short) {
          const claimed = yield* claim
          assert.strictEqual(claimed?.fileId, id)
          yield* store.finishInline(claimed!, anyId(), [])
        }
        assert.strictEqual((yield* claim)?.fileId, long[1])
      })
    )

    it.effect("H3: one owner has one document under way; that of a worker that died is taken over", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const [first, second] = yield* asked(yield* customer(100), 2)
        assert.strictEqual((yield* claim)?.fileId, first)
        assert.isUndefined(yield* claim)
        yield* store.deleteFile(anyId(second), (yield* store.filesById([anyId(second)]))[0]!.customerId)
        const again = yield* store.claimInline(anyId(), Duration.zero)
        assert.deepStrictEqual([again?.fileId, again?.attempts], [first, 2])
      })
    )
  })
