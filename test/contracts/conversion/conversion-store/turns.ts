import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"
import * as fc from "fast-check"

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
  customer,
  DocumentsWorld,
  job,
  STALE,
  WINDOW
} from "../documents-world.ts"

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
        const first = yield* claimInline
        assert.strictEqual(first?.fileId, many[0])
        yield* fail(first!)
        assert.strictEqual((yield* claimInline)?.fileId, one)
        // The other owner's next one goes on beside it.
        assert.strictEqual((yield* claimInline)?.fileId, many[1])
      })
    )

    it.effect("H3: who used up time, in vain or not, goes behind who did not", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const [greedy, modest] = [yield* customer(100), yield* customer(100)]
        const long = yield* asked(greedy, 2)
        const first = yield* claimInline
        yield* DocumentsWorld.use((world) =>
          world.setFile(first!.fileId, { claimedFor: Duration.minutes(5) })
        )
        // Deleting what is under way gives nothing back.
        yield* store.deleteFile(first!.fileId, greedy)
        const short = yield* asked(modest, 3)
        for (const id of short) {
          const claimed = yield* claimInline
          assert.strictEqual(claimed?.fileId, id)
          yield* store.finishInline(claimed!, anyId(), [])
        }
        assert.strictEqual((yield* claimInline)?.fileId, long[1])
      })
    )

    it.effect("H3: one owner has one document under way; that of a worker that died is taken over", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const [first, second] = yield* asked(yield* customer(100), 2)
        assert.strictEqual((yield* claimInline)?.fileId, first)
        assert.isUndefined(yield* claimInline)
        yield* store.deleteFile(anyId(second), (yield* store.filesById([anyId(second)]))[0]!.customerId)
        const again = yield* store.claimInline(anyId(), Duration.zero)
        assert.deepStrictEqual([again?.fileId, again?.attempts], [first, 2])
      })
    )

    it.effect("C4: an owner's paused jobs, however many, do not hold up one that goes on", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(100)
        for (let n = 0; n < 12; n++)
          yield* DocumentsWorld.use(
            Effect.fnUntraced(function* (world) {
              yield* world.setJob(yield* job(owner, yield* addFile(owner, 1)), { status: "paused_budget" })
            })
          )
        const goesOn = yield* job(owner, yield* addFile(owner, 1))
        assert.strictEqual((yield* store.claimChunk("w", anyId()))?.jobId, goesOn)
      })
    )

    it.effect(
      "C4: behind an owner's paused jobs, those that go on are claimed by their age, chunk by chunk",
      () =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(100)
          const world = yield* DocumentsWorld
          for (let n = 0; n < 9; n++)
            yield* world.setJob(yield* job(owner, yield* addFile(owner, 1)), { status: "paused_budget" })
          const jobs = yield* Effect.forEach([2, 2, 4, 2], (pages) =>
            Effect.flatMap(addFile(owner, pages), (id) => job(owner, id))
          )
          const claim = Effect.suspend(() => store.claimChunk("w", anyId()))
          const claims = [yield* claim]
          // It is tried again later.
          const waits = (yield* claim)!
          yield* store.handBackChunk(waits, [], Duration.hours(1))
          claims.push(waits, yield* claim, yield* claim, yield* claim, yield* claim)
          const [first, second, third, fourth] = jobs
          assert.deepStrictEqual(
            claims.map((chunk) => chunk?.jobId),
            [first, second, third, third, fourth, undefined]
          )
        })
    )

    it.effect(
      "DOC-12: of two workers at once, one takes the one piece that an owner may have in progress",
      () =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(100)
          const world = yield* DocumentsWorld
          yield* job(owner, yield* addFile(owner, 4))
          const chunk = Effect.suspend(() => store.claimChunk("w", anyId(), 1))
          assert.isUndefined(yield* world.whileOpen(chunk, chunk))
        })
    )

    it.effect(
      "DOC-12: owners take turns for jobs, chunks and layout-true results, each in its own order",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* ConversionStore
          const owners = yield* Effect.all([customer(1_000), customer(1_000), customer(1_000)])
          const [many, few, one] = owners.toSorted()
          const ids = new Map<string, string>()
          for (const [owner, files] of [
            [many!, 4],
            [few!, 2],
            [one!, 1]
          ] as const)
            for (let n = 0; n < files; n++) {
              const id = yield* addFile(owner, 30)
              ids.set(id, `${owners.toSorted().indexOf(owner)}${n}`)
              yield* ask(owner, id)
            }
          const made: Array<string | undefined> = []
          for (let queued = yield* store.nextQueued; queued !== undefined; queued = yield* store.nextQueued) {
            made.push(ids.get(queued.fileId))
            yield* store.createJob(queued.jobId, { status: "pending", options: {}, chunkPages: 20 })
          }
          const turn = (order: ReadonlyArray<string | undefined>, last: string | undefined) => {
            const start = order.indexOf(last)
            return [...order.slice(start + 1), ...order.slice(0, start + 1)]
          }
          // An earlier test left one of its owners as the last: the order is cyclic.
          const firsts = made.slice(0, 3)
          assert.deepStrictEqual(firsts, turn(["00", "10", "20"], firsts[2]))
          assert.sameMembers(made.slice(3, 5), ["01", "11"])
          assert.deepStrictEqual(made.slice(5), ["02", "03"])
          const claimed: Array<string> = []
          for (let n = 0; n < 14; n++) {
            const chunk = yield* store.claimChunk("w", anyId())
            claimed.push(`${ids.get(chunk!.fileId)}/${chunk!.chunkIndex}`)
          }
          assert.isUndefined(yield* store.claimChunk("w", anyId()))
          for (const owner of ["0", "1", "2"]) {
            const mine = claimed.filter((chunk) => chunk.startsWith(owner))
            assert.deepStrictEqual(mine, mine.toSorted(), "oldest job first, chunk by chunk")
          }
          assert.sameMembers(claimed.slice(0, 3), ["00/0", "10/0", "20/0"])
          assert.sameMembers(claimed.slice(3, 6), ["00/1", "10/1", "20/1"])
          assert.sameMembers(claimed.slice(6, 8), ["01/0", "11/0"])
        })
    )

    it.effect(
      "a chunk with batch results goes to workers that can read these alone, however many there are",
      () =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(1_000)
          for (let n = 0; n < 12; n++) yield* job(owner, yield* addFile(owner, 1), { _batchPrimed: true })
          const plain = yield* job(owner, yield* addFile(owner, 1))
          assert.strictEqual((yield* store.claimChunk("w", anyId(), undefined, false))?.jobId, plain)
          assert.isUndefined(yield* store.claimChunk("w", anyId(), undefined, false))
          assert.isTrue((yield* store.claimChunk("w", anyId()))?.options._batchPrimed)
        })
    )

    it.effect("a chunk that is handed back waits as long as was said, and its attempt does not count", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(1_000)
        yield* job(owner, yield* addFile(owner, 1))
        const first = (yield* store.claimChunk("w", anyId()))!
        assert.isTrue(yield* store.handBackChunk(first, []))
        const again = (yield* store.claimChunk("w", anyId()))!
        assert.deepStrictEqual([again.id, again.attempts], [first.id, 1])
        assert.isTrue(yield* store.handBackChunk(again, [], Duration.hours(1)))
        assert.isUndefined(yield* store.claimChunk("w", anyId()))
      })
    )

    it.effect("DOC-12: an owner has as many pieces in progress as the setting says, and no more", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const [greedy, other] = [yield* customer(1_000), yield* customer(1_000)]
        for (const [owner, files] of [
          [greedy, 3],
          [other, 1]
        ] as const)
          for (let n = 0; n < files; n++) {
            yield* job(owner, yield* addFile(owner, 1))
          }
        const take = store.claimChunk("w", anyId(), 1)
        const claims = yield* Effect.forEach([1, 2, 3], () =>
          Effect.suspend(() => store.claimChunk("w", anyId(), 1))
        )
        const [first, second, third] = claims
        assert.isDefined(first)
        assert.isDefined(second)
        assert.notStrictEqual(first.jobId, second.jobId)
        assert.isUndefined(third, "both owners have one in progress")
        assert.isDefined(yield* store.claimChunk("w", anyId(), 2), "the owner of three has room for a second")
        yield* store.completeChunk(first, "k", [])
        yield* store.completeChunk(second, "k", [])
        assert.isUndefined(yield* take)
        const pdfs = [yield* addFile(greedy, 1), yield* addFile(greedy, 1)]
        for (const fileId of pdfs)
          yield* store.requestFlyer({
            id: anyId(),
            fileId: anyId(fileId),
            customerId: greedy,
            window: WINDOW
          })
        assert.isDefined(yield* store.claimFlyer(anyId(), STALE, 1))
        assert.isUndefined(yield* store.claimFlyer(anyId(), STALE, 1))
        assert.isDefined(yield* store.claimFlyer(anyId(), STALE, 2))
      })
    )

    it.effect("DOC-12: whatever waits, an owner's page waits for at most one piece of each other owner", () =>
      Effect.gen(function* () {
        const store = yield* ConversionStore
        const waits = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 })
        const context = yield* Effect.context<ConversionStore | DocumentsWorld>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(waits, fc.nat({ max: 8 }), (others, before) =>
              Effect.runPromiseWith(context)(
                Effect.gen(function* () {
                  yield* clean
                  const request = (owner: CustomerId) =>
                    Effect.flatMap(addFile(owner, 1), (id) => job(owner, id))
                  for (const files of others) {
                    const owner = yield* customer(100)
                    for (let n = 0; n < files; n++) yield* request(owner)
                  }
                  for (let n = 0; n < before; n++) yield* store.claimChunk("w", anyId())
                  const page = yield* request(yield* customer(100))
                  let claims = 0
                  while ((yield* store.claimChunk("w", anyId()))?.jobId !== page) claims += 1
                  assert.isAtMost(claims, others.length)
                })
              )
            ),
            { numRuns: 8 }
          )
        )
      })
    )
  })
