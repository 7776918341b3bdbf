import { createHash } from "node:crypto"

import { Context, Duration, Effect, Layer, Redacted, References, Scope } from "effect"
import { RateLimiter } from "effect/persistence"

import { withDeadline } from "../../application/deadline.ts"
import { type Allowance, SharedAllowances } from "../../ports/shared-allowances.ts"
import { noAnswer, StoreUnavailable } from "../../ports/store-unavailable.ts"

/** A request waits for it: without an answer the process counts for itself. */
const WITHIN = "300 millis"

/** Longest pause between two attempts to connect, milliseconds. */
const RECONNECT_MS = 2_000

/** Silence, in milliseconds, even to a ping, after which a connection is replaced. */
const SILENT_MS = 5_000
const PING_MS = 2_000

const CLOSE_WITHIN = "1 second"

const away = (cause: unknown) =>
  new StoreUnavailable({ operation: "take", reason: "Redis does not answer", isRetryable: true, cause })

/** A key may name an address or a person: the store keeps neither. */
const hashOf = (key: string) => createHash("sha256").update(key).digest("base64url")

/** The library's token bucket, in one script for each call. It connects in the background, and again for as long as it takes. */
const limiterAt = (url: Redacted.Redacted) =>
  Layer.unwrap(
    Effect.map(
      // Only where it is used: no other process loads the client.
      Effect.promise(() => import("@effect/platform-node/NodeRedis")),
      (NodeRedis) =>
        RateLimiter.layer.pipe(
          Layer.provide(RateLimiter.layerStoreRedis({ prefix: "postlane:allowance:" })),
          Layer.provide(
            NodeRedis.layer({
              url: Redacted.value(url),
              disableOfflineQueue: true,
              pingInterval: PING_MS,
              socket: {
                socketTimeout: SILENT_MS,
                reconnectStrategy: (retries) => Math.min(2 ** Math.min(retries, 10) * 50, RECONNECT_MS)
              }
            })
          )
        )
    )
  )

const take = (limiter: RateLimiter.RateLimiter, { amount = 1, key, limit, window }: Allowance) =>
  amount > limit
    ? Effect.succeed(Duration.fromInputUnsafe(window))
    : limiter.consume({ algorithm: "token-bucket", key: hashOf(key), limit, window, tokens: amount }).pipe(
        Effect.as(undefined),
        Effect.catch((error) =>
          error.reason._tag === "RateLimitExceeded"
            ? Effect.succeed(error.reason.retryAfter)
            : Effect.fail(away(error))
        )
      )

/** Allowances in Redis or Valkey. While it is away each call fails at once; rate limits then count in each process. */
export const layer = (url: Redacted.Redacted): Layer.Layer<never> =>
  Layer.effect(
    SharedAllowances,
    Effect.gen(function* () {
      const own = yield* Scope.make()
      // The client would wait for the answers of a server that is silent.
      yield* Effect.addFinalizer((exit) =>
        withDeadline(Scope.close(own, exit), { duration: CLOSE_WITHIN, onTimeout: () => Effect.void })
      )
      let limiter: RateLimiter.RateLimiter | undefined
      yield* Layer.buildWithScope(limiterAt(url), own).pipe(
        Effect.map((context) => void (limiter = Context.get(context, RateLimiter.RateLimiter))),
        Effect.tapCause((cause) =>
          Effect.logError("rate limits are not shared: Redis cannot be used", cause)
        ),
        // The client warns at every attempt; the limits say once that they are not shared.
        Effect.provideService(References.MinimumLogLevel, "Error"),
        Effect.forkScoped
      )
      return {
        take: (allowance) =>
          withDeadline(
            Effect.suspend(() =>
              limiter === undefined ? Effect.fail(away("not connected yet")) : take(limiter, allowance)
            ),
            { duration: WITHIN, onTimeout: () => Effect.fail(noAnswer("take", WITHIN)) }
          )
      }
    })
  )
