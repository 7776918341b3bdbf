import { assert, layer as suiteLayer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { job, pdf } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { layerClients, layerDatabase } from "../../../support/postgres/postgres.ts"
import { clean, customer, funds } from "./world.ts"

/** Locks are waited for as long as it takes. */
const suite = layer.pipe(Layer.provideMerge(layerClients()), Layer.provideMerge(layerDatabase))

/** Runs a statement in a transaction that stays open until `end`, which commits it, or rolls it back. */
const openTransaction = Effect.fnUntraced(function* (statement: Effect.Effect<unknown, SqlError>) {
  const sql = yield* WriteSql
  const [begun, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void, "rolled back">()]
  const fiber = yield* Effect.forkChild(
    sql
      .withTransaction(
        statement.pipe(
          Effect.andThen(Deferred.succeed(begun, undefined)),
          Effect.andThen(Deferred.await(over))
        )
      )
      .pipe(Effect.exit)
  )
  yield* Deferred.await(begun)
  return {
    commit: Effect.andThen(Deferred.succeed(over, undefined), Fiber.join(fiber)),
    rollBack: Effect.andThen(Deferred.fail(over, "rolled back"), Fiber.join(fiber))
  }
})

/** A statement that runs the function `waiter` waits for one that runs `holder`. */
const waits = (waiter: string, holder: string) =>
  WriteSql.use((sql) =>
    sql<{
      readonly n: number
    }>`select count(*)::integer as n from pg_stat_activity a, unnest(pg_blocking_pids(a.pid)) as b(pid)
      join pg_stat_activity h on h.pid = b.pid where a.datname = current_database()
      and a.query like ${`select ${waiter}%`} and h.query like ${`%${holder}%`}`.pipe(
      Effect.repeat({ until: ([row]) => row !== undefined && row.n > 0 })
    )
  )

suiteLayer(suite, { excludeTestServices: true })("a file that is deleted", (it) => {
  it.effect(
    "while its next conversion is asked for and its job made: no deadlock, and that job is cancelled",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const store = yield* ConversionStore
        const owner = yield* customer(10)
        const fileId = yield* pdf(owner, 2)
        yield* store.cancel(yield* job(owner, fileId))
        const jobId = anyId()
        yield* sql`insert into convert_queue (job_id, file_id, customer_id, options)
        values (${jobId}::uuid, ${fileId}::uuid, ${owner}::uuid, '{}')`

        // Holds up the job's making after it has taken its request, and before it comes to the job and the file.
        const other = yield* openTransaction(sql`lock table large_conversion_jobs in share mode`)
        const made = yield* Effect.forkChild(
          sql`select create_conversion_job(${jobId}::uuid, 'pending', 2, '{}') as answer`
        )
        yield* waits("create_conversion_job", "lock table")
        const request = yield* openTransaction(
          sql`update files set status = 'chunked_processing', job_id = ${jobId}::uuid where id = ${fileId}::uuid`
        )
        // Called bare: the store would try again after a deadlock.
        const deleted = yield* Effect.forkChild(
          sql`select delete_file(${fileId}::uuid, ${owner}::uuid) as answer`
        )
        yield* waits("delete_file", "update files")
        yield* request.commit
        yield* waits("delete_file", "create_conversion_job")
        yield* other.rollBack

        assert.deepStrictEqual(yield* Fiber.join(made), [{ answer: true }])
        assert.deepStrictEqual(yield* Fiber.join(deleted), [{ answer: "deleted" }])
        assert.deepStrictEqual(
          yield* sql`select status from large_conversion_jobs where id = ${jobId}::uuid`,
          [{ status: "cancelled" }]
        )
        assert.isUndefined(yield* store.file(fileId, owner))
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
  )
})
