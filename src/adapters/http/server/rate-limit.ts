import { Context, Duration, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { RateLimiter } from "effect/persistence"

import { RateLimited, RequestsPerMinute } from "../routes/query.ts"
import { problem, type Problem, problemResponse } from "./problem.ts"

/** Most keys of one generation of counters; then all are dropped, so that strangers cannot fill the memory. */
const MAX_KEYS = 20_000

/** The 429, and when to retry. */
interface TooMany {
  readonly problem: Problem<"RATE_LIMITED">
  /** At least 1. */
  readonly retryAfterSeconds: number
}

/** How much of something one key may use: `limit` at once, refilled evenly over `window`. */
interface Allowance {
  readonly key: string
  readonly limit: number
  readonly window: Duration.Input
  /** How much one call uses; default 1. */
  readonly amount?: number
}

/** Counts what callers use, in this process. */
export class RequestLimits extends Context.Service<
  RequestLimits,
  { readonly take: (allowance: Allowance) => Effect.Effect<void, TooMany> }
>()("postlane/http/RequestLimits") {}

const tooMany = (retryAfter: Duration.Duration): TooMany => {
  const retryAfterSeconds = Math.max(1, Math.ceil(Duration.toSeconds(retryAfter)))
  return { problem: problem("RATE_LIMITED", `Come again in ${retryAfterSeconds} s`), retryAfterSeconds }
}

const freshLimiter = Effect.provide(
  RateLimiter.RateLimiter,
  RateLimiter.layer.pipe(Layer.provide(Layer.fresh(RateLimiter.layerStoreMemory)))
)

/** Counters in memory. The library's store never drops a key, so that whole generations are dropped. */
export const requestLimitsLayer: Layer.Layer<RequestLimits> = Layer.effect(
  RequestLimits,
  Effect.gen(function* () {
    let limiter = yield* freshLimiter
    let keys = new Set<string>()
    return RequestLimits.of({
      take: Effect.fnUntraced(function* ({ amount, key, limit, window }) {
        if (!keys.has(key) && keys.size >= MAX_KEYS) {
          keys = new Set()
          limiter = yield* freshLimiter
        }
        keys.add(key)
        yield* limiter
          .consume({ algorithm: "token-bucket", key, limit, window, tokens: amount })
          .pipe(
            Effect.catch(({ reason }) =>
              reason._tag === "RateLimitExceeded" ? Effect.fail(tooMany(reason.retryAfter)) : Effect.void
            )
          )
      })
    })
  })
)

/**
 * The key by which requests are counted: an IPv4 address, or the /64 network of an IPv6 one, which one subscriber has. The
 * address is the peer's, or the one that a trusted proxy names (`client-address.ts`).
 */
export const clientKey = (address: string): string => {
  const bare = address.toLowerCase().split("%", 1)[0]!
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/.exec(bare)
  if (mapped !== null) return mapped[1]!
  if (!bare.includes(":")) return bare
  const [head, tail] = bare.split("::", 2)
  const groups = (head ?? "") === "" ? [] : head!.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length)
  const all = [...groups, ...Array.from({ length: zeros }, () => "0"), ...after]
  const network = all.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ""))
  return `${network.join(":")}::/64`
}

/** The 429 answer. */
export const tooManyResponse = ({ problem: body, retryAfterSeconds }: TooMany) =>
  problemResponse(body, { "retry-after": String(retryAfterSeconds) })

/** Counts each route separately, before its body is read. */
export const rateLimitedLayer: Layer.Layer<RateLimited, never, RequestLimits> = Layer.effect(
  RateLimited,
  Effect.map(RequestLimits, (limits) =>
    RateLimited.of(
      Effect.fnUntraced(function* (handler, { endpoint }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const peer = clientKey(Option.getOrElse(request.remoteAddress, () => ""))
        const taken = yield* Effect.result(
          limits.take({
            key: `${endpoint.method} ${endpoint.path} ${peer}`,
            limit: Context.get(endpoint.annotations, RequestsPerMinute),
            window: "1 minute"
          })
        )
        return taken._tag === "Failure" ? tooManyResponse(taken.failure) : yield* handler
      })
    )
  )
)
