import { Context, Duration, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"

import { networkOf } from "../../../domain/networks.ts"
import { type Allowance, Allowances } from "../../../ports/shared-allowances.ts"
import { problem, type Problem, problemSchema } from "./problem.ts"

/** How many requests a client may make to an endpoint per minute: annotate an endpoint that needs another number. */
export const RequestsPerMinute = Context.Reference<number>("postlane/http/RequestsPerMinute", {
  defaultValue: () => 60
})

/** Limits how often one client calls a public route: 429 with `Retry-After`. Add it to an endpoint or to a whole group. */
export class RateLimited extends HttpApiMiddleware.Service<RateLimited>()("postlane/http/RateLimited", {
  error: problemSchema("RATE_LIMITED", {})
}) {}

/** Counts what callers use, in all processes together where they share a store (HTTP-6). */
export class RequestLimits extends Context.Service<
  RequestLimits,
  {
    /** Fails where it is more than the key may use, with when to retry: at least 1. */
    readonly take: (
      allowance: Allowance
    ) => Effect.Effect<
      void,
      { readonly problem: Problem<"RATE_LIMITED">; readonly retryAfterSeconds: number }
    >
  }
>()("postlane/http/RequestLimits") {}

const tooMany = (retryAfter: Duration.Duration) => {
  const retryAfterSeconds = Math.max(1, Math.ceil(Duration.toSeconds(retryAfter)))
  return { problem: problem("RATE_LIMITED", `Retry in ${retryAfterSeconds} s`), retryAfterSeconds }
}

export const requestLimitsLayer: Layer.Layer<RequestLimits, never, Allowances> = Layer.effect(
  RequestLimits,
  Effect.map(Allowances, ({ take }) =>
    RequestLimits.of({
      take: (allowance) =>
        Effect.flatMap(take(allowance), (wait) =>
          wait === undefined ? Effect.void : Effect.fail(tooMany(wait))
        )
    })
  )
)

/** Fails with a 429 that says when to retry. */
export const retryLater = (refused: Problem<"RATE_LIMITED">, seconds: number) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(seconds)))
  ).pipe(Effect.andThen(Effect.fail(refused)))

/** Takes an allowance for a request, or fails with the 429. */
export const takeOrRefuse = (limits: RequestLimits["Service"], allowance: Allowance) =>
  limits
    .take(allowance)
    .pipe(Effect.catch((refused) => retryLater(refused.problem, refused.retryAfterSeconds)))

/** Counts each route and client network separately, before the body is read. */
export const rateLimitedLayer: Layer.Layer<RateLimited, never, RequestLimits> = Layer.effect(
  RateLimited,
  Effect.map(RequestLimits, (limits) =>
    RateLimited.of(
      Effect.fnUntraced(function* (handler, { endpoint }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const client = networkOf(Option.getOrElse(request.remoteAddress, () => ""))
        yield* takeOrRefuse(limits, {
          key: `${endpoint.method} ${endpoint.path} ${client}`,
          limit: Context.get(endpoint.annotations, RequestsPerMinute),
          window: "1 minute"
        })
        return yield* handler
      })
    )
  )
)

/** How many things one owner may hold at once: open streams, uploads, exports; and all of them together, where there is a bound. */
interface Places {
  readonly most: number
  readonly what: string
  readonly inAll: number
  readonly held: Map<string, number>
}

export const makePlaces = (most: number, what: string, inAll = Infinity): Places => ({
  most,
  what,
  inAll,
  held: new Map()
})

const heldBy = ({ held }: Places, owner: string): number => held.get(owner) ?? 0
const heldInAll = ({ held }: Places): number => [...held.values()].reduce((sum, count) => sum + count, 0)

const change = (places: Places, owner: string, by: number): void => {
  const now = heldBy(places, owner) + by
  if (now === 0) places.held.delete(owner)
  else places.held.set(owner, now)
}

/** How long an owner that holds all places is asked to wait, seconds. */
const WAIT_FOR_PLACE = 30

/** Takes a place until the scope closes, or fails with the 429. */
export const takePlace = (places: Places, owner: string) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const refused =
        heldBy(places, owner) >= places.most
          ? `An account has ${places.most} ${places.what} at once`
          : places.inAll !== Infinity && heldInAll(places) >= places.inAll
            ? `There are ${places.inAll} ${places.what} at once`
            : undefined
      return refused === undefined
        ? Effect.sync(() => change(places, owner, 1))
        : retryLater(problem("RATE_LIMITED", refused), WAIT_FOR_PLACE)
    }),
    () => Effect.sync(() => change(places, owner, -1))
  )
