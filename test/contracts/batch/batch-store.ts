/**
 * `BatchStore`: a job has one row, which moves forward only; of many that close or resume it one wins, and it is billed once.
 *
 * Adapters: memory, postgres. Rules: B1, B2, B4, X1, X2, X3, BATCH-10, BATCH-30, BATCH-40, BATCH-41.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { whenUserActs } from "../../../src/domain/batch/row.ts"
import type { JobId, LeaseId } from "../../../src/domain/ids.ts"
import { type BatchEnd, BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../support/any-id.ts"
import { clean, cost, DocumentsWorld, fileOf, parked, WINDOW } from "../conversion/documents-world.ts"

export const PRICE = { inputUsdPerMtok: 1, outputUsdPerMtok: 2 }

/** What was left `preparing`, else the oldest parked job. */
export const claimAs = (lease: LeaseId, preparer = anyId(), term = 1) =>
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

/** A claim that finds something. */
const claimed = Effect.flatMap(
  Effect.suspend(() => claimAs(anyId())),
  (one) => (one === undefined ? Effect.die(new Error("nothing was claimed")) : Effect.succeed(one))
)

export const endWith = (id: string, jobId: JobId): BatchEnd => ({
  outcome: "collected",
  reason: "collected",
  endState: "Completed",
  accepted: 3,
  fallback: 0,
  cost: { ...cost(jobId, 0.5), id, source: "batch", metadata: { batch: true } }
})

export const JOB = { arn: "arn:x", name: "n", pollIn: Duration.zero, giveUpIn: Duration.hours(26) }

const submittedRow = Effect.gen(function* () {
  const store = yield* BatchStore
  const { jobId } = yield* parked(3)
  const row = yield* claimed
  yield* store.submitted(row, JOB)
  return { claimed: row, jobId }
})

export const release = BatchStore.use((store) =>
  store.releaseOverdue({
    giveUpIn: Duration.hours(26),
    stuckAfter: Duration.hours(2),
    slack: Duration.minutes(5),
    window: WINDOW
  })
)

/** A job whose row has been `preparing` for too long. */
export const stuckRow = Effect.gen(function* () {
  const world = yield* DocumentsWorld
  const { jobId, ...made } = yield* parked(3)
  const row = yield* claimed
  yield* world.setBatchRow(jobId, { preparedFor: Duration.minutes(126) })
  return { ...made, claimed: row, jobId }
})

/** Status and options of a job, and the statuses of its chunks. */
export const jobOf = Effect.fnUntraced(function* (jobId: JobId) {
  const world = yield* DocumentsWorld
  const { options, status } = yield* world.job(jobId)
  const chunks = [...new Set((yield* world.chunks(jobId)).map((chunk) => chunk.status))]
  return { status, options, chunks }
})

export const rowOf = (jobId: JobId) => DocumentsWorld.use((world) => world.batchRow(jobId))
const ledger = DocumentsWorld.use((world) => world.ledger)

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8]
const atOnce = { concurrency: "unbounded" } as const
export const wins = (answers: ReadonlyArray<boolean>) => answers.filter(Boolean).length

type Stores = BatchStore | ConversionStore | DocumentsWorld

