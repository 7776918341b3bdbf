import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Stream } from "effect"

import * as PostgresBatch from "../../../src/adapters/postgres/batch/batch-store.ts"
import { ReadSql, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { purgeBatches } from "../../../src/application/batch/driver.ts"
import { POLLS_A_TICK } from "../../../src/application/batch/lane-settings.ts"
import { batchPrefix } from "../../../src/domain/batch/keys.ts"
import { BatchService } from "../../../src/ports/batch/batch-service.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { driverTick } from "./world/tick.ts"
import { clean, isClosed, laneWorld, parked, settingsOf, tickUntil } from "./world/world.ts"

layer(laneWorld, { excludeTestServices: true })("the driver, with many rows and old ones", (it) => {
  it.effect("the number of queries of a tick does not grow with the number of open rows, due or not", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const service = yield* BatchService
      let asked = 0
      const running: BatchService["Service"] = {
        ...service,
        get: (arn) =>
          Effect.sync(() => {
            asked += 1
            const folders = { inputPrefix: "", outputPrefix: "" }
            return {
              arn,
              name: "n",
              status: "InProgress",
              message: undefined,
              processed: undefined,
              ...folders
            }
          })
      }
      const cost = Effect.gen(function* () {
        let statements = 0
        const counted = <S extends object>(client: S): S =>
          new Proxy(client, {
            apply: (target, self, parts) => {
              statements += 1
              return Reflect.apply(target as never, self, parts)
            }
          })
        const store = Layer.fresh(PostgresBatch.layer).pipe(
          Layer.provide([
            Layer.effect(WriteSql, Effect.map(WriteSql, counted)),
            Layer.effect(ReadSql, Effect.map(ReadSql, counted))
          ])
        )
        yield* driverTick(settingsOf({ pollEvery: Duration.minutes(5) }), 1).pipe(
          Effect.provide(store),
          Effect.provideService(BatchService, running)
        )
        return statements
      })
      const few = yield* cost
      assert.isAbove(few, 0)
      yield* sql`insert into customers (id, email, plan_type) select gen_random_uuid(), 'c' || n || '@x.test', 'paid'
        from generate_series(1, 1) n`
      yield* sql`insert into files (customer_id, name, kind, size_bytes, pages, object_key)
        select id, 'a', 'pdf', 1, 1, 'k' from customers`
      yield* sql`insert into large_conversion_jobs (file_id, status)
        select f.id, 'waiting_batch' from files f, generate_series(1, 10000)`
      yield* sql`insert into conversion_batch_jobs (job_id, state, batch_job_arn, next_poll_at)
        select id, 'submitted', 'arn:x', now() + interval '5 minutes' from large_conversion_jobs`
      assert.strictEqual(yield* cost, few)
      assert.strictEqual(asked, 0)
      yield* sql`update conversion_batch_jobs set next_poll_at = now()`
      assert.strictEqual(yield* cost, few)
      assert.strictEqual(asked, POLLS_A_TICK)
    })
  )

  it.effect("objects go with the file, or two weeks after the end, and not before", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* ConversionStore
      const objects = yield* BatchObjects
      const { fileId, jobId, owner } = yield* parked(3)
      yield* tickUntil(settingsOf(), isClosed(jobId))
      const kept = Effect.map(Stream.runCollect(objects.list(batchPrefix(jobId))), (keys) => keys.length)
      yield* sql`update conversion_batch_jobs set closed_at = now() - interval '337 hours'`
      yield* purgeBatches
      assert.isAbove(yield* kept, 0, "its job goes on")
      yield* sql`update large_conversion_jobs set status = 'completed' where id = ${jobId}::uuid`
      yield* sql`update conversion_batch_jobs set closed_at = now() - interval '335 hours'`
      yield* purgeBatches
      assert.isAbove(yield* kept, 0, "14 days are not over")
      const old = yield* parked(3)
      yield* tickUntil(settingsOf(), isClosed(old.jobId))
      yield* sql`update large_conversion_jobs set status = 'completed' where id = ${old.jobId}::uuid`
      yield* sql`update conversion_batch_jobs set closed_at = now() - interval '337 hours'
        where job_id = ${old.jobId}::uuid`
      yield* purgeBatches
      assert.lengthOf(yield* Stream.runCollect(objects.list(batchPrefix(old.jobId))), 0)
      assert.isAbove(yield* kept, 0)
      yield* store.deleteFile(fileId, owner)
      yield* purgeBatches
      assert.strictEqual(yield* kept, 0)
      assert.deepStrictEqual(
        yield* sql`select count(*)::int as n from conversion_batch_jobs where purged_at is null`,
        [{ n: 0 }]
      )
    })
  )
})
