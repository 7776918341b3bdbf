import { Duration, Effect, Latch, Random } from "effect"

import type { VisionAnswer, VisionModel, VisionModelError } from "../../../ports/conversion/vision-model.ts"
import { uptime } from "../../uptime.ts"

/** Most concurrent calls. */
const MAX_AT_ONCE = 16

/** Attempts at one call. */
const MAX_TRIES = 6

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

/**
 * A model whose calls are paced: concurrency is halved after a throttled call and raised by one after every eight answers; a
 * throttled or unanswered call is tried again with growing, jittered delays.
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
      const attempt = (tries: number): Effect.Effect<VisionAnswer, VisionModelError> =>
        once.pipe(
          Effect.tap(raise),
          Effect.catch((error) => {
            const again = error.reason === "throttled" || error.reason === "unavailable"
            const adjusted = error.reason === "throttled" ? lower : Effect.void
            if (!again || tries >= MAX_TRIES) return Effect.andThen(adjusted, Effect.fail(error))
            return adjusted.pipe(
              Effect.andThen(waitBefore(tries)),
              Effect.flatMap(Effect.sleep),
              Effect.andThen(Effect.suspend(() => attempt(tries + 1)))
            )
          })
        )
      return attempt(1)
    }
    return { converse }
  })
