import { Duration, Effect, Schedule } from "effect"
import type { Digest } from "effect/crypto/Digest"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { assumedPageUsd } from "../../domain/batch/cost.ts"
import { batchJobName, outputPrefix, preparedOf, preparedPrefix } from "../../domain/batch/keys.ts"
import type { BatchOutcome } from "../../domain/batch/row.ts"
import { HOLD_WINDOW } from "../../domain/conversion/job.ts"
import { LeaseId } from "../../domain/ids.ts"
import type { BatchLines } from "../../ports/batch/batch-lines.ts"
import { BatchService, BatchServiceError } from "../../ports/batch/batch-service.ts"
import { BatchStore, type ClaimedBatch, type LaneBudget } from "../../ports/batch/batch-store.ts"
import type { PageSources } from "../../ports/conversion/page-sources.ts"
import type { BatchObjects } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { type DriverSettings, giveUpIn, STUCK_AFTER, waitingWindow } from "./lane-settings.ts"
import { prepare } from "./preparing.ts"
import { BatchSkipped } from "./shards.ts"

/** Closes a row that is not submitted; its job is converted on demand. */
const drop = Effect.fnUntraced(function* (batch: ClaimedBatch, outcome: BatchOutcome, reason: string) {
  const store = yield* BatchStore
  yield* Effect.logInfo(`a job does not go through the batch lane: ${reason}`)
  const end = { outcome, reason, endState: null, accepted: 0, fallback: 0, cost: undefined }
  if (yield* store.drop(batch, end)) yield* store.resume(batch.jobId, {}, HOLD_WINDOW)
})

/** How often a batch job that no row belongs to is asked to stop: for some minutes. */
const UNTIL_STOPPED = Schedule.exponential("300 millis").pipe(Schedule.upTo({ times: 9 }))

const submitted = Effect.fnUntraced(function* (batch: ClaimedBatch, arn: string, settings: DriverSettings) {
  const store = yield* BatchStore
  const won = yield* store.submitted(batch, {
    arn,
    name: batchJobName(batch.jobId),
    pollIn: settings.pollEvery,
    giveUpIn: giveUpIn(settings)
  })
  if (won) return yield* Effect.logInfo(`batch job ${arn} is submitted`)
  if (!(yield* store.isOrphan(batch.id, arn))) {
    return yield* Effect.logInfo(`batch job ${arn} was submitted by another driver`)
  }
  // This process was frozen while another one closed the row: no other process would ever stop the job it created.
  yield* Effect.logError(
    `batch job ${arn} belongs to no row any more: it is stopped, and what it cost is not billed`
  )
  yield* BatchService.use((service) => service.stop(arn)).pipe(
    Effect.retry(UNTIL_STOPPED),
    Effect.catch((error) => Effect.logError(`batch job ${arn} could not be stopped: stop it by hand`, error))
  )
})

/** A job that no document has to be read for to know that it cannot be batched: settings may have changed since it was created. */
const isTooSmall = ({ totalPages }: ClaimedBatch, { limits }: DriverSettings): boolean =>
  totalPages < limits.minRecords

const budgetOf = ({ dailyBudgetUsd, price }: DriverSettings): LaneBudget | undefined =>
  dailyBudgetUsd === undefined ? undefined : { dailyUsd: dailyBudgetUsd, pageUsd: assumedPageUsd(price) }

/**
 * The folder of the records, uploaded now unless they already are; undefined where another driver has taken over meanwhile, so
 * that a batch job is only created once its row says where its records are.
 */
const upload = Effect.fnUntraced(function* (batch: ClaimedBatch, settings: DriverSettings) {
  if (batch.inputPrefix !== null) return batch.inputPrefix
  const store = yield* BatchStore
  const { limits, model } = settings
  if (isTooSmall(batch, settings)) {
    return yield* new BatchSkipped({ reason: `fewer than ${limits.minRecords} records` })
  }
  const done = yield* withDeadline(
    prepare({
      objectKey: batch.objectKey,
      chunks: yield* store.chunks(batch.jobId),
      prepared: preparedPrefix(batch.jobId, batch.lease),
      model,
      limits
    }),
    {
      duration: STUCK_AFTER,
      onTimeout: () => Effect.fail(new BatchSkipped({ reason: "preparing took too long" }))
    }
  )
  yield* Effect.logInfo(`${done.records} batch records in ${done.shards} files, ${done.bytes} bytes`)
  return (yield* store.uploaded(batch, { ...done, model, price: settings.price })) ? done.prefix : undefined
})

/** Uses the model that the records were made for, whatever the settings are now. */
const create = Effect.fnUntraced(function* (batch: ClaimedBatch, input: string, settings: DriverSettings) {
  const service = yield* BatchService
  return yield* service.create({
    name: batchJobName(batch.jobId),
    model: batch.inputPrefix === null ? settings.model : (batch.model ?? settings.model),
    inputPrefix: input,
    outputPrefix: outputPrefix(preparedOf(input) ?? preparedPrefix(batch.jobId, batch.lease)),
    timeoutHours: settings.timeoutHours
  })
})

