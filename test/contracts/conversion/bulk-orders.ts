/**
 * `BulkOrders`: an order is taken whole or refused whole, and its one message is claimed until it is confirmed.
 *
 * Adapters: memory, postgres. Rules: DOC-51.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { CustomerId, FileId } from "../../../src/domain/ids.ts"
import { BulkOrders } from "../../../src/ports/conversion/bulk-orders.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../support/any-id.ts"
import {
  addFile,
  ask,
  clean,
  customer,
  DocumentsWorld,
  fileOf,
  funds,
  pass,
  pdf,
  STALE,
  WINDOW
} from "./documents-world.ts"

const CLAIM = { lease: Duration.minutes(5), maxAttempts: 4 }

const claimMessage = BulkOrders.use((orders) => orders.claimMessage(CLAIM))

/** Orders the conversion of these files. */
const order = Effect.fnUntraced(function* (
  customerId: CustomerId,
  fileIds: ReadonlyArray<FileId>,
  bulkId: string = anyId()
) {
  const orders = yield* BulkOrders
  const items = fileIds.map((fileId) => ({ jobId: anyId(), fileId, options: {} }))
  const answer = yield* orders.request({ bulkId, customerId, items, window: WINDOW })
  return { answer, bulkId, jobIds: items.map(({ jobId }) => jobId) }
})

/** An order of one file whose conversion was cancelled: its message is due. Nothing else is there. */
const cancelledOrder = Effect.gen(function* () {
  yield* clean
  const store = yield* ConversionStore
  const owner = yield* customer(10)
  const { bulkId, jobIds } = yield* order(owner, [yield* pdf(owner, 2)])
  yield* store.cancel(jobIds[0]!)
  return bulkId
})

