import { Effect, Result } from "effect"

import {
  batchCost,
  batchCostEntry,
  type BatchTally,
  FALLBACK_WARNING,
  fallbackShare
} from "../../domain/batch/cost.ts"
import { batchPrefix } from "../../domain/batch/keys.ts"
import { type BatchOutcome, type EndStatus, resumePatch, verdictOf } from "../../domain/batch/row.ts"
import { HOLD_WINDOW } from "../../domain/conversion/job.ts"
import type { BatchLines } from "../../ports/batch/batch-lines.ts"
import { type BatchJob, BatchService, type BatchServiceError } from "../../ports/batch/batch-service.ts"
import { type BatchEnd, BatchStore, type PolledBatch } from "../../ports/batch/batch-store.ts"
import type { BatchObjects } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { collect, tallyOnly } from "./collecting.ts"
import { type DriverSettings, MAX_COLLECTS, POLLS_A_TICK } from "./lane-settings.ts"

const OVERDUE = "it was not done in time"

/** Rows that are polled concurrently. */
const AT_ONCE = 4

/** Closes a row with its bill. The process that wins the transition resumes the job; the others do nothing. */
const close = Effect.fnUntraced(function* (
  row: PolledBatch,
  end: Pick<BatchEnd, "outcome" | "reason"> & { readonly status: EndStatus },
  tally: BatchTally,
  settings: DriverSettings
) {
  const price = row.price ?? settings.price
  const store = yield* BatchStore
  const { outcome, reason, status } = end
  const cost = batchCostEntry({ ...row, end: status }, tally, price)
  const { accepted, fallback } = tally
  if (!(yield* store.end(row.id, { outcome, reason, endState: status, accepted, fallback, cost }))) return
  yield* Effect.logInfo(`batch job ${row.arn} is closed, ${outcome}: ${accepted} pages are reused`)
  const costUsd = cost === undefined ? 0 : batchCost(tally, price)
  yield* store.resume(row.jobId, resumePatch({ outcome, costUsd }), HOLD_WINDOW)
})

/** Gives up waiting: converts the job on demand now, and closes its row once the batch job has stopped. */
const giveUp = Effect.fnUntraced(function* (row: PolledBatch) {
  const store = yield* BatchStore
  yield* store.giveUp(row.id, OVERDUE)
  if (yield* store.resume(row.jobId, {}, HOLD_WINDOW)) {
    yield* Effect.logWarning(`batch job ${row.arn} was not done in time: its job is converted on demand`)
  }
})

/** A batch job as it was found; `isLost`: the service does not know it. */
type Found = BatchJob & { readonly isLost?: true }

/**
 * Whether the output at hand is the whole bill: the service counts the records, or says that the job failed, or some records are there.
 * The output of a lost job may still grow.
 */
const isReported = (job: Found, { returned }: BatchTally): boolean =>
  job.isLost !== true && (job.processed !== undefined || returned > 0 || job.status === "Failed")

/** Bills what was returned. Missing output may still appear: it is looked for five times. */
const bill = Effect.fnUntraced(function* (
  row: PolledBatch,
  job: Found,
  end: { readonly outcome: BatchOutcome; readonly status: EndStatus; readonly reason: string },
  attempt: number | undefined,
  settings: DriverSettings
) {
  const store = yield* BatchStore
  const { tally, whole } = yield* tallyOnly(row.records, job)
  const reported = isReported(job, tally)
  if (!whole || !reported) {
    const tries = attempt ?? (yield* store.beginCollect(row.id)) ?? MAX_COLLECTS
    if (tries < MAX_COLLECTS && !row.abandoned) {
      if (row.overdue) yield* giveUp(row)
      return
    }
    yield* Effect.logError(
      reported || tally.returned > 0
        ? `what batch job ${row.arn} cost cannot be read in full: the bill is too low`
        : `nothing tells what batch job ${row.arn} cost: nothing is billed`
    )
  }
  yield* close(row, end, tally, settings)
})

const warnOfFallback = (tally: BatchTally) =>
  fallbackShare(tally) > FALLBACK_WARNING
    ? Effect.logWarning(
        `${tally.fallback} of ${tally.accepted + tally.fallback} pages fall back to on-demand: more than ${FALLBACK_WARNING * 100} %`
      )
    : Effect.void

