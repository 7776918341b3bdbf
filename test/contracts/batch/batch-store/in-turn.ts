import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  clean,
  customer,
  DocumentsWorld,
  job,
  parked,
  pdf,
  WINDOW
} from "../../conversion/documents-world.ts"
import { claimAs, claimFrom, endWith, JOB, jobOf, PRICE, release, type Stores, submittedRow } from "./rows.ts"

const INPUT = { prefix: "p/", records: 3, shards: 1, bytes: 1, model: "m1", price: PRICE }
const OVERDUE = { preparedFor: Duration.minutes(126) }

/** Parked jobs, the first one the newest. */
const parkedFor = (hours: ReadonlyArray<number>) =>
  Effect.forEach(hours, (count) =>
    Effect.tap(parked(3), ({ jobId }) =>
      DocumentsWorld.use((world) => world.setJob(jobId, { age: Duration.hours(count) }))
    )
  )

/** Which row is whose turn, and how long what it has lasts. */
export const inTurn = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`batch rows in their turn: ${name}`, (it) => {
    it.effect("a claim looks in one place; a lease whose row is submitted claims something else", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* BatchStore
        const preparer = anyId()
        const first = yield* parked(3)
        const claimed = (yield* claimFrom("parked", anyId(), preparer))!
        assert.strictEqual(claimed.jobId, first.jobId)
        const second = yield* parked(3)
        assert.isUndefined(yield* claimFrom("open", anyId()), "what is parked is not open")
        const other = yield* claimFrom("parked", anyId(), preparer)
        assert.strictEqual(other?.jobId, second.jobId, "what its own process left open is not parked")
        yield* store.submitted(claimed, JOB)
        assert.isUndefined(yield* claimFrom("parked", claimed.lease, preparer))
      })
    )

    it.effect("what was left longest ago is taken over first, by one of two leaders' processes", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const store = yield* BatchStore
        const jobs = [yield* parked(3), yield* parked(3)]
        const preparer = anyId()
        const first = (yield* claimFrom("parked", anyId(), preparer))!
        yield* claimFrom("parked", anyId(), preparer)
        yield* store.uploaded(first, INPUT)
        const claims: Array<string | undefined> = []
        const claim = Effect.suspend(() => claimFrom("open", anyId(), anyId(), 2)).pipe(
          Effect.map((one) => void claims.push(one?.jobId)),
          Effect.provideService(BatchStore, store)
        )
        yield* world.whileOpen(claim, claim)
        assert.deepStrictEqual(
          claims,
          jobs.map(({ jobId }) => jobId)
        )
      })
    )

    it.effect("BATCH-15: a new leader's prepare begins anew, another attempt of its own does not", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const { jobId } = yield* parked(3)
        const preparer = anyId()
        yield* claimAs(anyId(), preparer, 1)
        yield* world.setBatchRow(jobId, OVERDUE)
        yield* claimAs(anyId(), preparer, 2)
        assert.isUndefined(yield* release)
        yield* world.setBatchRow(jobId, OVERDUE)
        yield* claimAs(anyId(), preparer, 2)
        assert.strictEqual(yield* release, jobId)
      })
    )

    it.effect("a parked job that ends while it is claimed gets no row", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const conversions = yield* ConversionStore
        const { jobId } = yield* parked(3)
        const claimed = yield* world.whileOpen(
          conversions.failJob(jobId, "it ended"),
          Effect.provideService(claimFrom("parked", anyId()), BatchStore, yield* BatchStore)
        )
        assert.isUndefined(claimed)
        assert.isUndefined(yield* world.batchRow(jobId))
      })
    )

    it.effect("BATCH-10: jobs that do not wait for the lane are in the way of none that does", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const owner = yield* customer(100)
        const interactive = yield* job(owner, yield* pdf(owner, 3))
        const waiting = yield* parkedFor([1, 3, 2])
        yield* world.setJob(interactive, { age: Duration.hours(4) })
        const budget = { dailyUsd: 100, pageUsd: 0.1 }
        const [newest, oldest, middle] = waiting.map(({ jobId }) => jobId)
        assert.strictEqual((yield* claimFrom("parked", anyId(), anyId(), 1, budget))?.jobId, oldest)
        assert.strictEqual((yield* claimFrom("parked", anyId()))?.jobId, middle)
        assert.strictEqual((yield* claimFrom("parked", anyId(), anyId(), 1, budget))?.jobId, newest)
      })
    )

    it.effect(
      "BATCH-10, BATCH-17: its funds stay set aside for as long as it may wait, then for 90 minutes",
      () =>
        Effect.gen(function* () {
          yield* clean
          const world = yield* DocumentsWorld
          const store = yield* BatchStore
          const { jobId } = yield* parked(3)
          const minutes = Effect.map(world.hold(jobId), (hold) => Math.round(hold?.minutes ?? 0))
          yield* world.lapsesIn(jobId, 10)
          yield* claimFrom("parked", anyId())
          assert.approximately(yield* minutes, 28 * 60, 1)
          yield* store.resume(jobId, {}, WINDOW)
          assert.approximately(yield* minutes, 90, 1)
        })
    )

    it.effect("BATCH-17: a chunk that does not wait is left as it is by a resume", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const store = yield* BatchStore
        const { jobId } = yield* parked(3)
        const [done] = yield* world.chunks(jobId)
        yield* world.setChunk(done!.id, { status: "completed" })
        assert.isTrue(yield* store.resume(jobId, {}, WINDOW))
        assert.deepStrictEqual((yield* jobOf(jobId)).chunks, ["completed", "pending"])
      })
    )

    it.effect("BATCH-17: stranded jobs are resumed in the order in which they were asked for", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const store = yield* BatchStore
        const jobs = yield* parkedFor([1, 3, 2])
        yield* Effect.forEach(jobs, ({ jobId }) => world.addBatchRow(jobId, "closed"))
        const found = (yield* store.stranded).map(({ jobId }) =>
          jobs.findIndex((each) => each.jobId === jobId)
        )
        assert.deepStrictEqual(found, [1, 2, 0])
      })
    )

    it.effect("a submitted row keeps its batch job; one that is closed is not submitted again", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* BatchStore
        const { claimed: row, jobId } = yield* submittedRow
        assert.isTrue(yield* store.submitted(row, { ...JOB, arn: "arn:other" }))
        const [polled] = yield* store.claimPolls(Duration.zero, 10)
        assert.strictEqual(polled?.arn, "arn:x")
        assert.isFalse(yield* store.uploaded(row, { ...INPUT, records: 99 }), "its records are submitted")
        yield* store.end(row.id, endWith(row.id, jobId))
        assert.isFalse(yield* store.submitted(row, JOB))
        assert.deepStrictEqual(yield* store.claimPolls(Duration.zero, 10), [])
      })
    )

    it.effect(
      "BATCH-14: a row is polled some time after its submission, at once where it is to be stopped",
      () =>
        Effect.gen(function* () {
          yield* clean
          const store = yield* BatchStore
          const [kept, stopped] = [yield* parked(3), yield* parked(3)]
          const rows = [(yield* claimFrom("parked", anyId()))!, (yield* claimFrom("parked", anyId()))!]
          yield* store.makeInteractive(stopped.jobId, WINDOW)
          for (const row of rows) yield* store.submitted(row, { ...JOB, pollIn: Duration.hours(1) })
          const polled = yield* store.claimPolls(Duration.minutes(5), 10)
          assert.deepStrictEqual(
            polled.map(({ jobId }) => jobId),
            [stopped.jobId]
          )
          assert.notStrictEqual(kept.jobId, stopped.jobId)
        })
    )

    it.effect("BATCH-14: of rows that are due, those come first that have been for longest", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* BatchStore
        const rows = [yield* submittedRow, yield* submittedRow, yield* submittedRow]
        // The oldest row has just been polled: it comes last.
        yield* store.claimPolls(Duration.zero, 1)
        yield* store.beginCollect(rows[1]!.claimed.id)
        const polled = yield* Effect.forEach(rows, () => store.claimPolls(Duration.hours(1), 1))
        assert.deepStrictEqual(
          polled.flat().map(({ jobId }) => jobId),
          [1, 2, 0].map((at) => rows[at]!.jobId)
        )
      })
    )

    it.effect(
      "BATCH-44: objects are kept while a row is open, and go in the order in which rows were closed",
      () =>
        Effect.gen(function* () {
          yield* clean
          const world = yield* DocumentsWorld
          const store = yield* BatchStore
          const conversions = yield* ConversionStore
          const { claimed: row, jobId } = yield* submittedRow
          const files = [yield* parked(3), yield* parked(3), yield* parked(3)] as const
          for (const [at, { jobId: each }] of files.entries()) {
            yield* world.addBatchRow(each, "closed")
            yield* world.setBatchRow(each, { closedFor: Duration.days([9, 8, 10][at] ?? 0) })
            yield* world.setJob(each, {
              status: (["completed", "failed", "cancelled"] as const)[at] ?? "failed"
            })
          }
          const open = yield* parked(3)
          yield* world.addBatchRow(open.jobId, "submitted")
          yield* conversions.deleteFile(open.fileId, open.owner)
          yield* conversions.cancel(jobId)
          yield* store.end(row.id, endWith(row.id, jobId))
          const purgeable = (limit: number) =>
            Effect.map(store.toPurge(Duration.days(7), limit), (rows) => rows.map((each) => each.jobId))
          const [second, third, first] = files
          assert.deepStrictEqual(yield* purgeable(10), [first.jobId, second.jobId, third.jobId])
          assert.deepStrictEqual(yield* purgeable(1), [first.jobId])
        })
    )
  })
