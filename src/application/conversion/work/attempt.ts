import { type Duration, Effect } from "effect"

import {
  addUsage,
  type CostEntry,
  estimateLlmCost,
  type ModelPrice,
  NO_TOKENS,
  type TokenUsage
} from "../../../domain/cascade/cost.ts"
import { type VisionModel, VisionModelError } from "../../../ports/conversion/vision-model.ts"
import type { FileObjects, ObjectStoreError } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import type { PdfError } from "../../../reader/model/pdf-document.ts"
import type { DocxError } from "../../../reader/model/word-document.ts"

/** Settings of the work on files. */
export interface WorkSettings {
  readonly heartbeat: Duration.Duration
  readonly modelId: string
  readonly price: ModelPrice
  /** Chunks, and layout-true results, of one owner in progress at once in all processes (DOC-12). */
  readonly perOwner?: number | undefined
  /** What models may cost a day; undefined: any amount. */
  readonly dailyBudgetUsd?: number | undefined
  /**
   * Of a conversion that asked for high fidelity and got it on no page: it fails, free of charge, or it is completed and charged as a
   * standard one.
   */
  readonly withoutModel?: "fail" | "standard" | undefined
}

/** What one attempt used. */
interface Meter {
  /** Tokens of on-demand answers, used or not; batch-served pages are left out (BATCH-31). */
  usage: TokenUsage
  /** On-demand answers. */
  calls: number
  /** Answers from the batch. */
  batchServed: number
}

export const makeMeter = (): Meter => ({ usage: NO_TOKENS, calls: 0, batchServed: 0 })

/** A model that counts what its answers cost, whether or not they are used. */
export const metered = (model: VisionModel["Service"], meter: Meter): VisionModel["Service"] => ({
  converse: (call, place) =>
    model.converse(call, place).pipe(
      Effect.tap((answer) =>
        Effect.sync(() => {
          if (answer.fromBatch) {
            meter.batchServed += 1
          } else {
            meter.usage = addUsage(meter.usage, answer.usage)
            meter.calls += 1
          }
        })
      ),
      // What was not answered in time is billed all the same.
      Effect.tapError(({ usage }) =>
        Effect.sync(() => {
          if (usage === undefined) return
          meter.usage = addUsage(meter.usage, usage)
          meter.calls += 1
        })
      )
    )
})

const overBudget = new VisionModelError({
  reason: "budget",
  message: "the daily model budget is spent: the call waits"
})

/** A model that is not asked once the day's budget is spent: for a job that the budget does not pause as a whole. */
export const withinBudget = (
  model: VisionModel["Service"],
  budgetUsd: number | undefined,
  costToday: Effect.Effect<number, StoreUnavailable>
): VisionModel["Service"] =>
  budgetUsd === undefined
    ? model
    : {
        converse: (call, place) =>
          costToday.pipe(
            Effect.mapError(({ reason }) => new VisionModelError({ reason: "unavailable", message: reason })),
            Effect.flatMap((cost) =>
              cost >= budgetUsd ? Effect.fail(overBudget) : model.converse(call, place)
            )
          )
      }

/** The cost of an attempt: one entry, with the lease as its id, so that writing it twice books it once; none without calls. */
export const costsOf = (
  { calls, usage }: Meter,
  { modelId, price }: Pick<WorkSettings, "modelId" | "price">,
  attempt: Omit<CostEntry, "model" | "usage" | "costUsd">
): ReadonlyArray<CostEntry> =>
  calls === 0 ? [] : [{ ...attempt, model: modelId, usage, costUsd: estimateLlmCost(usage, price) }]

/**
 * Has heartbeats of held work book what its attempt has cost so far, where there are new calls, without waiting for it: what a worker
 * that is killed had paid for is in the ledger and in the day's budget.
 */
export const makeBooking = (meter: Meter, book: () => Effect.Effect<void, StoreUnavailable>) => {
  let booked = 0
  const bookSoFar = Effect.suspend(() => {
    const { calls } = meter
    if (calls === booked) return Effect.void
    const done = Effect.andThen(
      Effect.suspend(book),
      Effect.sync(() => void (booked = calls))
    )
    return Effect.asVoid(Effect.forkDetach(Effect.ignore(done)))
  })
  return <E>(beat: Effect.Effect<boolean, E>): Effect.Effect<boolean, E> =>
    Effect.tap(beat, (isHeld) => (isHeld ? bookSoFar : Effect.void))
}

/** Why a piece of work on a file failed. */
type WorkFailure = PdfError | DocxError | VisionModelError | ObjectStoreError

/** Retries of one read: what fails every time is the page's own fault. */
const RETRIES = 2

/** Retries of all reads of an opened document: one that hangs on every page must not hold its worker for hours. */
const RETRIES_IN_ALL = 6

/** Whether the same read may succeed another time: its reader crashed, or was too slow on a busy machine. */
const isTransient = ({ reason }: PdfError): boolean => reason === "timeout" || reason === "crashed"

/** Retries the transient failures of reading one document, within one budget. */
export const makeRetries = () => {
  let left = RETRIES_IN_ALL
  return <A, R>(reading: Effect.Effect<A, PdfError, R>): Effect.Effect<A, PdfError, R> =>
    Effect.retry(reading, { times: RETRIES, while: (error) => isTransient(error) && left-- > 0 })
}

/** Whether the same file would fail in the same way again. A model may answer later. */
export const isFinal = (failure: WorkFailure): boolean => {
  switch (failure._tag) {
    case "PdfError":
      return !isTransient(failure)
    case "DocxError":
      return failure.reason === "broken" || failure.reason === "too-large"
    case "ObjectStoreError":
      return failure.reason === "missing"
    case "VisionModelError":
      return false
  }
}

/** What the file's owner reads. */
export const failureText = (failure: WorkFailure, model = "converts pages"): string => {
  switch (failure._tag) {
    case "PdfError":
    case "DocxError":
      return failure.message
    case "VisionModelError":
      return `The model that ${model} does not answer`
    case "ObjectStoreError":
      return failure.reason === "missing" ? "The uploaded file is gone" : "The file store does not answer"
  }
}

/**
 * Records a stored result, and removes it where it is not needed: the lease has passed on, or it cannot be paid for. What cannot
 * be removed now goes with its file's objects.
 */
export const recordResult = (
  objects: FileObjects["Service"],
  key: string,
  record: Effect.Effect<string, StoreUnavailable>
): Effect.Effect<void, StoreUnavailable> =>
  Effect.flatMap(record, (answer) =>
    answer === "completed" || answer === "assembling" ? Effect.void : Effect.ignore(objects.remove([key]))
  )
