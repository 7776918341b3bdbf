import { Duration, Effect, Latch, Random } from "effect"

import { addUsage, type TokenUsage } from "../../domain/cascade/cost.ts"
import { estimatedInput } from "../../domain/cascade/model-call.ts"
import { type VisionAnswer, type VisionModel, VisionModelError } from "../../ports/conversion/vision-model.ts"
import { uptime } from "../uptime.ts"

/** Most concurrent calls. */
const MAX_AT_ONCE = 16

/** Attempts at one call. */
const MAX_TRIES = 6

/** Tries of a call that is not answered in time: what takes five minutes twice takes them a third time, and each may be billed. */
const MAX_TIMEOUTS = 2

/** Delay after a throttled call; doubled each further time up to the maximum, half of it random. */
const WAIT_FIRST = Duration.seconds(1)
const WAIT_MAX = Duration.seconds(30)

/** Consecutive answers after which the concurrency is raised by one. */
const RAISE_AFTER = 8

/** A burst of refusals counts once: within this time the limit is lowered once. */
const LOWER_ONCE_IN = Duration.seconds(1)

interface Pace {
  limit: number
  running: number
  /** Answers since the limit was last changed. */
  answers: number
  loweredAt: number
}

const waitBefore = (tries: number) =>
  Effect.map(Random.next, (chance) => {
    const full = Duration.min(Duration.times(WAIT_FIRST, 2 ** (tries - 1)), WAIT_MAX)
    return Duration.times(full, 0.5 + chance / 2)
  })

const isPassing = ({ reason }: VisionModelError): boolean =>
  reason === "throttled" || reason === "unavailable" || reason === "timeout"

const times = ({ inputTokens, outputTokens }: TokenUsage, count: number): TokenUsage => ({
  inputTokens: inputTokens * count,
  outputTokens: outputTokens * count
})

/** An answer with what the calls before it cost that were not answered in time. */
const withWaste = (answer: VisionAnswer, sent: TokenUsage, timeouts: number): VisionAnswer =>
  timeouts === 0 ? answer : { ...answer, usage: addUsage(answer.usage, times(sent, timeouts)) }

const failed = (error: VisionModelError, sent: TokenUsage, timeouts: number): VisionModelError =>
  timeouts === 0
    ? error
    : new VisionModelError({
        reason: error.reason,
        message: error.message,
        cause: error.cause,
        usage: times(sent, timeouts)
      })

/**
 * A model whose calls are paced: concurrency is halved after a throttled call and raised by one after every eight answers; a
 * throttled or unanswered call is tried again with growing, jittered delays, a timed-out call once.
 */
export const pacedModel = (
  model: VisionModel["Service"],
  options: { readonly maxAtOnce?: number } = {}
): Effect.Effect<VisionModel["Service"]> =>
  Effect.sync(() => {
    const most = options.maxAtOnce ?? MAX_AT_ONCE
    const pace: Pace = { limit: most, running: 0, answers: 0, loweredAt: -Infinity }
    const freed = Latch.makeUnsafe(true)

    const mayEnter: Effect.Effect<void> = Effect.suspend(() => {
      if (pace.running < pace.limit) return Effect.void
      freed.closeUnsafe()
      return freed.whenOpen(mayEnter)
    })
    const leave = Effect.sync(() => {
      pace.running--
      freed.openUnsafe()
    })
    const raise = Effect.sync(() => {
      if (++pace.answers >= RAISE_AFTER && pace.limit < most) {
        pace.limit++
        pace.answers = 0
        freed.openUnsafe()
      }
    })
    const lower = Effect.map(uptime, (now) => {
      if (now - pace.loweredAt < Duration.toMillis(LOWER_ONCE_IN)) return
      pace.limit = Math.max(1, Math.floor(pace.limit / 2))
      pace.answers = 0
      pace.loweredAt = now
    })

    const converse: VisionModel["Service"]["converse"] = (request, place) => {
      const once: Effect.Effect<VisionAnswer, VisionModelError> = Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(mayEnter), () => {
          // Several may have been woken at once; the others wait again.
          if (pace.running >= pace.limit) return restore(once)
          pace.running++
          return Effect.ensuring(restore(model.converse(request, place)), leave)
        })
      )
      const sent = estimatedInput(request)
      const attempt = (tries: number, timeouts: number): Effect.Effect<VisionAnswer, VisionModelError> =>
        once.pipe(
          Effect.tap(raise),
          Effect.map((answer) => withWaste(answer, sent, timeouts)),
          Effect.catch((error) => {
            const timedOut = timeouts + (error.reason === "timeout" ? 1 : 0)
            const again = isPassing(error) && tries < MAX_TRIES && timedOut < MAX_TIMEOUTS
            const adjusted = error.reason === "throttled" ? lower : Effect.void
            if (!again) return Effect.andThen(adjusted, Effect.fail(failed(error, sent, timedOut)))
            return adjusted.pipe(
              Effect.andThen(waitBefore(tries)),
              Effect.flatMap(Effect.sleep),
              Effect.andThen(Effect.suspend(() => attempt(tries + 1, timedOut)))
            )
          })
        )
      return attempt(1, 0)
    }
    return { converse }
  })
