import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { EventPoll } from "../../../domain/delivery/poll.ts"
import { Api } from "../api/api.ts"
import { pollAnswer } from "../event-poll-answer.ts"

/** `POST /functions/v1/provider-a-events-fetcher`. */
export const eventPollHandlers = HttpApiBuilder.group(
  Api,
  "eventPoll",
  Effect.fnUntraced(function* (handlers) {
    const poll = yield* EventPoll
    return handlers.handleRaw("poll", () => pollAnswer(poll))
  })
)