const claims = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores, { timeout: 60_000 })(`batch rows, prepared and submitted: ${name}`, (it) => {
    it.effect("many claim at once: a job has one row, and each claim made again is the same", () =>
      Effect.gen(function* () {
        yield* clean
        const jobs = yield* Effect.forEach([1, 2, 3], () => parked(3))
        const leases = EIGHT.map(() => anyId())
        // Two that looked at the same job at the same moment: one of them comes back with nothing, and asks again.
        const all = [
          ...(yield* Effect.forEach(leases, (lease) => claimAs(lease), atOnce)),
          ...(yield* Effect.forEach(leases, (lease) => claimAs(lease)))
        ].flatMap((one) => (one === undefined ? [] : [one]))
        assert.sameMembers(
          [...new Set(all.map(({ jobId }) => jobId))],
          jobs.map(({ jobId }) => jobId)
        )
        assert.strictEqual(new Set(all.map(({ id }) => id)).size, 3)
        assert.strictEqual(new Set(all.map(({ lease }) => lease)).size, 3)
      })
    )

    it.effect("the job that has waited longest is prepared first", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const jobs = yield* Effect.forEach([2, 3, 1], (hours) =>
          Effect.tap(parked(3), ({ jobId }) => world.setJob(jobId, { age: Duration.hours(hours) }))
        )
        const order = yield* Effect.forEach(jobs, () => claimAs(anyId()))
        assert.deepStrictEqual(
          order.map((one) => jobs.findIndex(({ jobId }) => jobId === one?.jobId)),
          [1, 0, 2]
        )
      })
    )

    it.effect("only its preparer moves a row that is prepared; submitting again is answered as before", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* BatchStore
        const { claimed: first } = yield* submittedRow
        assert.isTrue(yield* store.submitted(first, JOB))
        assert.isFalse(yield* store.submitted({ ...first, lease: anyId() }, JOB))
        const next = yield* parked(3)
        const old = yield* claimAs(anyId(), anyId(), 1)
        const taken = yield* claimAs(anyId(), anyId(), 2)
        assert.deepStrictEqual([old?.jobId, taken?.jobId, taken?.foundOpen], [next.jobId, next.jobId, true])
        const input = { prefix: "p/", records: 1, shards: 1, bytes: 1, model: "m2", price: PRICE }
        assert.isFalse(yield* store.uploaded(old!, input))
        assert.isFalse(yield* store.submitted(old!, JOB))
        assert.isFalse(yield* store.drop(old!, { ...endWith(old!.id, next.jobId), cost: undefined }))
        assert.isTrue(yield* store.uploaded(taken!, input))
      })
    )

    it.effect(
      "a row that is left preparing is taken over: by a later leader, by its own process, once stuck",
      () =>
        Effect.gen(function* () {
          yield* clean
          const world = yield* DocumentsWorld
          const { fileId, jobId, owner } = yield* parked(3)
          const [lease, preparer] = [anyId(), anyId()]
          const first = yield* claimAs(lease, preparer, 1)
          assert.deepInclude(first, {
            jobId,
            foundOpen: false,
            stuck: false,
            waiting: true,
            abandoned: false,
            model: "m1",
            inputPrefix: null,
            closeReason: null,
            totalPages: 3,
            objectKey: (yield* fileOf(fileId, owner)).objectKey
          })
          assert.deepStrictEqual(yield* claimAs(lease, preparer, 1), { ...first!, foundOpen: true })
          assert.isUndefined(yield* claimAs(anyId(), anyId(), 1), "its preparer is alive")
          assert.isFalse((yield* claimAs(anyId(), preparer, 1))?.stuck)
          assert.isFalse((yield* claimAs(anyId(), anyId(), 2))?.stuck)
          yield* world.setBatchRow(jobId, { preparedFor: Duration.minutes(121) })
          assert.isTrue((yield* claimAs(anyId(), anyId(), 2))?.stuck)
          yield* world.setJob(jobId, { age: Duration.hours(51) })
          const late = yield* claimAs(anyId(), anyId(), 3)
          assert.deepStrictEqual([late?.stuck, late?.abandoned], [false, true])
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

    it.effect("a poll says whether the row's time is over", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const store = yield* BatchStore
        const { jobId } = yield* submittedRow
        const poll = Effect.map(store.claimPolls(Duration.zero, 10), ([one]) => [
          one?.overdue,
          one?.abandoned
        ])
        assert.deepStrictEqual(yield* poll, [false, false])
        yield* world.setBatchRow(jobId, { overdueFor: Duration.hours(1) })
        assert.deepStrictEqual(yield* poll, [true, false])
        yield* world.setBatchRow(jobId, { overdueFor: Duration.hours(25) })
        assert.deepStrictEqual(yield* poll, [true, true])
      })
    )

    it.effect(
      "model and price stay with the records, from their upload by the driver that prepares the row",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* BatchStore
          yield* parked(3)
          const old = (yield* claimAs(anyId(), anyId(), 1))!
          const taken = (yield* claimAs(anyId(), anyId(), 2))!
          const input = { prefix: "p/", records: 1, shards: 2, bytes: 1, model: "m2", price: PRICE }
          const late = { ...input, model: "m3", price: { inputUsdPerMtok: 7, outputUsdPerMtok: 7 } }
          assert.isTrue(yield* store.uploaded(taken, input))
          assert.isFalse(yield* store.uploaded(old, late))
          const again = (yield* claimAs(anyId(), anyId(), 3))!
          assert.deepStrictEqual([again.model, again.inputPrefix], ["m2", "p/"])
          yield* store.submitted(again, { ...JOB, arn: "arn:z" })
          const [polled] = yield* store.claimPolls(Duration.minutes(5), 10)
          assert.deepStrictEqual([polled?.model, polled?.price, polled?.shards], ["m2", PRICE, 2])
        })
    )
  })

