import { Effect, Metric } from "effect"

import type { VisionModel, VisionModelError } from "../../../ports/conversion/vision-model.ts"
import { makeSparseLines } from "../../sparse-lines.ts"

const count = ({ reason }: VisionModelError) =>
  Metric.update(
    Metric.counter("postlane_model_unanswered_total", {
      description: "Calls of the high-fidelity model that ended without an answer, by the reason.",
      incremental: true,
      attributes: { reason }
    }),
    1
  )

/**
 * A model whose calls without an answer are counted and, once a minute for each reason, an error line with the vendor's words: the
 * pages are converted without it, and nobody would look for the cause.
 */
export const watchedModel = (model: VisionModel["Service"]): VisionModel["Service"] => {
  const sparsely = makeSparseLines()
  return {
    converse: (call, place) =>
      Effect.tapError(model.converse(call, place), (error) =>
        Effect.andThen(
          count(error),
          sparsely(error.reason, Effect.logError("HIFI_UNAVAILABLE"), {
            reason: error.reason,
            detail: error.message,
            model: call.model
          })
        )
      )
  }
}
