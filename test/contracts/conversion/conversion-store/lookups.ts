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
  customer,
  type DocumentsWorld,
  fileOf,
  job,
  pdf,
  STALE
} from "../documents-world.ts"

/** Conversions and files, looked up by their owner. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`look-ups: ${name}`, (it) => {
    it.effect("DOC-45: a job is known from its request to its end, and cancelled stays cancelled", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(100)
        const fileId = yield* pdf(owner, 5)
        const first = anyId()
        yield* ask(owner, fileId, first)
        const queued = yield* store.job(first, owner)
        assert.deepStrictEqual(queued, {
          id: first,
          fileId,
          bulkId: null,
          status: "pending",
          error: null,
          endedAt: null
        })
        yield* store.cancel(first)
        assert.strictEqual((yield* store.job(first, owner))?.status, "cancelled")

        const second = yield* job(owner, fileId)
        yield* store.claimChunk("w", anyId())
        assert.strictEqual((yield* store.job(second, owner))?.status, "processing")
        yield* store.failJob(second, "broken")
        const failed = yield* store.job(second, owner)
        assert.deepStrictEqual([failed?.status, failed?.error], ["failed", "broken"])
        assert.strictEqual(failed?.endedAt, (yield* fileOf(fileId, owner)).jobEndedAt)
        assert.isString(failed?.endedAt)

        const third = yield* job(owner, fileId)
        assert.isNull((yield* fileOf(fileId, owner)).jobEndedAt)
        yield* completeAll
        const lease = anyId()
        yield* store.claimAssembly(lease, STALE)
        yield* store.finishJob({ jobId: third, lease }, "result")
        assert.strictEqual((yield* store.job(third, owner))?.status, "completed")
        // The earlier ones ended as they did.
        assert.strictEqual((yield* store.job(second, owner))?.status, "failed")
      })
    )

    it.effect("DOC-45: what is converted in one go is known without a job row", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(100)
        const fileId = yield* addFile(owner, 1, "docx")
        const jobId = anyId()
        yield* ask(owner, fileId, jobId)
        assert.strictEqual((yield* store.job(jobId, owner))?.status, "processing")
        const inline = yield* claimInline
        yield* store.finishInline(inline!, "result", [])
        const ended = yield* store.job(jobId, owner)
        assert.deepStrictEqual([ended?.status, ended?.fileId], ["completed", fileId])
        assert.isString(ended?.endedAt)
      })
    )

    it.effect("DOC-45: a job is its owner's, and gone with its file", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(100)
        const fileId = yield* pdf(owner, 5)
        const jobId = yield* job(owner, fileId)
        assert.isUndefined(yield* store.job(jobId, yield* customer(1)))
        assert.isUndefined(yield* store.job(anyId(), owner))
        yield* store.deleteFile(fileId, owner)
        assert.isUndefined(yield* store.job(jobId, owner))
      })
    )

    it.effect(
      "DOC-45: a list is restricted by status, day and a part of the name, whatever signs are in it",
      () =>
        Effect.gen(function* () {
          const { owner, store } = yield* begin(100)
          const names = ["Rivers 100%.pdf", "rivers_2.pdf", "Lakes.pdf"]
          const ids = []
          for (const one of names) {
            const id = anyId()
            const file = {
              id,
              customerId: owner,
              name: one,
              kind: "pdf",
              sizeBytes: 1,
              pages: 1,
              objectKey: "k"
            } as const
            ids.push((yield* store.addFile(file)).id)
          }
          yield* job(owner, ids[2]!)
          const list = (filter: object) =>
            Effect.map(store.files(owner, { limit: 10, cursor: undefined, ...filter }), ({ files }) =>
              files.map((file) => file.name).sort()
            )
          assert.deepStrictEqual(yield* list({ name: "RIVERS" }), names.slice(0, 2))
          assert.deepStrictEqual(yield* list({ name: "%" }), names.slice(0, 1))
          assert.deepStrictEqual(yield* list({ name: "_" }), names.slice(1, 2))
          assert.deepStrictEqual(yield* list({ status: "chunked_processing" }), ["Lakes.pdf"])
          assert.deepStrictEqual(yield* list({ status: "uploaded", name: "lakes" }), [])
          const day = (yield* fileOf(ids[0]!, owner)).createdAt.slice(0, 10)
          assert.lengthOf(yield* list({ since: day, until: day }), 3)
          assert.deepStrictEqual(yield* list({ since: "9999-01-01" }), [])
          assert.deepStrictEqual(yield* list({ until: "1969-12-31" }), [])
        })
    )
  })