const ends = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores, { timeout: 60_000 })(`batch rows, closed and resumed: ${name}`, (it) => {
    it.effect("closing: one of many wins, one bill; a closed row stays as it is (B1, B2)", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* BatchStore
        const { claimed: row, jobId } = yield* submittedRow
        const closes = Effect.forEach(EIGHT, () => store.end(row.id, endWith(row.id, jobId)), atOnce)
        assert.strictEqual(wins(yield* closes), 1)
        const other = { ...endWith(row.id, jobId), outcome: "failed" as const, cost: undefined }
        assert.isFalse(yield* store.end(row.id, other))
        assert.isFalse(yield* store.drop(row, other))
        assert.isUndefined(yield* store.beginCollect(row.id))
        assert.isFalse(yield* store.giveUp(row.id, "late"))
        const seen = yield* rowOf(jobId)
        assert.deepStrictEqual([seen?.outcome, seen?.closeReason], ["collected", "collected"])
        assert.lengthOf(yield* ledger, 1)
        assert.strictEqual((yield* jobOf(jobId)).options._batchCostUsd, 0.5)
      })
    )

    it.effect(
      "a closed row whose job still waits is stranded, until the job is resumed with its results",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* BatchStore
          const { claimed: row, jobId } = yield* submittedRow
          assert.deepStrictEqual(
            [yield* store.beginCollect(row.id), yield* store.beginCollect(row.id)],
            [1, 2]
          )
          assert.deepStrictEqual(yield* store.stranded, [])
          yield* store.end(row.id, endWith(row.id, jobId))
          assert.deepStrictEqual(yield* store.stranded, [{ jobId, outcome: "collected", costUsd: 0.5 }])
          assert.isTrue(yield* store.resume(jobId, { _batchPrimed: true }, WINDOW))
          assert.isFalse(yield* store.resume(jobId, {}, WINDOW))
          assert.deepStrictEqual(yield* store.stranded, [])
          const { chunks, options, status } = yield* jobOf(jobId)
          assert.deepStrictEqual([status, chunks], ["pending", ["pending"]])
          assert.deepStrictEqual(options, { highFidelity: true, _batchPrimed: true, _batchCostUsd: 0.5 })
          assert.isFalse(yield* store.isOrphan(row.id, "arn:x"))
          assert.isTrue(yield* store.isOrphan(row.id, "arn:unseen"))
        })
    )

    it.effect("what a batch job cost is in its job's total, once, whenever the job ends", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const conversions = yield* ConversionStore
        const store = yield* BatchStore
        const { claimed: row, jobId } = yield* submittedRow
        yield* conversions.bookCosts([cost(jobId, 0.25)])
        yield* conversions.cancel(jobId)
        assert.strictEqual((yield* world.job(jobId)).totalCostUsd, 0.25)
        assert.strictEqual(yield* store.toStop(jobId), "arn:x")
        assert.isTrue(yield* store.end(row.id, endWith(row.id, jobId)))
        assert.strictEqual((yield* world.job(jobId)).totalCostUsd, 0.75)
        assert.isUndefined(yield* store.toStop(jobId))
      })
    )

    it.effect("a job is resumed once, whichever comes first: driver, owner, a second driver (X3)", () =>
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
        const world = yield* DocumentsWorld
        const { jobId: submittedJob } = yield* submittedRow
        const fresh = yield* parked(3)
        assert.isUndefined(yield* release)
        const unclaimed = yield* parked(3)
        const finished = yield* parked(3)
        yield* world.setBatchRow(submittedJob, { overdueFor: Duration.minutes(6) })
        yield* world.addBatchRow(finished.jobId, "closed")
        yield* world.setJob(unclaimed.jobId, { age: Duration.hours(27) })
        yield* world.setJob(finished.jobId, { age: Duration.hours(27) })
        const released = [yield* release, yield* release]
        assert.sameMembers(released, [submittedJob, unclaimed.jobId])
        assert.isUndefined(yield* release)
        assert.strictEqual((yield* jobOf(finished.jobId)).status, "waiting_batch", "its results are there")
        assert.strictEqual((yield* jobOf(fresh.jobId)).status, "waiting_batch")
        yield* clean
        const { jobId: stuck } = yield* stuckRow
        assert.strictEqual(yield* release, stuck)
        const row = yield* rowOf(stuck)
        assert.deepStrictEqual([row?.state, row?.closeReason], ["preparing", "preparing it got stuck"])
      })
    )

    it.effect("X3: two releases and Process now: one of them resumes the job", () =>
      Effect.gen(function* () {
        const store = yield* BatchStore
        for (let round = 0; round < 10; round++) {
          yield* clean
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

    it.effect("cancel against claim, submit, close and Process now: never stuck, never lost (X1, X2)", () =>
      Effect.gen(function* () {
        const world = yield* DocumentsWorld
        const store = yield* BatchStore
        const conversions = yield* ConversionStore
        for (let round = 0; round < 15; round++) {
          yield* clean
          const { claimed: row, jobId } = yield* submittedRow
          const fresh = yield* parked(3)
          yield* Effect.all(
            [
              conversions.cancel(jobId),
              store.makeInteractive(jobId, WINDOW),
              store.end(row.id, endWith(row.id, jobId)),
              conversions.cancel(fresh.jobId),
              claimAs(anyId())
            ],
            atOnce
          )
          assert.strictEqual((yield* jobOf(jobId)).status, "cancelled")
          assert.deepStrictEqual((yield* jobOf(jobId)).chunks, ["cancelled"])
          assert.strictEqual((yield* jobOf(fresh.jobId)).status, "cancelled")
          for (const id of [jobId, fresh.jobId])
            assert.strictEqual((yield* world.hold(id))?.state, "released")
        }
      })
    )

    it.effect("objects of a closed row go once its job has ended: some time later, or with its file", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const store = yield* BatchStore
        const conversions = yield* ConversionStore
        const after = Duration.days(7)
        const kept = yield* parked(3)
        const deleted = yield* parked(3)
        yield* conversions.cancel(kept.jobId)
        yield* conversions.deleteFile(deleted.fileId, deleted.owner)
        const purgeable = Effect.map(store.toPurge(after, 10), (rows) => rows.map(({ jobId }) => jobId))
        assert.deepStrictEqual(yield* purgeable, [deleted.jobId])
        yield* world.setBatchRow(kept.jobId, { closedFor: Duration.days(8) })
        assert.deepStrictEqual(yield* purgeable, [kept.jobId, deleted.jobId])
        yield* store.purged((yield* rowOf(kept.jobId))!.id)
        assert.deepStrictEqual(yield* purgeable, [deleted.jobId])
      })
    )
  })

