import { Effect, Layer } from "effect"

import type { SendResult } from "../../domain/mail/send-result.ts"
import { RelayFailed, SendRelay } from "../../ports/delivery/audit-digest-store.ts"
import type { Mailer } from "../mail/mailer.ts"
import { makeSendNowOrLater } from "../mail/send-later.ts"

/** A mail that waits in the send queue is answered as a deferred one. */
const answerOf = (result: SendResult | undefined): Effect.Effect<"sent" | "suppressed", RelayFailed> => {
  if (result === undefined || result.ok) return Effect.succeed("sent")
  if (result.status === "suppressed") return Effect.succeed("suppressed")
  return Effect.fail(new RelayFailed({ message: result.error, certain: result.kind !== "ambiguous" }))
}

/** The relay of this very process: its public address may not lead its own requests back to it, nor let `/internal` through. */
export const layer: Layer.Layer<SendRelay, never, Mailer> = Layer.effect(
  SendRelay,
  Effect.map(makeSendNowOrLater, (sendNowOrLater) =>
    SendRelay.of({
      configured: true,
      send: (request) =>
        sendNowOrLater(request).pipe(
          // A call with the key that is under way, or was made with another mail, may have sent.
          Effect.mapError(
            ({ _tag, message }) => new RelayFailed({ message, certain: _tag === "InvalidRequest" })
          ),
          Effect.flatMap(answerOf)
        )
    })
  )
)
