import { Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"

import { uptime } from "../../application/uptime.ts"
import {
  type Allowance,
  Allowances,
  SharedAllowances,
  type SharedAllowancesService
} from "../../ports/shared-allowances.ts"

/** Most keys of one generation of counters; then all are dropped, so that strangers cannot fill the memory. */
const MAX_KEYS = 20_000

const freshLimiter = Effect.provide(
  RateLimiter.RateLimiter,
  RateLimiter.layer.pipe(Layer.provide(Layer.fresh(RateLimiter.layerStoreMemory)))
)

/** Counters in memory. The library's store never drops a key, so that whole generations are dropped. */
const makeOwnCounters = Effect.gen(function* () {
  let limiter = yield* freshLimiter
  let keys = new Set<string>()
  return Effect.fnUntraced(function* ({ amount, key, limit, window }: Allowance) {
    if (!keys.has(key) && keys.size >= MAX_KEYS) {
      keys = new Set()
      limiter = yield* freshLimiter
    }
    keys.add(key)
    return yield* limiter.consume({ algorithm: "token-bucket", key, limit, window, tokens: amount }).pipe(
      Effect.as(undefined),
      Effect.catch(({ reason }) =>
        Effect.succeed(reason._tag === "RateLimitExceeded" ? reason.retryAfter : undefined)
      )
    )
  })
})

/** How long a process counts by itself after the shared store did not answer, so that requests do not wait for the store each time. */
const ALONE_FOR = Duration.seconds(10)

/** The shared counters, or this process's own while they do not answer: then each process allows as much, and none refuses all. */
const withFallback = (
  shared: SharedAllowancesService,
  own: (allowance: Allowance) => Effect.Effect<Duration.Duration | undefined>
) => {
  let aloneUntil = -Infinity
  let isAway = false
  const answered = Effect.suspend(() => {
    if (!isAway) return Effect.void
    isAway = false
    return Effect.logInfo("rate limits hold across processes again")
  })
  const alone = (error: unknown, now: number) =>
    Effect.suspend(() => {
      aloneUntil = now + Duration.toMillis(ALONE_FOR)
      if (isAway) return Effect.void
      isAway = true
      return Effect.logWarning(
        "the shared store does not answer for rate limits: each process counts alone",
        error
      )
    })
  return Effect.fnUntraced(function* (allowance: Allowance) {
    const now = yield* uptime
    if (now < aloneUntil) return yield* own(allowance)
    return yield* shared.take(allowance).pipe(
      Effect.tap(answered),
      Effect.catch((error) => Effect.andThen(alone(error, now), own(allowance)))
    )
  })
}

/** Counts in the shared store where there is one, else in this process. */
export const layer: Layer.Layer<Allowances> = Layer.effect(
  Allowances,
  Effect.gen(function* () {
    const shared = yield* SharedAllowances
    const own = yield* makeOwnCounters
    return Allowances.of({ take: shared === undefined ? own : withFallback(shared, own) })
  })
)
