import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { BatchControls } from "../../../src/application/batch/controls.ts"
import { whenUserActs } from "../../../src/domain/batch/row.ts"
import type { JobId } from "../../../src/domain/ids.ts"
import { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { WINDOW } from "../../contracts/conversion/documents-world.ts"
import { anyId } from "../../support/any-id.ts"
import { driverTick } from "./world/tick.ts"
import {
  clean,
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

const suite = Layer.provideMerge(BatchControls.layer, laneWorld)

/** Brings a job's row into a state, by hand. */
const withRow = Effect.fnUntraced(function* (
  jobId: JobId,
  state: "none" | "preparing" | "submitted" | "closed"
) {
  const sql = yield* WriteSql
  if (state === "none") return
  yield* sql`insert into conversion_batch_jobs (job_id, state, outcome, batch_job_arn)
    values (${jobId}::uuid, ${state}, ${state === "closed" ? "collected" : null},
      ${state === "preparing" ? null : "arn:aws:bedrock:local:000000000000:model-invocation-job/aaaaaaaaaaaa"})`
})

const heldOf = Effect.fnUntraced(function* (jobId: JobId) {
  const sql = yield* WriteSql
  const rows = yield* sql<{ readonly state: string; readonly outcome: string | null }>`select state, outcome
    from funds_holds where job_id = ${jobId}::uuid`
  return rows[0]
})

layer(suite, { excludeTestServices: true })("the owner's controls", (it) => {
  for (const found of ["none", "preparing", "submitted", "closed"] as const) {
    const act = whenUserActs(found)
    it.effect(`Process now on a row that is ${found}`, () =>
      Effect.gen(function* () {
        yield* clean
        const controls = yield* BatchControls
        const { fileId, jobId, owner } = yield* parked(3)
        yield* withRow(jobId, found)
        const file = { fileId, customerId: owner }
        const moved = yield* controls.processNow(file)
        const closed = found === "closed"
        assert.deepStrictEqual(moved, {
          answer: "moved",
          jobId,
          status: closed ? "waiting_batch" : "pending"
        })
        const row = yield* rowOf(jobId)
        assert.deepStrictEqual(
          [row?.state, row?.close_reason],
          [act.state, act.reason ? "user chose interactive" : null]
        )
        const job = yield* jobOf(jobId)
        if (closed) {
          assert.strictEqual(job.status, "waiting_batch", "the driver resumes it, with its results")
          yield* driverTick(settingsOf(), 1)
          assert.isTrue((yield* jobOf(jobId)).options._batchPrimed)
        } else {
          assert.deepStrictEqual(
            [job.status, job.chunks, job.phase, job.options],
            ["pending", ["pending"], "Queued: 0/2 chunks", { highFidelity: true }]
          )
          assert.deepStrictEqual(yield* controls.processNow(file), { answer: "not_waiting" })
        }
      })
    )

    for (const [by, reason] of [
      ["cancel", "Cancelled by user"],
      ["delete", "Cancelled: the source file was deleted"]
    ] as const) {
      it.effect(`${by} on a row that is ${found}`, () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* ConversionStore
          const { fileId, jobId, owner } = yield* parked(3)
          yield* withRow(jobId, found)
          yield* by === "cancel" ? store.cancel(jobId) : store.deleteFile(fileId, owner)
          const row = yield* rowOf(jobId)
          assert.deepStrictEqual([row?.state, row?.close_reason], [act.state, act.reason ? reason : null])
          assert.strictEqual(
            row?.outcome,
            found === "none" ? "skipped" : found === "closed" ? "collected" : null
          )
          const job = yield* jobOf(jobId)
          assert.deepStrictEqual([job.status, job.chunks], ["cancelled", ["cancelled"]])
          assert.deepStrictEqual(yield* heldOf(jobId), { state: "released", outcome: "cancelled" })
          yield* driverTick(settingsOf(), 1)
          assert.strictEqual((yield* jobOf(jobId)).status, "cancelled", "nothing resumes it")
        })
      )
    }
  }

  it.effect("somebody else's file, and one that was never converted, move nothing", () =>
    Effect.gen(function* () {
      yield* clean
      const controls = yield* BatchControls
      const { fileId, jobId } = yield* parked(3)
      const other = yield* parked(3)
      assert.deepStrictEqual(yield* controls.processNow({ fileId, customerId: other.owner }), {
        answer: "not_found"
      })
      assert.strictEqual((yield* jobOf(jobId)).status, "waiting_batch")
    })
  )

  it.effect(
    "a cancelled job's batch job is stopped at once, its tokens booked, its total tells them (K1)",
    () =>
      Effect.gen(function* () {
        yield* clean
        const { faults } = yield* Knobs
        faults.stopLatencyMs = 0
        const controls = yield* BatchControls
        const store = yield* ConversionStore
        const settings = settingsOf()
        const { jobId } = yield* parked(5)
        yield* tickUntil(settings, isState(jobId, "submitted"))
        yield* store.cancel(jobId)
        yield* controls.stopBatchJob(jobId)
        yield* tickUntil(settings, isClosed(jobId))
        const row = yield* rowOf(jobId)
        assert.deepStrictEqual([row?.outcome, row?.close_reason], ["skipped", "Cancelled by user"])
        const booked = (yield* ledger).reduce((sum, { cost }) => sum + cost, 0)
        assert.isBelow(Math.abs(((yield* jobOf(jobId)).cost ?? NaN) - booked), 1e-9)
      })
  )

  it.effect("a row that is cancelled while it is prepared is submitted, then stopped on its first poll", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const rows = yield* BatchStore
      const { jobId } = yield* parked(3)
      const settings = settingsOf()
      yield* driverTick(settings, 1).pipe(
        Effect.provideService(BatchStore, {
          ...rows,
          uploaded: (batch, input) =>
            Effect.andThen(Effect.orDie(store.cancel(jobId)), rows.uploaded(batch, input))
        })
      )
      const row = yield* rowOf(jobId)
      assert.deepStrictEqual([row?.state, row?.close_reason], ["submitted", "Cancelled by user"])
      yield* tickUntil(settings, isClosed(jobId))
      assert.strictEqual((yield* jobOf(jobId)).status, "cancelled")
    })
  )

  it.effect(
    "two drivers, a faulty service and owners who cancel, hurry, delete and convert again: B, X, K and F hold",
    () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Layer.Success<typeof suite>>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(script, (steps) => Effect.runPromiseWith(context)(play(steps))),
            { numRuns: 12 }
          )
        )
      })
  )
})

