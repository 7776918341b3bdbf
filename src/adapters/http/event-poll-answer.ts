import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"

import type { EventPoll, PollFailure, PollResult } from "../../domain/delivery/poll.ts"
import { problem, problemResponse } from "./problem.ts"

const answer = (result: PollResult) =>
  HttpServerResponse.text(JSON.stringify({ ok: !result.truncated, ...result }), {
    contentType: "application/json"
  })

const refusal = ({ cause, counts }: PollFailure) => {
  if (cause._tag !== "ListFailure") {
    return Effect.as(
      Effect.logError("the poll broke off: the log does not answer", cause.cause),
      problemResponse({ ...problem("INTERNAL", "An event was not recorded; poll again"), retryable: true })
    )
  }
  const { kind, message } = cause
  return Effect.as(
    Effect.logWarning("the poll broke off", { kind, message, ...counts }),
    problemResponse(
      kind === "unconfigured"
        ? problem("UNAVAILABLE", "PROVIDERA_API_KEY is unset or malformed: there is no list to read")
        : {
            ...problem("POLL_FAILED", `The provider's list could not be read (${kind}): ${message}`),
            ...counts
          }
    )
  )
}

/** One run of the poll, as `POST /functions/v1/provider-a-events-fetcher` answers it. */
export const pollAnswer = (poll: EventPoll["Service"]) =>
  Effect.matchEffect(poll.run, {
    onSuccess: (result) => Effect.succeed(answer(result)),
    onFailure: refusal
  })
