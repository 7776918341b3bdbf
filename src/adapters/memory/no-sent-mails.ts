import { Effect, Layer } from "effect"

import { ListFailure, SentMails } from "../../ports/sent-mails.ts"

/** A list without mails. */
export const layerEmpty: Layer.Layer<SentMails> = Layer.succeed(
  SentMails,
  SentMails.of({ page: () => Effect.succeed({ mails: [], unreadable: 0, next: undefined }) })
)

/** No list: the provider is not set up. */
export const layerNone: Layer.Layer<SentMails> = Layer.succeed(
  SentMails,
  SentMails.of({
    page: () => Effect.fail(new ListFailure({ kind: "unconfigured", message: "there is no API key" }))
  })
)
