import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { BatchStore } from "../../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, cost, DocumentsWorld, fileOf, parked } from "../../conversion/documents-world.ts"
import {
  atOnce,
  claimAs,
  EIGHT,
  endWith,
  JOB,
  jobOf,
  PRICE,
  release,
  type Stores,
  submittedRow
} from "./rows.ts"

/** Rows that are prepared and submitted: each claimed by one, moved by its owner alone. */
export const prepared = (name: string, stores: Layer.Layer<Stores>) =>
  suiteLayer(stores)(`batch rows, prepared and submitted: ${name}`, (it) => {
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

    it.effect("an uploaded row waits for its turn at a full service, and is not stuck while it does", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const store = yield* BatchStore
        const jobs = [yield* parked(3), yield* parked(3)]
        const preparer = anyId()
        const first = (yield* claimAs(anyId(), preparer, 1))!
        const input = { prefix: "p/", records: 3, shards: 1, bytes: 1, model: "m1", price: PRICE }
        yield* store.uploaded(first, input)
        const second = (yield* claimAs(anyId(), anyId(), 1))!
        for (const { jobId } of jobs) yield* world.setBatchRow(jobId, { preparedFor: Duration.minutes(126) })
        yield* store.serviceFull
        // What is not uploaded is being prepared, and does not wait for the service.
        assert.strictEqual(yield* release, second.jobId)
        assert.isUndefined(yield* release)
        assert.deepStrictEqual((yield* jobOf(first.jobId)).status, "waiting_batch")
        const taken = yield* claimAs(anyId(), preparer, 1)
        assert.deepStrictEqual([taken?.jobId, taken?.stuck], [first.jobId, false])
        // Its deadline is the job's.
        yield* world.setJob(first.jobId, { age: Duration.hours(27) })
        assert.strictEqual(yield* release, first.jobId)
      })
    )

    it.effect("DOC-22: with a daily budget, a parked job is claimed where there is room for its pages", () =>
      Effect.gen(function* () {
        yield* clean
        const store = yield* BatchStore
        const conversions = yield* ConversionStore
        const [large, small] = [yield* parked(30), yield* parked(3)]
        const budget = { dailyUsd: 1, pageUsd: 0.1 }
        const claim = (changes: Partial<typeof budget> = {}) =>
          claimAs(anyId(), anyId(), 1, { ...budget, ...changes })
        assert.isUndefined(yield* claim({ dailyUsd: 0.2 }))
        const first = (yield* claim())!
        assert.strictEqual(first.jobId, small.jobId, "the older one has no room")
        assert.isUndefined(yield* claim({ dailyUsd: 3.2 }), "what is prepared is not billed yet")
        const input = { prefix: "p/", records: 3, shards: 1, bytes: 1, model: "m1", price: PRICE }
        yield* store.uploaded(first, input)
        yield* store.submitted(first, JOB)
        assert.isUndefined(yield* claim({ dailyUsd: 3.2 }), "nor is what is submitted")
        yield* store.end(first.id, {
          ...endWith(first.id, small.jobId),
          cost: { ...endWith(first.id, small.jobId).cost!, costUsd: 0.3 }
        })
        yield* conversions.bookCosts([cost(large.jobId, 0.5)])
        assert.isUndefined(yield* claim({ dailyUsd: 3.7 }), "models cost 0.8 today")
        // A page costs what the records of the last batch jobs did, whatever was assumed.
        assert.isUndefined(yield* claim({ dailyUsd: 3.7, pageUsd: 0.001 }))
        assert.strictEqual((yield* claim({ dailyUsd: 3.81 }))?.jobId, large.jobId)
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
