import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, cost, DocumentsWorld, parked, WINDOW } from "../../conversion/documents-world.ts"
import {
  atOnce,
  claimAs,
  EIGHT,
  endWith,
  jobOf,
  ledger,
  release,
  rowOf,
  type Stores,
  stuckRow,
  submittedRow,
  wins
} from "./rows.ts"

/** Rows that are closed and jobs that are resumed: one of many wins. */
export const closed = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`batch rows, closed and resumed: ${name}`, (it) => {
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
        yield* world.setBatchRow(finished.jobId, { overdueFor: Duration.hours(2) })
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
