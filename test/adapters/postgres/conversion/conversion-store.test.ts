import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { suite } from "../../../contracts/conversion/conversion-store/index.ts"
import { cost, job, pdf } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { clean, customer } from "./world.ts"

suite("PostgreSQL", postgres)

suiteLayer(postgres)("conversions on PostgreSQL", (it) => {
  it.effect(
    "the daily budget takes an option of the wrong type for one that is not given, as workers do",
    () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const sql = yield* WriteSql
        const owner = yield* customer(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        yield* sql`update large_conversion_jobs set options = '{"highFidelity": "maybe"}'`
        yield* store.bookCosts([cost(jobId, 5)])
        assert.strictEqual(yield* store.applyBudget(5), 0)
      })
  )

  it.effect("of a deleted file neither its name nor those of the files in it are kept", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const sql = yield* WriteSql
      const owner = yield* customer(10)
      const leftOut = { portfolio: false, files: ["Diagnosis of Ann.pdf"], fileCount: 1, remarks: 0 }
      const file = { name: "a.pdf", kind: "pdf" as const, sizeBytes: 1, pages: 1, objectKey: "files/a" }
      const { id } = yield* store.addFile({ id: anyId(), customerId: owner, ...file, leftOut })
      assert.strictEqual(yield* store.deleteFile(id, owner), "deleted")
      assert.deepStrictEqual(yield* sql`select name, left_out from files`, [{ name: "", left_out: null }])
    })
  )

  it.effect("progress that is reported after a cancel changes no file (DOC-40)", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const sql = yield* WriteSql
      const owner = yield* customer(10)
      const fileId = yield* pdf(owner, 4)
      const jobId = yield* job(owner, fileId)
      yield* store.claimChunk("w", anyId())
      yield* store.cancel(jobId)
      yield* sql`select conversion_progress(${jobId}::uuid)`
      const file = yield* store.file(fileId, owner)
      assert.deepStrictEqual([file?.status, file?.jobStatus, file?.phase], ["uploaded", "cancelled", null])
    })
  )
})
