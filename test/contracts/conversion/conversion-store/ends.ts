import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import type { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  addFile,
  ask,
  begin,
  claimInline,
  completeAll,
  cost,
  customer,
  DocumentsWorld,
  fileOf,
  funds,
  job,
  pdf,
  WINDOW
} from "../documents-world.ts"

/** Ends without a result: a cancelled job, a deleted file, a closed account. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`conversions: ${name}`, (it) => {
    it.effect(
      "cancel: from each status but assembling, queued included; nothing is charged, nothing comes after",
      () =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(10)
          const fileId = yield* pdf(owner, 4)
          const queued = anyId()
          yield* store.request({ jobId: queued, fileId, customerId: owner, options: {}, window: WINDOW })
          assert.strictEqual(yield* store.cancel(queued), "cancelled")
          assert.isFalse(yield* store.createJob(queued, { status: "pending", options: {}, chunkPages: 2 }))
          assert.strictEqual((yield* fileOf(fileId, owner)).status, "uploaded")
          const jobId = yield* job(owner, fileId)
          const chunk = yield* store.claimChunk("w", anyId())
          assert.strictEqual(yield* store.cancel(jobId), "cancelled")
          assert.strictEqual(yield* store.cancel(jobId), "cancelled")
          assert.strictEqual(yield* store.cancel(anyId()), "not_active")
          assert.isFalse(yield* store.heartbeatChunk(chunk!, 1, WINDOW))
          assert.strictEqual(yield* store.completeChunk(chunk!, "r", [cost(jobId, 0.25)]), "stale")
          assert.isUndefined(yield* store.claimChunk("w", anyId()))
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
          const world = yield* DocumentsWorld
          const file = yield* fileOf(fileId, owner)
          assert.deepStrictEqual([file.status, file.jobStatus, file.phase], ["uploaded", "cancelled", null])
          assert.strictEqual((yield* world.job(jobId)).totalCostUsd, 0.25)
          yield* job(owner, fileId)
          yield* completeAll
          const finishing = (yield* fileOf(fileId, owner)).jobId!
          assert.strictEqual(yield* store.cancel(finishing), "finishing")
          assert.strictEqual(yield* store.deleteFile(fileId, owner), "finishing")
        })
    )

    it.effect("deleting a file cancels its conversion, and its id is nobody's any more", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const fileId = yield* pdf(owner, 4)
        const jobId = yield* job(owner, fileId)
        assert.strictEqual(yield* store.deleteFile(fileId, yield* customer(1)), "not_found")
        assert.strictEqual(yield* store.deleteFile(fileId, owner), "deleted")
        assert.strictEqual(yield* store.deleteFile(fileId, owner), "not_found")
        assert.isUndefined(yield* store.file(fileId, owner))
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
        const world = yield* DocumentsWorld
        assert.strictEqual((yield* world.job(jobId)).status, "cancelled")
        assert.deepStrictEqual(yield* store.filesToPurge(10), [{ id: fileId, jobIds: [jobId] }])
        yield* store.filePurged(fileId)
        assert.deepStrictEqual(yield* store.filesToPurge(10), [])
      })
    )

    it.effect("deleting a picture that waits for its conversion, or is at it, gives its funds back", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        for (const isClaimed of [false, true]) {
          const picture = yield* addFile(owner, 1, "png")
          yield* ask(owner, picture)
          assert.strictEqual((yield* funds(owner)).held, 1)
          const claimed = isClaimed ? yield* claimInline : undefined
          assert.strictEqual(yield* store.deleteFile(picture, owner), "deleted")
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
          if (claimed !== undefined) assert.isFalse(yield* store.heartbeatInline(claimed, WINDOW))
        }
      })
    )

    it.effect("the files of a closed account are deleted, its conversions cancelled", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 4))
        yield* pdf(owner, 1)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 0)
        yield* world.closeAccount(owner)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 1)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 1)
        assert.strictEqual(yield* store.deleteFileOfClosedAccount, 0)
        assert.deepStrictEqual((yield* store.files(owner, { limit: 10, cursor: undefined })).files, [])
        assert.strictEqual((yield* world.job(jobId)).status, "cancelled")
      })
    )
  })
