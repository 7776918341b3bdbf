import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { BatchReplay } from "../../../src/application/batch/replay.ts"
import { OwnStores } from "../../../src/application/own-stores.ts"
import { resultsKey } from "../../../src/domain/batch/keys.ts"
import { MAX_CHUNK_ATTEMPTS } from "../../../src/domain/conversion/job.ts"
import { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { BatchObjects, ObjectStoreError } from "../../../src/ports/object-store.ts"
import { WINDOW } from "../../contracts/conversion/documents-world.ts"
import {
  clean,
  convertAll,
  isClosed,
  jobOf,
  Knobs,
  laneWorld,
  parked,
  settingsOf,
  tickUntil
} from "./world/world.ts"

/** Converts with a store of batch objects that does not answer. */
const withoutAnswer = Effect.gen(function* () {
  const objects = yield* BatchObjects
  const get = (key: string) => Stream.fail(new ObjectStoreError({ reason: "unavailable", key }))
  return yield* Effect.flatMap(BatchReplay, (replay) =>
    Effect.provideService(convertAll(), BatchReplay, replay)
  ).pipe(
    Effect.provide(Layer.fresh(BatchReplay.layer)),
    Effect.provideService(BatchObjects, { ...objects, get })
  )
})

/** A job of one chunk that goes on with its batch's results. */
const collected = Effect.gen(function* () {
  const { jobId } = yield* parked(2)
  yield* tickUntil(settingsOf(), isClosed(jobId))
  assert.isTrue((yield* jobOf(jobId)).options._batchPrimed)
  return jobId
})

layer(laneWorld, { excludeTestServices: true })("a chunk with batch results", (it) => {
  it.effect("that are gone is converted on demand", () =>
    Effect.gen(function* () {
      yield* clean
      const { calls } = yield* Knobs
      const jobId = yield* collected
      yield* BatchObjects.use((objects) => objects.remove([resultsKey(jobId, 0)]))
      assert.match(yield* convertAll(), /words of page 1/)
      assert.lengthOf(calls, 2)
    })
  )

  it.effect("that cannot be read now is tried again, so that they are not paid for twice", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { calls } = yield* Knobs
      yield* collected
      yield* Effect.exit(withoutAnswer)
      assert.deepStrictEqual(calls, [], "nothing is called for on demand")
      assert.deepStrictEqual(yield* sql`select status, attempts from chunk_jobs`, [
        { status: "pending", attempts: 1 }
      ])
      yield* sql`update chunk_jobs set not_before = now()`
      assert.match(yield* convertAll(), /words of page 1/)
      assert.deepStrictEqual(calls, [])
    })
  )

  it.effect("that are missing in a store that is another one by now is tried again, elsewhere (B3)", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { calls } = yield* Knobs
      const jobId = yield* collected
      yield* BatchObjects.use((objects) => objects.remove([resultsKey(jobId, 0)]))
      const stoodStill = {
        examine: Effect.void,
        refusal: Effect.undefined,
        batchRefusal: Effect.undefined,
        refusalNow: Effect.succeed("the database knows another store")
      }
      yield* Effect.exit(Effect.provideService(convertAll(), OwnStores, stoodStill))
      assert.deepStrictEqual(calls, [], "nothing is called for on demand")
      assert.deepStrictEqual(yield* sql`select status, attempts from chunk_jobs`, [
        { status: "pending", attempts: 1 }
      ])
    })
  )

  it.effect("that cannot be read on the last attempt goes on demand", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { calls } = yield* Knobs
      yield* collected
      yield* sql`update chunk_jobs set attempts = ${MAX_CHUNK_ATTEMPTS - 1}`
      assert.match(yield* withoutAnswer, /words of page 1/)
      assert.lengthOf(calls, 2)
    })
  )

  it.effect(
    "goes on over the daily budget; a page that would have to be asked for waits, and counts no attempt",
    () =>
      Effect.gen(function* () {
        yield* clean
        const sql = yield* WriteSql
        const { calls } = yield* Knobs
        yield* collected
        yield* sql`update cost_ledger set cost_usd = 7`
        assert.match(yield* convertAll(undefined, 5), /words of page 1/)
        assert.deepStrictEqual(calls, [])
        assert.deepStrictEqual(yield* sql`select status, served_pages as served from chunk_jobs`, [
          { status: "completed", served: 2 }
        ])

        yield* clean
        const jobId = yield* collected
        yield* sql`update cost_ledger set cost_usd = 7`
        yield* BatchObjects.use((objects) => objects.remove([resultsKey(jobId, 0)]))
        yield* Effect.exit(convertAll(undefined, 5))
        assert.deepStrictEqual(calls, [])
        const waits = sql`select status, attempts, not_before > now() + interval '10 minutes' as later from chunk_jobs`
        assert.deepStrictEqual(yield* waits, [{ status: "pending", attempts: 0, later: true }])
        yield* sql`update chunk_jobs set not_before = now()`
        assert.match(yield* convertAll(undefined, 8), /words of page 1/)
        assert.lengthOf(calls, 2)
      })
  )

  it.effect("that its job was not resumed with is converted on demand, and they are not looked at", () =>
    Effect.gen(function* () {
      yield* clean
      const { calls } = yield* Knobs
      const store = yield* BatchStore
      const { jobId } = yield* parked(2)
      yield* store.resume(jobId, {}, WINDOW)
      assert.match(yield* withoutAnswer, /words of page 1/)
      assert.lengthOf(calls, 2)
    })
  )
})
