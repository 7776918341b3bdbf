import { Effect } from "effect"

import { UNANSWERED, type VisionModel } from "../../ports/conversion/vision-model.ts"
import { counter, increment, perLabel } from "../counters.ts"
import { makeSparseLines } from "../sparse-lines.ts"

const unanswered = perLabel(UNANSWERED, (reason) =>
  counter(
    "postlane_model_unanswered_total",
    "Calls of the high-fidelity model that ended without an answer, by the reason.",
    { reason }
  )
)

/** Counters of the model, for {@link showFromStart}. */
export const modelMetrics = Object.values(unanswered)

/**
 * Counts a model's unanswered calls and logs the vendor's words as an error, at most once a minute for each reason. The pages are
 * converted without the model, so that otherwise the cause would go unnoticed.
 */
export const watchedModel = (model: VisionModel["Service"]): VisionModel["Service"] => {
  const sparsely = makeSparseLines()
  return {
    converse: (call, place) =>
      Effect.tapError(model.converse(call, place), (error) =>
        Effect.andThen(
          increment(unanswered[error.reason]),
          sparsely(error.reason, Effect.logError("HIFI_UNAVAILABLE"), {
            reason: error.reason,
            detail: error.message,
            model: call.model
          })
        )
      )
  }
}
