import { Effect, Layer } from "effect"

import { EventPoll } from "../domain/delivery/poll.ts"
import type { Leadership } from "../ports/leadership.ts"
import { leaderTicking } from "./leadership.ts"
import type { Settings } from "./settings.ts"
import type { Supervisors } from "./supervisor.ts"

/** A run that breaks off waits for its next turn: whoever asks a provider that refuses again at once helps nobody. */
const tick = Effect.gen(function* () {
  const { run } = yield* EventPoll
  const { truncated, ...counts } = yield* run
  if (truncated) {
    yield* Effect.logWarning("the poll read its five pages, and more mails remain", counts)
  } else if (counts.recorded > 0) {
    yield* Effect.logInfo("the poll found events that no webhook had told", counts)
  }
}).pipe(
  Effect.catchTag("PollFailure", ({ cause, counts }) =>
    cause._tag === "ListFailure"
      ? Effect.logError("the poll broke off", { kind: cause.kind, message: cause.message, ...counts })
      : Effect.logError("the poll broke off: the log does not answer", cause.cause)
  )
)

/** The leader polls every `EVENTS_POLL_SECONDS`; nobody does without a real `provider_a`. */
export const ticks = (settings: Settings): Layer.Layer<never, never, EventPoll | Leadership | Supervisors> =>
  settings.providerA.apiKey === undefined
    ? Layer.empty
    : leaderTicking("provider-a-events-poll", `${settings.events.pollSeconds} seconds`, tick)
