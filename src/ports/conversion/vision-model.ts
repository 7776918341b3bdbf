import { Context, Data, type Effect } from "effect"

import type { ConverseRequest } from "../../domain/conversion/cascade/converse.ts"
import type { TokenUsage } from "../../domain/conversion/cascade/cost.ts"

/** What a model answered. */
export interface VisionAnswer {
  /** Every text of the answer, in order; empty where it held none. */
  readonly text: string
  readonly stopReason: string | undefined
  readonly usage: TokenUsage
  /** Answered from a batch result: its tokens are the batch job's. */
  readonly fromBatch: boolean
}

/**
 * A call that gave no answer. `throttled`: too many for now. `unavailable`: the model or the way to it; worth another try.
 * `refused`: this request (too large, not valid) or this account; the same again gets the same. `captured`: it was recorded
 * for the batch lane instead of made.
 */
export class VisionModelError extends Data.TaggedError("VisionModelError")<{
  readonly reason: "throttled" | "unavailable" | "refused" | "captured"
  readonly message: string
  readonly cause?: unknown
}> {}

/** Where in a job a call belongs, for the batch lane. */
export interface CallPlace {
  /** `hifi-single-pass` is the one call a page that the lane batches. */
  readonly tier: "hifi-single-pass" | "coverage-retry" | "agentic" | "math-ocr" | "harness"
  /** From 0, in the document. */
  readonly page: number
}

/** A vision model behind the Converse API. Each call is made once; whoever calls decides about another. */
export class VisionModel extends Context.Service<
  VisionModel,
  {
    readonly converse: (
      request: ConverseRequest,
      place: CallPlace
    ) => Effect.Effect<VisionAnswer, VisionModelError>
  }
>()("postlane/ports/VisionModel") {}
