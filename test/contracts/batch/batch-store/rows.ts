import { Duration, Effect } from "effect"

import type { JobId, LeaseId } from "../../../../src/domain/ids.ts"
import { type BatchEnd, BatchStore, type LaneBudget } from "../../../../src/ports/batch/batch-store.ts"
import type { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { cost, DocumentsWorld, parked, WINDOW } from "../../conversion/documents-world.ts"

/** What a model costs. */
export const PRICE = { inputUsdPerMtok: 1, outputUsdPerMtok: 2 }

/** A claim from one place: of what was left `preparing`, or of what is parked. */
export const claimFrom = (
  take: "open" | "parked",
  lease: LeaseId,
  preparer = anyId(),
  term = 1,
  budget?: LaneBudget
) =>
  BatchStore.use((store) =>
    store.claim({
      take,
      lease,
      preparer,
      term,
      model: "m1",
      stuckAfter: Duration.hours(2),
      window: Duration.hours(28),
      giveUpIn: Duration.hours(26),
      budget
    })
  )

/** What was left `preparing`, else the oldest parked job. */
export const claimAs = (lease: LeaseId, preparer = anyId(), term = 1, budget?: LaneBudget) =>
  Effect.flatMap(claimFrom("open", lease, preparer, term, budget), (open) =>
    open === undefined ? claimFrom("parked", lease, preparer, term, budget) : Effect.succeed(open)
  )

/** A claim that finds something. */
export const claimed = Effect.flatMap(
  Effect.suspend(() => claimAs(anyId())),
  (one) => (one === undefined ? Effect.die(new Error("nothing was claimed")) : Effect.succeed(one))
)

/** The end of a row that was collected. */
export const endWith = (id: string, jobId: JobId): BatchEnd => ({
  outcome: "collected",
  reason: "collected",
  endState: "Completed",
  accepted: 3,
  fallback: 0,
  cost: { ...cost(jobId, 0.5), id, source: "batch", metadata: { batch: true } }
})

/** A job at the batch service. */
export const JOB = { arn: "arn:x", name: "n", pollIn: Duration.zero, giveUpIn: Duration.hours(26) }

/** A job whose row was submitted. */
export const submittedRow = Effect.gen(function* () {
  const store = yield* BatchStore
  const { jobId } = yield* parked(3)
  const row = yield* claimed
  yield* store.submitted(row, JOB)
  return { claimed: row, jobId }
})

/** Releases one job that has waited for too long. */
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

/** A job's row. */
export const rowOf = (jobId: JobId) => DocumentsWorld.use((world) => world.batchRow(jobId))
/** What was billed. */
export const ledger = DocumentsWorld.use((world) => world.ledger)

/** As many that do the same. */
export const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8]
export const atOnce = { concurrency: "unbounded" } as const
/** How many were answered yes. */
export const wins = (answers: ReadonlyArray<boolean>) => answers.filter(Boolean).length

/** What the suite runs on. */
export type Stores = BatchStore | ConversionStore | DocumentsWorld
