import { Effect, Layer } from "effect"

import * as NoSentMails from "../../../adapters/memory/delivery/event-poll.ts"
import type { ReadSql, WriteSql } from "../../../adapters/postgres/client.ts"
import * as PollLog from "../../../adapters/postgres/delivery/poll-log.ts"
import * as RecentEventList from "../../../adapters/postmark/recent-events.ts"
import * as SentMailList from "../../../adapters/resend/list-mails.ts"
import type { EventRecording } from "../../../application/delivery/event-recording.ts"
import * as Poll from "../../../application/delivery/poll.ts"
import { EventPoll } from "../../../application/delivery/poll.ts"
import { layer as layerRecentPoll, RecentPoll } from "../../../application/delivery/recent-poll.ts"
import type { RecentEvents, SentMails } from "../../../ports/delivery/event-poll.ts"
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

/** As `tick`, of `postmark`. */
export const postmarkTick = Effect.gen(function* () {
  const { run } = yield* RecentPoll
  const counts = yield* run
  if (counts.recorded > 0) {
    yield* Effect.logInfo(
      "the poll found events that no webhook had reported: check the webhooks of postmark",
      counts
    )
  }
}).pipe(
  Effect.catchTags({
    ListFailure: ({ kind, message }) =>
      Effect.logError("the poll of postmark failed: the next one tries again", { kind, reason: message }),
    StoreUnavailable: ({ cause }) =>
      Effect.logError(
        "the poll of postmark failed, since the database does not answer: the next one tries again",
        cause
      )
  })
)

/** The leader polls every `EVENTS_POLL_SECONDS`; a provider that is not real has nothing to ask for. */
export const ticks = (
  settings: DeliverySettings
): Layer.Layer<never, never, EventPoll | RecentPoll | Leadership | Supervisors> => {
  const every = `${settings.events.pollSeconds} seconds` as const
  return Layer.merge(
    settings.providerA.apiKey === undefined
      ? Layer.empty
      : leaderTicking("provider-a-events-poll", every, tick),
    settings.postmark.serverToken === undefined
      ? Layer.empty
      : leaderTicking("postmark-events-poll", every, postmarkTick)
  )
}

/** The list of `provider_a`; empty when the provider is simulated, since all its events arrive unasked. */
const sentMails = ({ embedded, providerA }: DeliverySettings): Layer.Layer<SentMails> => {
  const { apiKey, baseUrl, userAgent } = providerA
  if (apiKey !== undefined) return SentMailList.layer({ apiKey, baseUrl, userAgent })
  return embedded ? NoSentMails.layerEmpty : NoSentMails.layerNone
}

/** The lists of `postmark`; nothing where it is simulated or not set up. */
const recentEvents = ({
  postmark: { baseUrl, messageStream, serverToken }
}: DeliverySettings): Layer.Layer<RecentEvents> =>
  serverToken === undefined
    ? NoSentMails.layerNoRecent
    : RecentEventList.layer({ serverToken, baseUrl, messageStream })

/** The poll of `postmark`'s lists. */
export const layerRecent = (
  settings: DeliverySettings
): Layer.Layer<RecentPoll, never, EventRecording | ReadSql | WriteSql> =>
  Layer.provide(layerRecentPoll, [recentEvents(settings), PollLog.layer])

/** The poll of `provider_a`'s list. */
export const layer = (
  settings: DeliverySettings
): Layer.Layer<Poll.EventPoll, never, EventRecording | ReadSql | WriteSql> =>
  Poll.layer().pipe(Layer.provide([sentMails(settings), PollLog.layer]))
