import { randomUUID } from "node:crypto"

import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { type BatchEnd, BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { clean, jobOf, laneWorld, ledger, parked, rowOf } from "../../../domain/batch/world.ts"
import { cost, whileOpen, WINDOW } from "../conversion/world.ts"

const PRICE = { inputUsdPerMtok: 1, outputUsdPerMtok: 2 }

/** What was left `preparing`, else the oldest parked job. */
const claimAs = (lease: string, preparer = randomUUID(), term = 1) =>
  BatchStore.use((store) => {
    const claim = (take: "open" | "parked") =>
      store.claim({
        take,
        lease,
        preparer,
        term,
        model: "m1",
        stuckAfter: Duration.hours(2),
        window: Duration.hours(28),
        giveUpIn: Duration.hours(26)
      })
    return Effect.flatMap(claim("open"), (open) =>
      open === undefined ? claim("parked") : Effect.succeed(open)
    )
  })

const endWith = (id: string, jobId: string): BatchEnd => ({
  outcome: "collected",
  reason: "collected",
  endState: "Completed",
  accepted: 3,
  fallback: 0,
  cost: { ...cost(jobId, 0.5), id, source: "batch", metadata: { batch: true } }
})

const submittedRow = Effect.gen(function* () {
  const store = yield* BatchStore
  const { jobId } = yield* parked(3)
  const claimed = yield* claimAs(randomUUID())
  if (claimed === undefined) return yield* Effect.die(new Error("nothing was claimed"))
  const job = { arn: "arn:x", name: "n", pollIn: Duration.zero, giveUpIn: Duration.hours(26) }
  yield* store.submitted(claimed, job)
  return { claimed, job, jobId }
})

const release = BatchStore.use((store) =>
  store.releaseOverdue({
    giveUpIn: Duration.hours(26),
    stuckAfter: Duration.hours(2),
    slack: Duration.minutes(5),
    window: WINDOW
  })
)

/** A job whose row has been `preparing` for too long. */
const stuckRow = Effect.gen(function* () {
  const sql = yield* WriteSql
  const { jobId, ...made } = yield* parked(3)
  const claimed = yield* claimAs(randomUUID())
  if (claimed === undefined) return yield* Effect.die(new Error("nothing was claimed"))
  yield* sql`update conversion_batch_jobs set prepare_started_at = now() - interval '126 minutes'
    where job_id = ${jobId}::uuid`
  return { ...made, claimed, jobId }
})

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8]
const atOnce = { concurrency: "unbounded" } as const
const wins = (answers: ReadonlyArray<boolean>) => answers.filter(Boolean).length