/** What every store of bulk orders does. */
export const suite = (name: string, stores: Layer.Layer<BulkOrders | ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`bulk orders: ${name}`, (it) => {
    it.effect("an order is taken whole, once, its items in their order", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const files = [yield* pdf(owner, 2), yield* pdf(owner, 3)]
        const { answer, bulkId, jobIds } = yield* order(owner, files)
        assert.deepStrictEqual(answer, { answer: "queued" })
        assert.deepStrictEqual((yield* order(owner, files, bulkId)).answer, { answer: "queued" })
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 5, charged: 0 })
        const queued = yield* store.nextQueued
        assert.deepStrictEqual([queued?.jobId, queued?.fileId], [jobIds[0], files[0]])
        assert.isUndefined(yield* claimMessage, "it is under way")
      })
    )

    it.effect("an order says how many of its items are in which state, to its owner alone", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(20)
        const files = [yield* pdf(owner, 2), yield* pdf(owner, 2), yield* addFile(owner, 1, "docx")]
        const { bulkId, jobIds } = yield* order(owner, files)
        const counts = Effect.map(store.bulk(bulkId, owner), (found) => found?.counts)
        const none = { waiting: 0, processing: 0, completed: 0, failed: 0, cancelled: 0 }
        assert.deepStrictEqual(yield* counts, { ...none, waiting: 3 })
        yield* store.cancel(jobIds[0]!)
        const inline = yield* store.claimInline(anyId(), STALE)
        assert.deepStrictEqual(yield* counts, { ...none, waiting: 1, processing: 1, cancelled: 1 })
        yield* store.finishInline(inline!, "result", [])
        yield* store.deleteFile(files[1]!, owner)
        assert.deepStrictEqual(yield* counts, { ...none, completed: 1, cancelled: 2 })
        assert.isUndefined(yield* store.bulk(bulkId, yield* customer(1)))
        assert.isUndefined(yield* store.bulk(anyId(), owner))
        const page = yield* store.files(owner, { limit: 10, cursor: undefined, bulkId })
        assert.sameMembers(
          page.files.map(({ id }) => id),
          [files[0]!, files[2]!]
        )
      })
    )

    it.effect("an order is refused whole for one file: unknown, active, or too much for the credits", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(5)
        const files = [yield* pdf(owner, 2), yield* pdf(owner, 2), yield* pdf(owner, 2)] as const
        const theirs = yield* pdf(yield* customer(5), 1)
        const refused = (ids: ReadonlyArray<FileId>) => Effect.map(order(owner, ids), ({ answer }) => answer)
        assert.deepStrictEqual(yield* refused([files[0], theirs]), { answer: "not_found", fileId: theirs })
        assert.deepStrictEqual(yield* refused(files), { answer: "insufficient", fileId: files[2] })
        yield* ask(owner, files[1])
        assert.deepStrictEqual(yield* refused([files[0], files[1]]), { answer: "active", fileId: files[1] })
        assert.deepStrictEqual(yield* funds(owner), { credits: 5, held: 2, charged: 0 })
        const { jobId, phase, status } = yield* fileOf(files[0], owner)
        assert.deepStrictEqual([status, phase, jobId], ["uploaded", null, null])
        assert.strictEqual((yield* store.nextQueued)?.fileId, files[1])
        assert.isUndefined(yield* claimMessage)
      })
    )

    it.effect("the message says how each item ended, when the last has", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(20)
        const files = [
          yield* pdf(owner, 2),
          yield* pdf(owner, 2),
          yield* pdf(owner, 2),
          yield* addFile(owner, 1, "png"),
          yield* addFile(owner, 1, "docx")
        ]
        const { bulkId, jobIds } = yield* order(owner, files)
        for (const jobId of jobIds.slice(0, 3))
          yield* store.createJob(jobId, { status: "pending", options: {}, chunkPages: 2 })
        yield* store.cancel(jobIds[0]!)
        yield* store.failJob(jobIds[1]!, "x")
        const chunk = yield* store.claimChunk("w", anyId())
        yield* store.completeChunk(chunk!, "r", [])
        yield* store.finishJob((yield* store.claimAssembly(anyId(), STALE))!, "result", undefined, [2])
        const first = (yield* store.claimInline(anyId(), STALE))!
        yield* store.finishInline(first, "result", [])
        assert.isUndefined(yield* claimMessage)
        const second = (yield* store.claimInline(anyId(), STALE))!
        yield* store.failInline(second, { error: "x", costs: [], maxAttempts: 1 })
        const message = yield* claimMessage
        assert.deepInclude(message, { bulkId, email: `${owner}@x.test`, attempts: 1 })
        assert.deepStrictEqual(
          message?.items.map(({ deleted, fileId, fileName, outcome }) => [
            fileId,
            fileName,
            deleted,
            outcome
          ]),
          [
            [files[0], "a.pdf", false, "cancelled"],
            [files[1], "a.pdf", false, "failed"],
            [files[2], "a.pdf", false, "completed"],
            [files[3], "a.png", false, "completed"],
            [files[4], "a.docx", false, "failed"]
          ]
        )
        assert.deepStrictEqual(
          message?.items.map(({ noModelPages }) => noModelPages),
          [0, 0, 1, 0, 0]
        )
      })
    )

    it.effect(
      "a message is claimed by one sender at a time, later each time, with the same end, until confirmed",
      () =>
        Effect.gen(function* () {
          const bulkId = yield* cancelledOrder
          const orders = yield* BulkOrders
          const first = yield* claimMessage
          assert.strictEqual(first?.attempts, 1)
          assert.isUndefined(yield* claimMessage)
          yield* pass(Duration.minutes(6))
          const second = yield* claimMessage
          assert.strictEqual(second?.attempts, 2)
          yield* pass(Duration.minutes(6))
          assert.isUndefined(yield* claimMessage, "twice as long")
          yield* pass(Duration.minutes(5))
          assert.strictEqual((yield* claimMessage)?.attempts, 3)
          yield* pass(Duration.minutes(21))
          assert.strictEqual((yield* claimMessage)?.attempts, 4)
          yield* pass(Duration.minutes(41))
          assert.isUndefined(yield* claimMessage, "it was tried often enough")
          assert.isTrue(yield* orders.confirmMessage(bulkId))
          assert.isFalse(yield* orders.confirmMessage(bulkId))
          assert.isFalse(yield* orders.confirmMessage(anyId()))
        })
    )

    it.effect("a confirmed message is never claimed again; a later claim has the same end of the order", () =>
      Effect.gen(function* () {
        const bulkId = yield* cancelledOrder
        const orders = yield* BulkOrders
        const first = yield* claimMessage
        yield* pass(Duration.minutes(6))
        const second = yield* claimMessage
        // PostgreSQL's rows were set back by as much as time has passed.
        const moved = (first?.endedAt.getTime() ?? 0) - (second?.endedAt.getTime() ?? 0)
        assert.oneOf(moved, [0, Duration.toMillis(Duration.minutes(6))])
        yield* orders.confirmMessage(bulkId)
        yield* pass(Duration.hours(1))
        assert.isUndefined(yield* claimMessage)
      })
    )

    it.effect("a closed account has no address; a deleted file has no name", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const fileId = yield* pdf(owner, 2)
        yield* order(owner, [fileId])
        yield* store.deleteFile(fileId, owner)
        yield* world.closeAccount(owner)
        const message = yield* claimMessage
        assert.isUndefined(message?.email)
        assert.deepStrictEqual(message?.items, [
          { fileId, fileName: "", deleted: true, noModelPages: 0, outcome: "cancelled" }
        ])
      })
    )
  })
