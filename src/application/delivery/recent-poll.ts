import { Clock, Context, Effect, Layer } from "effect"

import { isBackfill, isMissed } from "../../domain/delivery/poll-rules.ts"
import { ListFailure, PollLog, RecentEvents } from "../../ports/delivery/event-poll.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { EventRecording } from "./event-recording.ts"

/** What one run came to. */
interface RecentCounts {
  /** Events that were read. */
  readonly seen: number
  /** Those that no webhook had brought. */
  readonly recorded: number
}

/** The poll of a provider that lists mails and failures each for itself (EVENT-33). */
export class RecentPoll extends Context.Service<
  RecentPoll,
  {
    /** One run over the newest of each list; a run at the same time records nothing twice. */
    readonly run: Effect.Effect<RecentCounts, ListFailure | StoreUnavailable>
  }
>()("postlane/application/RecentPoll") {}

/** Time limit of all its lists together. */
const ANSWER_WITHIN = "60 seconds"

/** The poll. */
export const layer: Layer.Layer<RecentPoll, never, RecentEvents | PollLog | EventRecording> = Layer.effect(
  RecentPoll,
  Effect.gen(function* () {
    const { newest, provider } = yield* RecentEvents
    const log = yield* PollLog
    const recording = yield* EventRecording
    return RecentPoll.of({
      run: Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const events = yield* withDeadline(newest, {
          duration: ANSWER_WITHIN,
          onTimeout: () =>
            Effect.fail(
              new ListFailure({ kind: "unavailable", message: `no answer within ${ANSWER_WITHIN}` })
            )
        })
        const ids = new Set(events.map(({ providerMessageId }) => providerMessageId))
        const found = yield* log.known([...ids], provider)
        const missed = events.filter((event) => isMissed(event, found.mails.get(event.providerMessageId)))
        // In their order: a mail is recorded before what became of it.
        yield* Effect.forEach(
          missed,
          (event) => {
            const known = found.mails.get(event.providerMessageId)
            const backfill = isBackfill({ sentAt: event.occurredAt }, { known, now, oldest: found.oldest })
            return recording.record(event, { backfill, polled: true })
          },
          { discard: true }
        )
        return { seen: events.length, recorded: missed.length }
      })
    })
  })
)
