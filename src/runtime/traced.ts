import { Effect, Layer } from "effect"

import { Mailer } from "../domain/mail/mailer.ts"
import { RetryHandler } from "../domain/mail/retry.ts"

/**
 * A span around every send and every retry. Only where traces are collected: spans that nobody sees would cost a tenth of
 * the time of a send.
 */
export const layerTraced: Layer.Layer<Mailer | RetryHandler, never, Mailer | RetryHandler> = Layer.merge(
  Layer.effect(
    Mailer,
    Effect.map(Mailer, ({ send }) =>
      Mailer.of({
        send: (request) =>
          Effect.withSpan(send(request), "Mailer.send", {
            attributes: { category: request.category, source: request.source }
          })
      })
    )
  ),
  Layer.effect(
    RetryHandler,
    Effect.map(RetryHandler, ({ handle }) =>
      RetryHandler.of({
        handle: (message) =>
          Effect.withSpan(handle(message), "RetryHandler.handle", {
            attributes: { provider: message.request.provider, attempt: message.attempt }
          })
      })
    )
  )
)