interface Script {
  readonly faults: { readonly failed: number; readonly unfinished: number; readonly stopLatencyMs: number }
  readonly acts: ReadonlyArray<{
    readonly which: number
    readonly act: "cancel" | "hurry" | "delete" | "again" | "wait"
    readonly after: number
  }>
}

const script: fc.Arbitrary<Script> = fc.record({
  faults: fc.record({
    failed: fc.constantFrom(0, 0.3),
    unfinished: fc.constantFrom(0, 0.3),
    stopLatencyMs: fc.constantFrom(0, 50)
  }),
  acts: fc.array(
    fc.record({
      which: fc.nat(2),
      act: fc.constantFrom("cancel", "hurry", "delete", "again", "wait"),
      after: fc.constantFrom(0, 5, 25)
    }),
    { minLength: 3, maxLength: 10 }
  )
})

const play = Effect.fnUntraced(function* ({ acts, faults }: Script) {
  yield* clean
  Object.assign((yield* Knobs).faults, faults)
  const store = yield* ConversionStore
  const controls = yield* BatchControls
  const sql = yield* WriteSql
  const files = yield* Effect.forEach([0, 1, 2], () => parked(4))
  const owners = Effect.forEach(
    acts,
    Effect.fnUntraced(function* ({ act, after, which }) {
      yield* Effect.sleep(after)
      const { fileId, owner } = files[which]!
      const jobId = (yield* store.file(fileId, owner))?.jobId
      if (jobId === undefined || jobId === null) return
      switch (act) {
        case "cancel":
          yield* store.cancel(jobId)
          return yield* controls.stopBatchJob(jobId)
        case "hurry":
          return void (yield* controls.processNow({ fileId, customerId: owner }))
        case "delete":
          return void (yield* store.deleteFile(fileId, owner))
        case "again": {
          const options = { highFidelity: true }
          const id = anyId()
          const window = WINDOW
          const asked = yield* store.request({ jobId: id, fileId, customerId: owner, options, window })
          if (asked === "queued") {
            yield* store.createJob(id, { status: "waiting_batch", options, chunkPages: 2 })
          }
          return
        }
        case "wait":
          return
      }
    }),
    { discard: true }
  )
  const count = (query: string) =>
    Effect.map(sql.unsafe<{ readonly n: number }>(query), (rows) => rows[0]?.n ?? -1)
  const quiet = Effect.gen(function* () {
    const open = yield* count(
      `select ((select count(*) from conversion_batch_jobs where state <> 'closed')
        + (select count(*) from large_conversion_jobs where status = 'waiting_batch'))::int as n`
    )
    return open === 0
  })
  const driver = Effect.forever(Effect.andThen(driverTick(settingsOf(), 1), Effect.sleep(5)))
  yield* Effect.raceFirst(owners, Effect.all([driver, driver], { concurrency: "unbounded" }))
  yield* tickUntil(settingsOf(), quiet, 2)

  const twice = yield* count(
    `select count(*)::int as n from (select job_id from cost_ledger where source = 'batch' group by 1 having count(*) > 1) x`
  )
  const unbilled = yield* count(
    `select count(*)::int as n from conversion_batch_jobs b where b.outcome = 'collected'
      and not exists (select from cost_ledger l where l.id = b.id)`
  )
  const held = yield* count(
    `select count(*)::int as n from funds_holds h join large_conversion_jobs j on j.id = h.job_id
      where h.state = 'held' and j.status in ('cancelled', 'completed', 'failed')`
  )
  const unprimed = yield* count(
    `select count(*)::int as n from large_conversion_jobs j join conversion_batch_jobs b on b.job_id = j.id
      where b.outcome = 'collected' and b.close_reason = 'collected' and j.status = 'pending'
        and not (j.options ? '_batchPrimed')`
  )
  const wrongTotal = yield* count(
    `select count(*)::int as n from large_conversion_jobs j where j.status = 'cancelled'
      and j.total_cost_usd is distinct from (select coalesce(sum(cost_usd), 0) from cost_ledger l where l.job_id = j.id)`
  )
  assert.deepStrictEqual(
    { twice, unbilled, held, unprimed, wrongTotal },
    { twice: 0, unbilled: 0, held: 0, unprimed: 0, wrongTotal: 0 }
  )
})
