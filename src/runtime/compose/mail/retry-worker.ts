import { Effect, Layer } from "effect"

import { RETRIES_AT_ONCE } from "../../../application/mail/function-sizes.ts"
import { RetryHandler } from "../../../application/mail/retry.ts"
import { DeferQueue } from "../../../ports/mail/defer-queue.ts"
import { background } from "../../process/supervisor.ts"

/** Consumes the retry queue, where there is one. */
export const retryWorker = Layer.unwrap(
  Effect.gen(function* () {
    const deferrals = yield* DeferQueue
    const { handle } = yield* RetryHandler
    return deferrals.configured
      ? background("retry", deferrals.consume(handle, { concurrency: RETRIES_AT_ONCE }))
      : Layer.empty
  })
)
