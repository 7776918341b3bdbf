import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { ContactMessages } from "../../../ports/contact-messages.ts"
import { Api } from "../api/api.ts"
import { DEFAULT_PAGE } from "../api/query.ts"
import { invalidCursor, problem } from "../problem.ts"

/** `GET /api/admin/contact-messages`. */
export const contactMessageHandlers = HttpApiBuilder.group(
  Api,
  "contactMessages",
  Effect.fnUntraced(function* (handlers) {
    const messages = yield* ContactMessages
    return handlers.handle("contactMessages", ({ query }) =>
      messages
        .page({
          state: query.state || undefined,
          kind: query.kind || undefined,
          cursor: query.cursor || undefined,
          limit: query.limit || DEFAULT_PAGE
        })
        .pipe(
          Effect.catchTags({
            ContactMessagesUnavailable: ({ cause }) =>
              Effect.logWarning("The messages cannot be read", cause).pipe(
                Effect.andThen(Effect.fail(problem("UNAVAILABLE", "The messages cannot be read now")))
              ),
            InvalidCursor: () => invalidCursor("list")
          })
        )
    )
  })
)