layer(laneWorld, { timeout: 60_000, excludeTestServices: true })("batch rows on PostgreSQL", (it) => {
  it.effect("many claim at once: a job has one row, and each claim made again is the same", () =>
    Effect.gen(function* () {
      yield* clean
      const jobs = yield* Effect.forEach([1, 2, 3], () => parked(3))
      const leases = EIGHT.map(() => randomUUID())
      // Two that looked at the same job at the same moment: one of them comes back with nothing, and asks again.
      const claimed = [
        ...(yield* Effect.forEach(leases, (lease) => claimAs(lease), atOnce)),
        ...(yield* Effect.forEach(leases, (lease) => claimAs(lease)))
      ].flatMap((one) => (one === undefined ? [] : [one]))
      assert.sameMembers(
        [...new Set(claimed.map(({ jobId }) => jobId))],
        jobs.map(({ jobId }) => jobId)
      )
      assert.strictEqual(new Set(claimed.map(({ id }) => id)).size, 3)
      assert.strictEqual(new Set(claimed.map(({ lease }) => lease)).size, 3)
    })
  )

  it.effect("the job that has waited longest is prepared first", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const jobs = yield* Effect.forEach([2, 3, 1], (hours) =>
        Effect.tap(
          parked(3),
          ({ jobId }) =>
            sql`update large_conversion_jobs set created_at = now() - ${hours}::float8 * interval '1 hour'
              where id = ${jobId}::uuid`
        )
      )
      const claimed = yield* Effect.forEach(jobs, () => claimAs(randomUUID()))
      assert.deepStrictEqual(
        claimed.map((one) => jobs.findIndex(({ jobId }) => jobId === one?.jobId)),
        [1, 0, 2]
      )
    })
  )

  it.effect("closing: one of many wins, one bill; a closed row stays as it is (B1, B2)", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* BatchStore
      const { claimed, jobId } = yield* submittedRow
      const ends = Effect.forEach(EIGHT, () => store.end(claimed.id, endWith(claimed.id, jobId)), atOnce)
      assert.strictEqual(wins(yield* ends), 1)
      const other = { ...endWith(claimed.id, jobId), outcome: "failed" as const, cost: undefined }
      assert.isFalse(yield* store.end(claimed.id, other))
      assert.isFalse(yield* store.drop(claimed, other))
      assert.isUndefined(yield* store.beginCollect(claimed.id))
      assert.isFalse(yield* store.giveUp(claimed.id, "late"))
      const row = yield* rowOf(jobId)
      assert.deepStrictEqual([row?.outcome, row?.close_reason], ["collected", "collected"])
      assert.lengthOf(yield* ledger, 1)
      assert.strictEqual((yield* jobOf(jobId)).options._batchCostUsd, 0.5)
    })
  )

  it.effect("only its preparer moves a row that is prepared; submitting again is answered as before", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* BatchStore
      const { claimed, job } = yield* submittedRow
      assert.isTrue(yield* store.submitted(claimed, job))
      assert.isFalse(yield* store.submitted({ ...claimed, lease: randomUUID() }, job))
      const next = yield* parked(3)
      const old = yield* claimAs(randomUUID(), randomUUID(), 1)
      const taken = yield* claimAs(randomUUID(), randomUUID(), 2)
      assert.deepStrictEqual([old?.jobId, taken?.jobId, taken?.foundOpen], [next.jobId, next.jobId, true])
      const input = { prefix: "p/", records: 1, shards: 1, bytes: 1, model: "m2", price: PRICE }
      assert.isFalse(yield* store.uploaded(old!, input))
      assert.isFalse(yield* store.submitted(old!, job))
      assert.isFalse(yield* store.drop(old!, { ...endWith(old!.id, next.jobId), cost: undefined }))
      assert.isTrue(yield* store.uploaded(taken!, input))
    })
  )

  it.effect("a due row goes to one driver", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* BatchStore
      yield* submittedRow
      const polls = yield* Effect.forEach(EIGHT, () => store.claimPolls(Duration.minutes(5), 10), atOnce)
      assert.strictEqual(polls.flat().length, 1)
    })
  )

  it.effect("a job is resumed once, whoever comes first: driver, owner, a second driver (X3)", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* BatchStore
      for (let round = 0; round < 10; round++) {
        const { jobId } = yield* parked(3)
        const answers = yield* Effect.all(
          [
            store.resume(jobId, { _batchPrimed: true }, WINDOW),
            Effect.map(store.makeInteractive(jobId, WINDOW), (answer) => answer === "resumed"),
            store.resume(jobId, {}, WINDOW)
          ],
          atOnce
        )
        assert.strictEqual(wins(answers), 1)
      }
    })
  )

  it.effect("B4: what has waited too long is released: unclaimed, preparing, submitted; nothing else", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const { jobId: submittedJob } = yield* submittedRow
      const fresh = yield* parked(3)
      assert.isUndefined(yield* release)
      const unclaimed = yield* parked(3)
      const finished = yield* parked(3)
      yield* sql`update conversion_batch_jobs set deadline_at = now() - interval '6 minutes'`
      yield* sql`insert into conversion_batch_jobs (job_id, state, outcome)
        values (${finished.jobId}::uuid, 'closed', 'collected')`
      yield* sql`update large_conversion_jobs set created_at = now() - interval '27 hours'
        where id in (${unclaimed.jobId}::uuid, ${finished.jobId}::uuid)`
      const released = [yield* release, yield* release]
      assert.sameMembers(released, [submittedJob, unclaimed.jobId])
      assert.isUndefined(yield* release)
      assert.strictEqual((yield* jobOf(finished.jobId)).status, "waiting_batch", "its results are there")
      assert.strictEqual((yield* jobOf(fresh.jobId)).status, "waiting_batch")
    })
  )

  it.effect("X3: a release meets a submission, a cancel, Process now, a close and another release", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* BatchStore
      const conversions = yield* ConversionStore
      const job = { arn: "arn:y", name: "n", pollIn: Duration.zero, giveUpIn: Duration.hours(26) }

      const submitting = yield* stuckRow
      assert.isUndefined(yield* whileOpen(store.submitted(submitting.claimed, job), release))
      const row = yield* rowOf(submitting.jobId)
      assert.deepStrictEqual(
        [row?.state, row?.close_reason],
        ["submitted", null],
        "it is on its way after all"
      )
      assert.strictEqual((yield* jobOf(submitting.jobId)).status, "waiting_batch")

      const cancelled = yield* stuckRow
      assert.isUndefined(yield* whileOpen(conversions.cancel(cancelled.jobId), release))
      assert.strictEqual((yield* jobOf(cancelled.jobId)).status, "cancelled")

      const dropped = yield* stuckRow
      const end = { ...endWith(dropped.claimed.id, dropped.jobId), cost: undefined }
      assert.isUndefined(yield* whileOpen(store.drop(dropped.claimed, end), release))
      assert.strictEqual((yield* jobOf(dropped.jobId)).status, "waiting_batch", "its driver resumes it")

      for (let round = 0; round < 10; round++) {
        const { jobId } = yield* stuckRow
        const answers = yield* Effect.all(
          [
            Effect.map(release, (id) => id === jobId),
            Effect.map(release, (id) => id === jobId),
            Effect.map(store.makeInteractive(jobId, WINDOW), (answer) => answer === "resumed")
          ],
          atOnce
        )
        assert.strictEqual(wins(answers), 1)
        assert.strictEqual((yield* jobOf(jobId)).status, "pending")
      }
    })
  )

  it.effect("model and price stay with the records, from their upload by whoever prepares the row", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* BatchStore
      yield* parked(3)
      const old = (yield* claimAs(randomUUID(), randomUUID(), 1))!
      const taken = (yield* claimAs(randomUUID(), randomUUID(), 2))!
      const input = { prefix: "p/", records: 1, shards: 2, bytes: 1, model: "m2", price: PRICE }
      const late = { ...input, model: "m3", price: { inputUsdPerMtok: 7, outputUsdPerMtok: 7 } }
      assert.isFalse(yield* whileOpen(store.uploaded(taken, input), store.uploaded(old, late)))
      const again = (yield* claimAs(randomUUID(), randomUUID(), 3))!
      assert.deepStrictEqual([again.model, again.inputPrefix], ["m2", "p/"])
      const job = { arn: "arn:z", name: "n", pollIn: Duration.zero, giveUpIn: Duration.hours(26) }
      yield* store.submitted(again, job)
      const [polled] = yield* store.claimPolls(Duration.minutes(5), 10)
      assert.deepStrictEqual([polled?.model, polled?.price, polled?.shards], ["m2", PRICE, 2])
    })
  )

  it.effect("cancel against claim, submit, close and Process now: never stuck, never lost (X1, X2)", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const store = yield* BatchStore
      const conversions = yield* ConversionStore
      for (let round = 0; round < 15; round++) {
        const { claimed, jobId } = yield* submittedRow
        const fresh = yield* parked(3)
        yield* Effect.all(
          [
            conversions.cancel(jobId),
            store.makeInteractive(jobId, WINDOW),
            store.end(claimed.id, endWith(claimed.id, jobId)),
            conversions.cancel(fresh.jobId),
            claimAs(randomUUID())
          ],
          atOnce
        )
        assert.strictEqual((yield* jobOf(jobId)).status, "cancelled")
        assert.deepStrictEqual((yield* jobOf(jobId)).chunks, ["cancelled"])
        assert.strictEqual((yield* jobOf(fresh.jobId)).status, "cancelled")
        yield* sql`delete from conversion_batch_jobs where state = 'preparing'`
      }
      const held = yield* sql`select count(*)::int as n from funds_holds where state = 'held'`
      assert.deepStrictEqual(held, [{ n: 0 }])
    })
  )
})
