import { randomUUID } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { layerPostgres } from "../../../support/postgres.ts"
import { clean, customer, funds, job, pdf, STALE, WINDOW } from "./world.ts"

const suite = Layer.provideMerge(layer, layerPostgres)

suiteLayer(suite)("what a crash between two transactions could leave, and the sweep", (it) => {
  it.effect("a file that shows converting is as its job ended; one whose job lives is left alone", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const sql = yield* WriteSql
      const owner = yield* customer(100)
      const converting = Effect.fnUntraced(function* (status?: string) {
        const id = yield* pdf(owner, 2)
        const jobId = yield* job(owner, id)
        if (status !== undefined) {
          yield* sql`update large_conversion_jobs set status = ${status}, error = 'why' where id = ${jobId}::uuid`
        }
        return id
      })
      const cancelled = yield* converting("cancelled")
      const failed = yield* converting("failed")
      const live = yield* converting()
      const assembling = yield* converting("assembling")
      const queued = yield* pdf(owner, 2)
      yield* store.request({
        jobId: randomUUID(),
        fileId: queued,
        customerId: owner,
        options: {},
        window: WINDOW
      })
      const lost = yield* pdf(owner, 2)
      yield* sql`update files set status = 'chunked_processing', job_id = gen_random_uuid() where id = ${lost}::uuid`
      const statuses = Effect.forEach([cancelled, failed, lost, live, assembling, queued], (id) =>
        Effect.map(store.file(id, owner), (file) => [file?.status, file?.error])
      )
      const untouched = ["chunked_processing", null] as const

      // They may be about to be told by whoever ended them.
      assert.strictEqual(yield* store.sweep(WINDOW, STALE), 2, "the two holds")
      assert.deepStrictEqual(
        yield* statuses,
        Array.from({ length: 6 }, () => [...untouched])
      )
      yield* sql`update files set updated_at = updated_at - interval '1 hour'`
      assert.strictEqual(yield* store.sweep(WINDOW, STALE), 3)
      assert.deepStrictEqual(yield* statuses, [
        ["uploaded", "why"],
        ["failed", "why"],
        ["uploaded", null],
        [...untouched],
        [...untouched],
        [...untouched]
      ])
      assert.strictEqual(yield* store.sweep(WINDOW, STALE), 0)
    })
  )

  it.effect.each(["failed", "cancelled"])("the hold of a job that has %s is given back", (status) =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const sql = yield* WriteSql
      const owner = yield* customer(10)
      const jobId = yield* job(owner, yield* pdf(owner, 4))
      yield* sql`update large_conversion_jobs set status = ${status} where id = ${jobId}::uuid`
      assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 4, charged: 0 })
      assert.strictEqual(yield* store.sweep(WINDOW, STALE), 1)
      assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      assert.deepStrictEqual(yield* sql`select state, outcome from funds_holds`, [
        { state: "released", outcome: status }
      ])
    })
  )

  it.effect.each(["pending", "waiting_batch", "processing", "paused_budget", "assembling"])(
    "a job that is %s keeps its funds, whoever works on it or does not",
    (status) =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* ConversionStore
        const sql = yield* WriteSql
        const owner = yield* customer(4)
        const jobId = yield* job(owner, yield* pdf(owner, 4))
        yield* sql`update large_conversion_jobs set status = ${status} where id = ${jobId}::uuid`
        yield* sql`update funds_holds set expires_at = clock_timestamp() + interval '1 minute'`
        assert.strictEqual(yield* store.sweep(WINDOW, STALE), 0)
        assert.deepStrictEqual(
          yield* sql`select state, expires_at > clock_timestamp() + interval '1 hour' as long from funds_holds`,
          [{ state: "held", long: true }]
        )
        // One that was stretched is not cut short.
        yield* sql`update funds_holds set expires_at = clock_timestamp() + interval '1 day'`
        yield* store.sweep(WINDOW, Duration.zero)
        assert.deepStrictEqual(
          yield* sql`select expires_at > clock_timestamp() + interval '12 hours' as long from funds_holds`,
          [{ long: true }]
        )
      })
  )
})
