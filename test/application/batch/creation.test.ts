import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { createQueuedJobs } from "../../../src/application/conversion/conversions.ts"
import type { JobOptions } from "../../../src/domain/conversion/job.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { customer } from "../../adapters/postgres/conversion/world.ts"
import { pdf, WINDOW } from "../../contracts/conversion/documents-world.ts"
import { anyId } from "../../support/any-id.ts"
import { clean, jobOf, laneWorld } from "./world/world.ts"

/** A conversion that waits in the queue `convert`. */
const queued = Effect.fnUntraced(function* (pages: number, options: JobOptions) {
  const store = yield* ConversionStore
  const customerId = yield* customer(1000)
  const fileId = yield* pdf(customerId, pages)
  const jobId = anyId()
  yield* store.request({ jobId, fileId, customerId, options, window: WINDOW })
  return jobId
})

/** What the executor makes of a large one, a small one, a bulk item, one with too few pages for any batch job, an urgent one and one that is not hi-fi. */
const made = Effect.fnUntraced(function* (on: boolean) {
  yield* clean
  const hifi = { highFidelity: true }
  const jobs = yield* Effect.all([
    queued(6, hifi),
    queued(5, hifi),
    queued(2, { ...hifi, _batchLane: true }),
    queued(1, { ...hifi, _batchLane: true }),
    queued(1, hifi),
    queued(6, {})
  ])
  yield* createQueuedJobs({ on, minPages: 6, minRecords: 2 })
  return yield* Effect.forEach(jobs, (id) =>
    Effect.map(jobOf(id), ({ chunks, phase, status }) => [status, ...chunks, phase])
  )
})

const waits = ["waiting_batch", "waiting_batch", "Waiting for batch"]
const goes = ["pending", "pending", "Queued: 0/1 chunks"]

layer(laneWorld, { excludeTestServices: true })("the convert executor", (it) => {
  it.effect("lane on: what can be batched waits for the batch, job and chunks; the others do not", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* made(true), [waits, goes, waits, goes, goes, goes])
    })
  )

  it.effect("lane off: nobody waits", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* made(false), [goes, goes, goes, goes, goes, goes])
    })
  )
})
