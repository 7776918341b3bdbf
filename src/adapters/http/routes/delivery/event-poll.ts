import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { EventPoll } from "../../../../application/delivery/poll.ts"
import { ProxySecret } from "../../server/access.ts"
import { apiOf } from "../../server/endpoint.ts"
import { problemSchema } from "../../server/problem.ts"
import { pollAnswer } from "./function-answers.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The counts of one run of the poll. */
const counts = {
  pages: count,
  seen: count,
  recorded: count,
  backfilled: count,
  alerts: count,
  alertsFailed: count
}

/** The poll of `provider_a`'s list (EVENT-30 to EVENT-32). */
export class EventPollGroup extends HttpApiGroup.make("eventPoll")
  .add(
    HttpApiEndpoint.post("poll", "/functions/v1/provider-a-events-fetcher", {
      success: Schema.Struct({ ok: Schema.Boolean, truncated: Schema.Boolean, ...counts }).annotate({
        identifier: "EventPollAnswer"
      }),
      error: [
        problemSchema("POLL_FAILED", counts),
        problemSchema("UNAVAILABLE", {}),
        problemSchema("INTERNAL", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Reads provider_a's list of mails for events that no webhook reported",
        description:
          "One run reads five pages of 100 mails at most and records those that are new or whose last event changed. " +
          "`ok: false` with `truncated: true` where more mails remain: the next run goes on with those that were sent since logging began. `alertsFailed` counts " +
          "alerts that did not go out, which the next run raises again. 502 with the counts so far where the provider " +
          "refuses or does not answer; 500 where an event was not recorded; 503 where PROVIDERA_API_KEY is unset. Safe to " +
          "call again: nothing is recorded twice."
      })
    )
  )
  .middleware(ProxySecret) {}

/** `POST /functions/v1/provider-a-events-fetcher`. */
export const eventPollHandlers = HttpApiBuilder.group(
  apiOf(EventPollGroup),
  "eventPoll",
  Effect.fnUntraced(function* (handlers) {
    const poll = yield* EventPoll
    return handlers.handle("poll", () => pollAnswer(poll))
  })
)
