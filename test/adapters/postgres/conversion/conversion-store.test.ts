import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import * as Holds from "../../../contracts/conversion/conversion-holds.ts"
import * as Legibility from "../../../contracts/conversion/conversion-legibility.ts"
import * as Moves from "../../../contracts/conversion/conversion-moves.ts"
import * as Retries from "../../../contracts/conversion/conversion-retries.ts"
import { suite } from "../../../contracts/conversion/conversion-store.ts"
import * as Turns from "../../../contracts/conversion/conversion-turns.ts"
import * as Upkeep from "../../../contracts/conversion/conversion-upkeep.ts"
import { cost, job, pdf } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { clean, customer } from "./world.ts"

for (const one of [
  suite,
  Holds.suite,
  Legibility.suite,
  Moves.suite,
  Retries.suite,
  Turns.suite,
  Upkeep.suite
])
  one("PostgreSQL", postgres)

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
