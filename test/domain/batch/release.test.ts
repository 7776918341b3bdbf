import { readFileSync } from "node:fs"

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { BatchService } from "../../../src/ports/batch/batch-service.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { driverTick } from "../../application/batch/world/tick.ts"
import {
  clean,
  convertAll,
  isClosed,
  isState,
  jobOf,
  Knobs,
  laneWorld,
  ledger,
  parked,
  rowOf,
  settingsOf,
  tickUntil
} from "../../application/batch/world/world.ts"
import { anyId } from "../../support/any-id.ts"

/** The statements of docs/operate/batch.md, "Rollback". */
const release = Effect.gen(function* () {
  const sql = yield* WriteSql
  const text = readFileSync(new URL("../../../docs/operate/batch.md", import.meta.url), "utf8")
  const block = /## Rollback\n[\s\S]*?```sql\n([\s\S]*?)```/.exec(text)?.[1] ?? ""
  const statements = block.split(";").filter((one) => one.trim() !== "")
  yield* sql.withTransaction(
    Effect.forEach(
      statements.filter((one) => !/^\s*(?:begin|commit)\s*$/.test(one)),
      (one) => sql.unsafe(one)
    )
  )
  return statements
})

layer(laneWorld, { excludeTestServices: true })("the lane, rolled back", (it) => {
  it.effect("flag off: parked jobs stay parked, and the documented statements release them (BATCH-43)", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const { jobId } = yield* parked(3)
      assert.isUndefined(yield* store.claimChunk("w", anyId()))
      assert.lengthOf(yield* release, 4)
      assert.strictEqual((yield* store.claimChunk("w", anyId()))?.jobId, jobId)
    })
  )

  it.effect("released while it was prepared: the driver makes no batch job of it when it runs again", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const service = yield* BatchService
      const { jobId } = yield* parked(3)
      yield* sql`insert into conversion_batch_jobs (job_id, state) values (${jobId}::uuid, 'preparing')`
      yield* sql`update conversion_batch_jobs set term = 1`
      yield* release
      yield* driverTick(settingsOf(), 2)
      const row = yield* rowOf(jobId)
      assert.deepStrictEqual([row?.state, row?.outcome], ["closed", "skipped"])
      assert.isUndefined(yield* service.findByName(`postlane-${jobId}`))
      assert.strictEqual((yield* store.claimChunk("w", anyId()))?.jobId, jobId)
    })
  )

  it.effect(
    "released while its batch job ran: on-demand, and the driver books the batch job when it runs again",
    () =>
      Effect.gen(function* () {
        yield* clean
        const settings = settingsOf()
        const { calls } = yield* Knobs
        const { jobId } = yield* parked(3)
        yield* tickUntil(settings, isState(jobId, "submitted"))
        yield* release
        yield* convertAll()
        assert.lengthOf(calls, 3)
        yield* tickUntil(settings, isClosed(jobId))
        const { chunks, options, status } = yield* jobOf(jobId)
        assert.deepStrictEqual([chunks, status], [["completed"], "assembling"])
        assert.isUndefined(options._batchPrimed, "nobody resumed it")
        const entries = yield* ledger
        assert.lengthOf(
          entries.filter(({ source }) => source === "batch"),
          1
        )
        assert.strictEqual(
          entries.reduce((sum, { input }) => sum + input, 0),
          600
        )
      })
  )
})