/** The batch job that an earlier prepare may have created. Only a list without it shows that there is no such job; a refusal does not. */
const earlier = ({ jobId }: ClaimedBatch) =>
  BatchService.use((service) => service.findByName(batchJobName(jobId))).pipe(
    Effect.mapError(({ cause, message, reason }) =>
      reason === "refused"
        ? new BatchServiceError({ reason: "unavailable", message, cause })
        : new BatchServiceError({ reason, message, cause })
    )
  )

const prepareAndSubmit = Effect.fnUntraced(function* (batch: ClaimedBatch, settings: DriverSettings) {
  if (batch.foundOpen) {
    const arn = yield* earlier(batch)
    if (arn !== undefined) return yield* submitted(batch, arn, settings)
    if (batch.stuck) return yield* drop(batch, "failed", "preparing it got stuck")
    // Released by hand, while the lane was off.
    if (!batch.waiting && batch.closeReason === null) {
      return yield* drop(batch, "skipped", "its job does not wait any more")
    }
    // Once its records are uploaded, another process may be creating the batch job right now, unseen: create it all the same,
    // which returns the existing one; the first poll stops it.
    if (batch.closeReason !== null && batch.inputPrefix === null) {
      return yield* drop(batch, "skipped", batch.closeReason)
    }
  }
  const input = yield* upload(batch, settings)
  if (input === undefined) return yield* Effect.logInfo("another driver prepares it now")
  yield* submitted(batch, yield* create(batch, input, settings), settings)
})

/** Closes a row of which no answer has ever said whether its batch job was created. */
const abandon = (batch: ClaimedBatch) =>
  Effect.logError(
    `batch job ${batchJobName(batch.jobId)}: whether it was created is not known: what it cost is not billed`
  ).pipe(Effect.andThen(drop(batch, "expired", "the batch service did not answer")))

/**
 * Whether the service takes jobs now. Without an answer the row is left unchanged: the next call first looks the job up by name,
 * and closes the row when there is still no answer a day after its time.
 */
const serviceFailed = (batch: ClaimedBatch) => (error: BatchServiceError) => {
  if (error.reason === "full") {
    return Effect.gen(function* () {
      yield* Effect.logInfo("the batch service is full: the job waits for its turn", error)
      yield* (yield* BatchStore).serviceFull
      if (batch.abandoned) yield* drop(batch, "expired", "the batch service was full")
      return false
    })
  }
  if (error.reason !== "unavailable") {
    return Effect.logWarning("the batch service refuses the job: it is converted on demand", error).pipe(
      Effect.andThen(drop(batch, "failed", `the batch service refused it: ${error.message}`)),
      Effect.as(true)
    )
  }
  return Effect.logWarning("the batch service does not take the job now; it is tried again", error).pipe(
    Effect.andThen(batch.abandoned ? abandon(batch) : Effect.void),
    Effect.as(false)
  )
}

/** Brings a claimed job to the batch service, or on demand; returns whether the service takes jobs now. */
const bring = (batch: ClaimedBatch, settings: DriverSettings) =>
  prepareAndSubmit(batch, settings).pipe(
    Effect.as(true),
    Effect.catchTags({
      BatchSkipped: ({ reason }) => Effect.as(drop(batch, "skipped", reason), true),
      BatchServiceError: serviceFailed(batch),
      PdfError: ({ message }) =>
        Effect.as(drop(batch, "failed", `it could not be prepared: ${message}`), true),
      ObjectStoreError: (error) =>
        Effect.logWarning(
          "the records of a batch could not be uploaded: its job is converted on demand",
          error
        ).pipe(Effect.andThen(drop(batch, "failed", "its records could not be uploaded")), Effect.as(true))
    }),
    Effect.annotateLogs({ job: batch.jobId, batch: batch.id })
  )

/**
 * Brings rows that were left `preparing`, then the oldest parked job, to the batch service (BATCH-10 to BATCH-13, BATCH-15). When
 * the service cannot take a row now, the other `preparing` rows wait for the next call and the parked job still gets its turn.
 * Each call reads one document. A document that cannot be prepared is converted on demand; one with too few pages takes no turn.
 */
export const prepareNext = (
  settings: DriverSettings,
  term: number
): Effect.Effect<
  void,
  StoreUnavailable,
  BatchStore | BatchService | BatchLines | BatchObjects | PageSources | Digest | SecureRandom
> =>
  Effect.gen(function* () {
    const store = yield* BatchStore
    const random = yield* SecureRandom
    const claim = Effect.fnUntraced(function* (take: "open" | "parked") {
      return yield* store.claim({
        take,
        lease: LeaseId.make(yield* random.uuidV7()),
        preparer: settings.preparer,
        term,
        model: settings.model,
        stuckAfter: STUCK_AFTER,
        window: Duration.max(waitingWindow(settings), HOLD_WINDOW),
        giveUpIn: giveUpIn(settings),
        budget: budgetOf(settings)
      })
    })
    const seen = new Set<string>()
    while (true) {
      const batch = yield* claim("open")
      if (batch === undefined || seen.has(batch.id)) break
      seen.add(batch.id)
      if (!(yield* bring(batch, settings))) break
      if (batch.inputPrefix === null) return
    }
    while (true) {
      const batch = yield* claim("parked")
      if (batch === undefined) return
      yield* bring(batch, settings)
      if (!isTooSmall(batch, settings)) return
    }
  })
