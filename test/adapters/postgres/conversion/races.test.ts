import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import type { JobId } from "../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../../../src/ports/store-unavailable.ts"
import {
  asked,
  claimInline,
  cost,
  job,
  pdf,
  STALE,
  WINDOW
} from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import { clean, customer, funds } from "./world.ts"

const suite = Layer.provideMerge(layer, layerPostgres)

/** A job's total and what the ledger says. */
const costsOf = (jobId: JobId) =>
  WriteSql.use(
    (sql) => sql<{ readonly total: number | null; readonly booked: number }>`
      select j.total_cost_usd::float8 as total,
        (select sum(l.cost_usd)::float8 from cost_ledger l where l.job_id = j.id) as booked
      from large_conversion_jobs j where j.id = ${jobId}::uuid`
  )

const deadlocks = WriteSql.use(
  (sql) => sql<{ readonly count: number }>`select deadlocks::int as count from pg_stat_database
    where datname = current_database()`
)

suiteLayer(suite)("conversions whose callers try again, and meet others", (it) => {
  it.effect(
    "C3: a heartbeat that waits does not put back the progress of a chunk that was completed meanwhile",
    () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const sql = yield* WriteSql
        const owner = yield* customer(10)
        const fileId = yield* pdf(owner, 4)
        yield* job(owner, fileId)
        const [first, second] = [
          (yield* store.claimChunk("w", anyId()))!,
          (yield* store.claimChunk("w", anyId()))!
        ]
        const alive = yield* whileOpen(
          store.completeChunk(first, "chunks/1", []),
          store.heartbeatChunk(second, 1, WINDOW)
        )
        assert.isTrue(alive)
        const shown = yield* sql`select done, phase from files where id = ${fileId}::uuid`
        assert.deepStrictEqual([...shown], [{ done: 3, phase: "Converting: 1/2 chunks" }])
      })
  )

  it.effect("R1: a result that was taken is so for its worker too, though the file is converted anew", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const owner = yield* customer(10)
      const fileId = anyId()
      yield* store.addFile({
        id: fileId,
        customerId: owner,
        name: "a",
        kind: "png",
        sizeBytes: 1,
        pages: 1,
        objectKey: "files/a"
      })
      const request = Effect.suspend(() =>
        store.request({ jobId: anyId(), fileId, customerId: owner, options: {}, window: WINDOW })
      )
      yield* request
      const first = (yield* store.claimInline(anyId(), STALE))!
      yield* store.finishInline(first, "first", [])
      // The worker did not hear it, and asks again while its owner asks for another conversion.
      assert.strictEqual(yield* whileOpen(request, store.finishInline(first, "first", [])), "completed")
      const second = (yield* store.claimInline(anyId(), STALE))!
      assert.strictEqual(yield* store.finishInline(first, "first", []), "completed")
      assert.strictEqual(yield* store.finishInline(first, "other", []), "stale")
      assert.strictEqual(
        yield* whileOpen(
          store.failInline(second, { error: "no", costs: [], maxAttempts: 1 }),
          store.finishInline(first, "first", [])
        ),
        "completed"
      )
      const file = yield* store.file(fileId, owner)
      assert.deepStrictEqual([file?.status, file?.resultKey], ["failed", "first"])
      assert.deepStrictEqual(yield* funds(owner), { credits: 9, held: 0, charged: 1 })
    })
  )

  it.effect.each(["cancel", "failJob"] as const)(
    "K1 X1: what is booked while the job ends (%s) is in its total",
    (end) =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const sql = yield* WriteSql
        const owner = yield* customer(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        const entry = (id: string) =>
          JSON.stringify([{ id, job_id: jobId, source: "s", backend: "b", cost_usd: 3 }])
        yield* whileOpen(
          sql`select book_costs(${entry(anyId())}::jsonb)`,
          Effect.asVoid<unknown, StoreUnavailable, never>(
            end === "cancel" ? store.cancel(jobId) : store.failJob(jobId, "x")
          )
        )
        assert.deepStrictEqual(yield* costsOf(jobId), [{ total: 3, booked: 3 }])
        yield* store.bookCosts([cost(jobId, 2)])
        assert.deepStrictEqual(yield* costsOf(jobId), [{ total: 5, booked: 5 }])
      })
  )

  it.effect("C2: a worker that is heard of at the last moment keeps its chunk", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const sql = yield* WriteSql
      const owner = yield* customer(10)
      const jobId = yield* job(owner, yield* pdf(owner, 2))
      const chunk = yield* store.claimChunk("w", anyId())
      yield* sql`update chunk_jobs set heartbeat_at = now() - interval '1 hour'`
      const recovered = yield* whileOpen(
        Effect.andThen(
          sql`select from large_conversion_jobs where id = ${jobId}::uuid for no key update`,
          store.heartbeatChunk(chunk!, 0, WINDOW)
        ),
        store.recoverOrphan(STALE, 3)
      )
      assert.strictEqual(recovered, 0)
      assert.isTrue(yield* store.heartbeatChunk(chunk!, 1, WINDOW))
    })
  )

  it.effect("a job that is paused while its chunk is claimed is not begun", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const sql = yield* WriteSql
      const owner = yield* customer(10)
      yield* job(owner, yield* pdf(owner, 2), { highFidelity: true })
      const claimed = yield* whileOpen(sql`select apply_model_budget(0)`, store.claimChunk("w", anyId()))
      assert.isUndefined(claimed)
      assert.deepStrictEqual(
        yield* sql`select j.status, c.status as chunk from large_conversion_jobs j, chunk_jobs c`,
        [{ status: "paused_budget", chunk: "pending" }]
      )
    })
  )

  it.effect(
    "C3: a file that is deleted while it is asked to be converted again is deleted, its job cancelled",
    () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const sql = yield* WriteSql
        const owner = yield* customer(10)
        const fileId = yield* pdf(owner, 2)
        const first = yield* job(owner, fileId)
        yield* store.cancel(first)
        const second = anyId()
        const answer = yield* whileOpen(
          sql`select request_conversion(${second}::uuid, ${fileId}::uuid, ${owner}::uuid, '{}', interval '1 hour')`,
          store.deleteFile(fileId, owner)
        )
        assert.strictEqual(answer, "deleted")
        assert.deepStrictEqual(
          yield* sql`select status from large_conversion_jobs where id = ${second}::uuid`,
          [{ status: "cancelled" }]
        )
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
  )

  it.effect(
    "F1: requests that are cancelled before they have a job, many of one customer at once, wait in no circle",
    () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const owner = yield* customer(100)
        for (let round = 0; round < 5; round++) {
          const jobs = yield* Effect.forEach(
            Array.from({ length: 8 }, () => anyId()),
            (jobId) =>
              Effect.flatMap(pdf(owner, 1), (fileId) =>
                store.request({ jobId, fileId, customerId: owner, options: {}, window: WINDOW })
              ).pipe(Effect.as(jobId))
          )
          const answers = yield* Effect.forEach(jobs, (jobId) => store.cancel(jobId), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(new Set(answers), new Set(["cancelled"]))
        }
        assert.deepStrictEqual(yield* deadlocks, [{ count: 0 }])
        assert.deepStrictEqual(yield* funds(owner), { credits: 100, held: 0, charged: 0 })
      })
  )

  it.effect("H3: two workers at once take documents of two owners", () =>
    Effect.gen(function* () {
      yield* clean
      yield* asked(yield* customer(100), 2)
      const [other] = yield* asked(yield* customer(100), 1)
      assert.strictEqual((yield* whileOpen(claimInline, claimInline))?.fileId, other)
    })
  )
})