const collectRow = Effect.fnUntraced(function* (
  row: PolledBatch,
  job: BatchJob,
  status: EndStatus,
  settings: DriverSettings
) {
  const store = yield* BatchStore
  const attempt = yield* store.beginCollect(row.id)
  if (attempt === undefined) return
  const last = attempt >= MAX_COLLECTS || row.overdue
  const collected = yield* Effect.result(
    collect({ jobId: row.jobId, shards: row.shards, attempt, partly: last }, job)
  )
  if (Result.isSuccess(collected)) {
    yield* warnOfFallback(collected.success)
    return yield* close(
      row,
      { outcome: "collected", status, reason: "collected" },
      collected.success,
      settings
    )
  }
  yield* Effect.logWarning(`batch results could not be collected (${attempt})`, collected.failure)
  if (!last) return
  yield* bill(
    row,
    job,
    { outcome: "failed", status, reason: "its results could not be collected" },
    MAX_COLLECTS,
    settings
  )
})

/** Best effort: the next poll asks again. */
const stop = (row: PolledBatch) =>
  BatchService.use((service) => service.stop(row.arn)).pipe(
    Effect.catch((error) =>
      Effect.logWarning("a batch job could not be stopped; the next poll asks again", error)
    )
  )

/**
 * A job that the service no longer knows counts as failed once it was asked five times, since it may run unseen; what it left behind
 * is billed. A row that was set to `submitted` by hand has none.
 */
const lost = (row: PolledBatch): Found => ({
  ...(row.arn === "" ? {} : { isLost: true }),
  arn: row.arn,
  name: "",
  status: "Failed",
  message: "the batch service does not know it",
  inputPrefix: "",
  outputPrefix: batchPrefix(row.jobId),
  processed: undefined
})

const jobOf = (row: PolledBatch): Effect.Effect<Found, BatchServiceError, BatchService> =>
  row.arn === ""
    ? Effect.succeed(lost(row))
    : BatchService.use((service) => service.get(row.arn)).pipe(
        Effect.catchIf(
          ({ reason }) => reason === "missing",
          () => Effect.succeed(lost(row))
        )
      )

/** Acts on what the service reports of a row. False: the batch job was asked to stop, and may have stopped by now. */
const act = Effect.fnUntraced(function* (row: PolledBatch, job: Found, settings: DriverSettings) {
  const verdict = verdictOf({ ...row, status: job.status, unwanted: row.closeReason !== null })
  switch (verdict.do) {
    case "wait":
      return true
    case "stop":
      yield* stop(row)
      return false
    case "give-up":
      yield* giveUp(row)
      yield* stop(row)
      return false
    case "collect":
      yield* collectRow(row, job, verdict.end, settings)
      return true
    case "bill": {
      const isAtWork = job.status !== verdict.end
      if (isAtWork)
        yield* Effect.logError(
          `batch job ${row.arn} is still at work a day after its time: what it costs from now on is not billed`
        )
      const words = job.message === undefined ? "" : `: ${job.message}`
      const reason = isAtWork ? OVERDUE : `the batch job ended ${verdict.end}${words}`
      const end = { outcome: verdict.outcome, status: verdict.end, reason }
      yield* bill(row, job, end, undefined, settings)
      return true
    }
  }
})

/** The service reports nothing of the job: its time runs out all the same, and what can be read is billed in the end. */
const withoutAnswer = (row: PolledBatch, settings: DriverSettings) => {
  if (!row.abandoned) return row.overdue ? giveUp(row) : Effect.void
  const end = { outcome: "expired", status: "Expired", reason: OVERDUE } as const
  return Effect.andThen(giveUp(row), bill(row, lost(row), end, MAX_COLLECTS, settings))
}

const pollRow = (row: PolledBatch, settings: DriverSettings) =>
  Effect.gen(function* () {
    const job = yield* jobOf(row)
    if (yield* act(row, job, settings)) return
    const now = { ...row, closeReason: row.closeReason ?? OVERDUE }
    const again = yield* jobOf(now)
    const ended = again.status !== job.status && again.status !== "Stopping"
    if (ended) yield* act(now, again, settings)
  }).pipe(
    Effect.catchTag("BatchServiceError", (error: BatchServiceError) =>
      Effect.andThen(
        Effect.logWarning(
          "the batch service does not report a job's status: the next poll asks again",
          error
        ),
        withoutAnswer(row, settings)
      )
    ),
    Effect.annotateLogs({ job: row.jobId, batch: row.id })
  )

/** Polls every submitted row that is due (BATCH-14). */
export const pollDue = (
  settings: DriverSettings
): Effect.Effect<void, StoreUnavailable, BatchStore | BatchService | BatchLines | BatchObjects> =>
  Effect.gen(function* () {
    const store = yield* BatchStore
    const rows = yield* store.claimPolls(settings.pollEvery, POLLS_A_TICK)
    yield* Effect.forEach(rows, (row) => Effect.withSpan(pollRow(row, settings), "poll batch job"), {
      concurrency: AT_ONCE,
      discard: true
    })
  })
