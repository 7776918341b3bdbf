import { Effect } from "effect"

import { type VisionModel, VisionModelError } from "../../ports/vision-model.ts"
import type { ConverseRequest } from "../conversion/converse.ts"

/** Without cache points: a batch record takes none. */
export const withoutCachePoints = (request: ConverseRequest): ConverseRequest => ({
  ...request,
  system: request.system.filter((block) => "text" in block)
})

/** A transport that keeps the call it is asked to make. */
export interface Capture {
  /** A model that records the hi-fi single pass and answers nothing: every call fails, that one as `captured`. */
  readonly model: VisionModel["Service"]
  /** The newest call, once. */
  readonly take: () => ConverseRequest | undefined
}

/** Makes one; pages that are captured at once need one each. */
export const makeCapture = (): Capture => {
  let captured: ConverseRequest | undefined
  return {
    model: {
      converse: (request, place) =>
        Effect.suspend(() => {
          if (place.tier !== "hifi-single-pass") {
            return Effect.fail(
              new VisionModelError({
                reason: "refused",
                message: `the batch lane takes no ${place.tier} call`
              })
            )
          }
          captured = withoutCachePoints(request)
          return Effect.fail(
            new VisionModelError({ reason: "captured", message: "recorded for the batch lane" })
          )
        })
    },
    take: () => {
      const taken = captured
      captured = undefined
      return taken
    }
  }
}
