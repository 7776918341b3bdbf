import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
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
} from "./world/world.ts"

const near = (actual: number | null, expected: number) =>
  assert.isBelow(Math.abs((actual ?? NaN) - expected), 1e-9, `${actual} is not ${expected}`)

/** List price of so many answers of the model. */
const priceOf = (answers: number) => (answers * (100 * 1000 + 10 * 10_000)) / 1_000_000

layer(laneWorld, { excludeTestServices: true })("the driver", (it) => {
  it.effect("prepares, submits, collects and bills; the chunks reuse every answer", () =>
    Effect.gen(function* () {
      yield* clean
      const { blank, calls } = yield* Knobs
      blank.add(3)
      const { jobId } = yield* parked(5)
      assert.strictEqual((yield* jobOf(jobId)).phase, "Waiting for batch")
      yield* tickUntil(settingsOf(), isClosed(jobId))
      const row = yield* rowOf(jobId)
      assert.deepStrictEqual(
        [row?.outcome, row?.end_state, row?.records, row?.accepted, row?.fallback],
        ["collected", "Completed", 4, 4, 0]
      )
      const resumed = yield* jobOf(jobId)
      assert.deepStrictEqual(
        [resumed.status, resumed.chunks, resumed.phase],
        ["pending", ["pending"], "Queued: 0/3 chunks"]
      )
      assert.isTrue(resumed.options._batchPrimed)
      near(resumed.options._batchCostUsd ?? null, priceOf(4) / 2)
      const [entry, ...more] = yield* ledger
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(
        [entry?.source, entry?.backend, entry?.input, entry?.output],
        ["batch", "chunked-vision", 400, 40]
      )
      assert.deepStrictEqual(
        ["batch", "batchMultiplier", "accepted", "fallback", "endState"].map((name) => entry?.metadata[name]),
        [true, 0.5, 4, 0, "Completed"]
      )
      assert.match(String(entry?.metadata["batchJobArn"]), /^arn:/)

      const html = yield* convertAll()
      assert.deepStrictEqual(calls, [], "no call on demand")
      assert.match(html, /words of page 4/)
      assert.notInclude(html, "words of page 3")
      assert.strictEqual((yield* ledger).length, 1, "batch-served pages are in no chunk row")
    })
  )

  it.effect("a changed model runs on demand, with the same result", () =>
    Effect.gen(function* () {
      yield* clean
      const { calls } = yield* Knobs
      const { jobId } = yield* parked(3)
      yield* tickUntil(settingsOf(), isClosed(jobId))
      const html = yield* convertAll("m2")
      assert.deepStrictEqual(
        calls.map(({ page }) => page),
        [0, 1, 2]
      )
      assert.match(html, /words of page 2/)
    })
  )

  it.effect("records that failed or were not done fall back, and are counted", () =>
    Effect.gen(function* () {
      yield* clean
      const { calls, faults } = yield* Knobs
      faults.failed = 0.3
      faults.unfinished = 0.3
      const { jobId } = yield* parked(20)
      yield* tickUntil(settingsOf(), isClosed(jobId))
      const row = yield* rowOf(jobId)
      assert.strictEqual(row?.end_state, "PartiallyCompleted")
      assert.strictEqual((row?.accepted ?? 0) + (row?.fallback ?? 0), 20)
      assert.isAbove(row?.fallback ?? 0, 0)
      yield* convertAll()
      assert.strictEqual(calls.length, row?.fallback)
      const [batch, ...chunks] = yield* ledger
      assert.strictEqual(batch?.input, (row?.accepted ?? 0) * 100)
      assert.strictEqual(
        chunks.reduce((sum, { input }) => sum + input, 0),
        (row?.fallback ?? 0) * 100
      )
    })
  )

  for (const [name, fault, outcome, end] of [
    ["fails", { fails: "no" }, "failed", "Failed"],
    ["expires", { expires: true }, "expired", "Expired"]
  ] as const) {
    it.effect(`a job that ${name} goes on-demand, without a bill`, () =>
      Effect.gen(function* () {
        yield* clean
        Object.assign((yield* Knobs).faults, fault)
        const { jobId } = yield* parked(3)
        yield* tickUntil(settingsOf(), isClosed(jobId))
        const row = yield* rowOf(jobId)
        assert.deepStrictEqual([row?.outcome, row?.end_state], [outcome, end])
        const job = yield* jobOf(jobId)
        assert.deepStrictEqual([job.status, job.options], ["pending", { highFidelity: true }])
        assert.deepStrictEqual(yield* ledger, [])
      })
    )
  }

  for (const [fault, outcome, end] of [
    ["expires", "expired", "Expired"],
    ["stops", "failed", "Stopped"]
  ] as const) {
    it.effect(
      `a job that ${fault} half way: what it returned is billed once, all pages go on-demand (B2, K1)`,
      () =>
        Effect.gen(function* () {
          yield* clean
          const { calls, faults } = yield* Knobs
          Object.assign(faults, { [fault]: true, unfinished: 0.5, failed: 0.1 })
          const { jobId } = yield* parked(20)
          yield* tickUntil(settingsOf(), isClosed(jobId))
          const row = yield* rowOf(jobId)
          assert.deepStrictEqual(
            [row?.outcome, row?.end_state, row?.accepted, row?.fallback],
            [outcome, end, 0, 20]
          )
          const [entry, ...more] = yield* ledger
          assert.deepStrictEqual(more, [])
          const answers = (entry?.input ?? 0) / 100
          assert.isTrue(answers > 0 && answers < 15, String(answers))
          near(entry?.cost ?? null, priceOf(answers) / 2)
          const { batchJobArn, returned, ...rest } = entry?.metadata ?? {}
          assert.match(String(batchJobArn), /^arn:/)
          assert.isAbove(Number(returned), answers, "failed records are returned, too")
          assert.deepStrictEqual(rest, {
            batch: true,
            batchMultiplier: 0.5,
            accepted: 0,
            fallback: 20,
            endState: end,
            onDemandUsd: 0
          })
          const { options, status } = yield* jobOf(jobId)
          assert.strictEqual(status, "pending")
          assert.isUndefined(options._batchPrimed)
          near(options._batchCostUsd ?? null, priceOf(answers) / 2)
          yield* convertAll()
          assert.strictEqual(calls.length, 20, "nothing of it is used")
        })
    )
  }

  for (const [name, limits] of [
    ["too few", { minRecords: 4 }],
    ["too many", { maxRecords: 2 }],
    ["too large", { maxBytes: 500 }]
  ] as const) {
    it.effect(`${name} records: skipped, on-demand`, () =>
      Effect.gen(function* () {
        yield* clean
        const { jobId } = yield* parked(3)
        const settings = settingsOf()
        yield* tickUntil({ ...settings, limits: { ...settings.limits, ...limits } }, isClosed(jobId))
        assert.strictEqual((yield* rowOf(jobId))?.outcome, "skipped")
        assert.strictEqual((yield* jobOf(jobId)).status, "pending")
      })
    )
  }

  it.effect("an overdue job goes on-demand at once; its row closes when the service has stopped it", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { faults } = yield* Knobs
      faults.stopLatencyMs = 300
      const { jobId } = yield* parked(3)
      const settings = settingsOf()
      yield* tickUntil(settings, isState(jobId, "submitted"))
      yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '1 minute'`
      yield* tickUntil(settings, isClosed(jobId))
      assert.notStrictEqual((yield* jobOf(jobId)).status, "waiting_batch")
    })
  )

  it.effect("waits with funds set aside for time-out, grace and the window after", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId } = yield* parked(3)
      const settings = settingsOf()
      yield* tickUntil(settings, isState(jobId, "submitted"))
      const left = sql<{ readonly hours: number }>`select
        (extract(epoch from expires_at - now()) / 3600)::float8 as hours from funds_holds where job_id = ${jobId}::uuid`
      const waiting = (yield* left)[0]?.hours ?? 0
      assert.isTrue(waiting > 27 && waiting <= 27.5, String(waiting))
      yield* tickUntil(settings, isClosed(jobId))
      const after = (yield* left)[0]?.hours ?? 0
      assert.isTrue(after > 1 && after <= 1.5, String(after))
    })
  )

  it.effect("a job whose row is closed and that waits all the same is resumed with its results", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId } = yield* parked(3)
      yield* sql`insert into conversion_batch_jobs (job_id, state, outcome, cost_usd) values (${jobId}::uuid, 'closed', 'collected', 0.25)`
      const other = yield* parked(3)
      yield* sql`insert into conversion_batch_jobs (job_id, state, outcome) values (${other.jobId}::uuid, 'closed', 'expired')`
      yield* tickUntil(
        settingsOf(),
        Effect.map(jobOf(other.jobId), ({ status }) => status === "pending")
      )
      const { options, status } = yield* jobOf(jobId)
      assert.deepStrictEqual(
        [status, options],
        ["pending", { highFidelity: true, _batchPrimed: true, _batchCostUsd: 0.25 }]
      )
      assert.deepStrictEqual((yield* jobOf(other.jobId)).options, { highFidelity: true })
    })
  )
})
