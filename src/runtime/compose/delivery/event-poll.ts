import { Effect, Layer } from "effect"

import * as NoSentMails from "../../../adapters/memory/delivery/event-poll.ts"
import type { ReadSql, WriteSql } from "../../../adapters/postgres/client.ts"
import * as PollLog from "../../../adapters/postgres/delivery/poll-log.ts"
import * as SentMailList from "../../../adapters/resend/list-mails.ts"
import type { EventRecording } from "../../../application/delivery/event-recording.ts"
import * as Poll from "../../../application/delivery/poll.ts"
import { EventPoll } from "../../../application/delivery/poll.ts"
import type { SentMails } from "../../../ports/delivery/event-poll.ts"
import type { Leadership } from "../../../ports/leadership.ts"
import { leaderTicking } from "../../process/leadership.ts"
import type { Supervisors } from "../../process/supervisor.ts"
import type { DeliverySettings } from "../../settings/settings.ts"

/** A failed run waits for its next turn: asking a refusing provider again at once does not help. */
export const tick = Effect.gen(function* () {
  const { run } = yield* EventPoll
  const { truncated, ...counts } = yield* run
  if (truncated) {
    yield* Effect.logWarning(
      "the poll stopped after five pages, and more mails remain: the next one continues",
      counts
    )
  } else if (counts.recorded > 0) {
    yield* Effect.logInfo(
      "the poll found events that no webhook had reported: check the webhook of provider_a",
      counts
    )
  }
}).pipe(
  Effect.catchTag("PollFailure", ({ cause, counts }) =>
    cause._tag === "ListFailure"
      ? Effect.logError("the poll of provider_a failed: the next one tries again", {
          kind: cause.kind,
          reason: cause.message,
          ...counts
        })
      : Effect.logError(
          "the poll of provider_a failed, since the database does not answer: the next one tries again",
          cause.cause
        )
  )
)

/** The leader polls every `EVENTS_POLL_SECONDS`; there is no poll without a real `provider_a`. */
export const ticks = (
  settings: DeliverySettings
): Layer.Layer<never, never, EventPoll | Leadership | Supervisors> =>
  settings.providerA.apiKey === undefined
    ? Layer.empty
    : leaderTicking("provider-a-events-poll", `${settings.events.pollSeconds} seconds`, tick)

/** The list of `provider_a`; empty when the provider is simulated, since all its events arrive unasked. */
const sentMails = ({ embedded, providerA }: DeliverySettings): Layer.Layer<SentMails> => {
  const { apiKey, baseUrl, userAgent } = providerA
  if (apiKey !== undefined) return SentMailList.layer({ apiKey, baseUrl, userAgent })
  return embedded ? NoSentMails.layerEmpty : NoSentMails.layerNone
}

/** The poll of `provider_a`'s list. */
export const layer = (
  settings: DeliverySettings
): Layer.Layer<Poll.EventPoll, never, EventRecording | ReadSql | WriteSql> =>
  Poll.layer().pipe(Layer.provide([sentMails(settings), PollLog.layer]))
