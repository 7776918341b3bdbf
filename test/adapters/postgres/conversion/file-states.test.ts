import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { clean, laneWorld, parked } from "../../../application/batch/world/world.ts"
import { WINDOW } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"

layer(laneWorld, { excludeTestServices: true })("the state of a file", (it) => {
  it.effect("is swept: as its job ended, what was set aside given back, nothing resumed", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const stuck = yield* Effect.forEach(["cancelled", "failed", "waiting_batch"], (status) =>
        Effect.gen(function* () {
          const made = yield* parked(3)
          yield* sql`update large_conversion_jobs set status = ${status}, error = ${status === "failed" ? "no" : null}
            where id = ${made.jobId}::uuid`
          return made
        })
      )
      yield* store.sweep(WINDOW, Duration.hours(1))
      const states = Effect.forEach(stuck, ({ fileId, jobId, owner }) =>
        Effect.gen(function* () {
          const file = yield* store.file(fileId, owner)
          const held = yield* sql<{ readonly state: string }>`select state from funds_holds
            where job_id = ${jobId}::uuid`
          return [file?.jobStatus, file?.status, file?.error, held[0]?.state]
        })
      )
      assert.deepStrictEqual(
        (yield* states).map(([, status]) => status),
        ["chunked_processing", "chunked_processing", "chunked_processing"],
        "the worker that ended them may be about to report it"
      )
      yield* store.sweep(WINDOW, Duration.zero)
      yield* store.sweep(WINDOW, Duration.zero)
      assert.deepStrictEqual(yield* states, [
        ["cancelled", "uploaded", null, "released"],
        ["failed", "failed", "no", "released"],
        ["waiting_batch", "chunked_processing", null, "held"]
      ])
    })
  )

  it.effect("is not touched by progress reported after a cancel, or by another job's cancel", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const { fileId, jobId, owner } = yield* parked(3)
      const other = yield* sql<{ readonly id: string }>`insert into large_conversion_jobs (file_id, status)
        values (${fileId}::uuid, 'pending') returning id`
      yield* store.cancel(anyId(other[0]?.id ?? ""))
      const before = yield* store.file(fileId, owner)
      assert.deepStrictEqual([before?.jobId, before?.status], [jobId, "chunked_processing"])
      yield* store.cancel(jobId)
      // A worker's heartbeat that was under way.
      yield* sql`select conversion_progress(${jobId}::uuid)`
      const after = yield* store.file(fileId, owner)
      assert.deepStrictEqual(
        [after?.status, after?.phase, after?.progress, after?.batchWaiting],
        ["uploaded", null, { done: 0, total: 0 }, false]
      )
    })
  )
})
