import { Effect } from "effect"

import type { VisionModel } from "../../ports/vision-model.ts"
import { addUsage, NO_TOKENS, type TokenUsage } from "./cost.ts"

/** What was called for, so far. */
export interface Meter {
  /** Tokens of on-demand answers, used or not (document 3: batch-served pages are left out). */
  usage: TokenUsage
  /** On-demand answers. */
  calls: number
  /** Answers from the batch. */
  batchServed: number
}

/** A model that counts what its answers cost, whatever becomes of them. */
export const meteredModel = (
  model: VisionModel["Service"]
): { readonly model: VisionModel["Service"]; readonly meter: Meter } => {
  const meter: Meter = { usage: NO_TOKENS, calls: 0, batchServed: 0 }
  return {
    meter,
    model: {
      converse: (request, place) =>
        Effect.tap(model.converse(request, place), (answer) =>
          Effect.sync(() => {
            if (answer.fromBatch) {
              meter.batchServed += 1
            } else {
              meter.usage = addUsage(meter.usage, answer.usage)
              meter.calls += 1
            }
          })
        )
    }
  }
}
