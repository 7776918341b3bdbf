import { Effect, Layer } from "effect"

import { SendLater } from "../mail/send-later.ts"
import { Enqueue } from "./enqueue.ts"

/** The product's own mail waits in the send queue. */
export const layer: Layer.Layer<never, never, Enqueue> = Layer.effect(
  SendLater,
  Effect.map(
    Enqueue,
    ({ one }) =>
      (request) =>
        one(request).pipe(
          Effect.map(({ state }) => state !== "failed" && state !== "suppressed" && state !== "cancelled"),
          Effect.catch((error) =>
            Effect.as(Effect.logWarning("the send queue did not take a mail of the product", error), false)
          )
        )
  )
)