const acts = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores, { timeout: 60_000 })(`what an owner does to a batch row: ${name}`, (it) => {
    for (const found of ["none", "preparing", "submitted", "closed"] as const) {
      const act = whenUserActs(found)
      const made = Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const ids = yield* parked(3)
        if (found !== "none") yield* world.addBatchRow(ids.jobId, found)
        return ids
      })

      it.effect(`Process now on a row that is ${found}`, () =>
        Effect.gen(function* () {
          const { jobId } = yield* made
          const store = yield* BatchStore
          const answer = yield* store.makeInteractive(jobId, WINDOW)
          assert.strictEqual(answer, found === "closed" ? "closed" : "resumed")
          const row = yield* rowOf(jobId)
          assert.deepStrictEqual(
            [row?.state, row?.closeReason],
            [act.state, act.reason ? "user chose interactive" : null]
          )
          if (found !== "closed")
            assert.strictEqual(yield* store.makeInteractive(jobId, WINDOW), "not_waiting")
        })
      )

      for (const [by, reason] of [
        ["cancel", "Cancelled by user"],
        ["delete", "Cancelled: the source file was deleted"]
      ] as const)
        it.effect(`${by} on a row that is ${found}`, () =>
          Effect.gen(function* () {
            const { fileId, jobId, owner } = yield* made
            const store = yield* ConversionStore
            yield* by === "cancel" ? store.cancel(jobId) : store.deleteFile(fileId, owner)
            const row = yield* rowOf(jobId)
            assert.deepStrictEqual([row?.state, row?.closeReason], [act.state, act.reason ? reason : null])
            const outcome = found === "none" ? "skipped" : found === "closed" ? "collected" : null
            assert.strictEqual(row?.outcome, outcome)
            const { chunks, status } = yield* jobOf(jobId)
            assert.deepStrictEqual([status, chunks], ["cancelled", ["cancelled"]])
          })
        )
    }
  })

/** What every batch store does with its rows. */
export const suite = (name: string, stores: Layer.Layer<Stores>) => {
  claims(name, stores)
  ends(name, stores)
  acts(name, stores)
}
