import { Context, Data, type Effect } from "effect"

import type { TokenUsage } from "../../domain/cascade/cost.ts"
import type { ModelCall } from "../../domain/cascade/model-call.ts"

/** A model's answer. */
export interface VisionAnswer {
  /** All text blocks of the answer, in order; may be empty. */
  readonly text: string
  readonly stopReason: string | undefined
  readonly usage: TokenUsage
  /** Answered from a batch result: its tokens are the batch job's. */
  readonly fromBatch: boolean
}

/** Why a call gave no answer: {@link VisionModelError}. */
export const UNANSWERED = [
  "timeout",
  "throttled",
  "unavailable",
  "refused",
  "unfit",
  "captured",
  "budget"
] as const

/**
 * A call that gave no answer. `timeout`: not within its time; it may have been billed. `throttled`: rate-limited. `unavailable`:
 * the model or the network; worth a retry. `refused`:
 * this request (not valid) or this account; a retry gives the same. `unfit`: it was not made, since the page is too large for a
 * call. `captured`: it was recorded for the batch lane instead of made. `budget`: it was not made, since the day's budget is spent.
 */
export class VisionModelError extends Data.TaggedError("VisionModelError")<{
  readonly reason: (typeof UNANSWERED)[number]
  readonly message: string
  readonly cause?: unknown
  /** What calls without an answer are taken to have cost. */
  readonly usage?: TokenUsage
}> {}

/** Where in a job a call belongs, for the batch lane. */
export interface CallPlace {
  /** `hifi-single-pass` is the one call a page that the lane batches. */
  readonly tier: "hifi-single-pass" | "coverage-retry" | "agentic" | "math-ocr" | "harness"
  /** From 0, in the document. */
  readonly page: number
}

/** A vision model. Each call is made once; retries are the caller's decision. */
export class VisionModel extends Context.Service<
  VisionModel,
  {
    readonly converse: (call: ModelCall, place: CallPlace) => Effect.Effect<VisionAnswer, VisionModelError>
  }
>()("postlane/ports/VisionModel") {}
