import { createHash } from "node:crypto"

import { Context, Effect, Schema } from "effect"

import {
  type Call,
  type CallUnderWay,
  type OtherRequest,
  RepeatableCalls
} from "../../../application/accounts/repeatable-calls.ts"
import { type CustomerId, KeyHash } from "../../../domain/ids.ts"
import type { KeyedRequest } from "../../../ports/accounts/request-keys.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { CurrentOwner } from "./access.ts"
import { type Problem, problem, problemSchema, unavailable } from "./problem.ts"

/** The header of the key, as handlers see it. */
const KEY = "idempotency-key"

const Key = Schema.String.check(
  Schema.makeFilter(
    (text) =>
      /^[\x21-\x7e]{1,255}$/.test(text) || "must be 1 to 255 visible ASCII characters, without spaces",
    { toJsonSchema: () => ({ minLength: 1, maxLength: 255 }) }
  )
).annotate({
  description:
    "Repeats a call safely for 24 hours: the same request under the same key gets the first answer and is charged once. " +
    "Another request under it is 409 `IDEMPOTENCY_CONFLICT`. A new key for each thing that is wanted, for example a UUID."
})

/** The headers of a call that may be repeated (HTTP-16). */
export const onceHeaders = { [KEY]: Schema.optionalKey(Key) } as const

/** Why a call is refused for its key. */
export const onceRefusals = [
  problemSchema("IDEMPOTENCY_CONFLICT", {}),
  problemSchema("IDEMPOTENCY_IN_PROGRESS", {})
] as const

/** Says of a POST without a key why repeating it makes and costs nothing more. */
export const RepeatsWithoutKey = Context.Reference<string | undefined>("postlane/http/RepeatsWithoutKey", {
  defaultValue: () => undefined
})

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

const otherRequest = problem(
  "IDEMPOTENCY_CONFLICT",
  "The Idempotency-Key stands for another request of yours. Send a new key with a new request"
)
const underWay = problem(
  "IDEMPOTENCY_IN_PROGRESS",
  "A call with this Idempotency-Key is under way. Send the same request again in a moment"
)
const away = unavailable("idempotency keys cannot be reached", "Idempotency keys cannot be read now")

type NotBegun = Problem<"IDEMPOTENCY_CONFLICT"> | Problem<"IDEMPOTENCY_IN_PROGRESS"> | Problem<"UNAVAILABLE">

/** The problem of a call that was not begun. */
const refused = (error: OtherRequest | CallUnderWay | StoreUnavailable): Effect.Effect<never, NotBegun> => {
  switch (error._tag) {
    case "OtherRequest":
      return Effect.fail(otherRequest)
    case "CallUnderWay":
      return Effect.fail(underWay)
    case "StoreUnavailable":
      return away(error)
  }
}

/** A call as its route sees it. */
export interface OnceCall extends Omit<Call, "sameContent"> {
  readonly sameContent: (contentHash: string) => Effect.Effect<void, NotBegun>
}

/** What a call asks for. */
interface Asked<E, R> {
  readonly headers: { readonly [KEY]?: string }
  /** The route, and its parameters. */
  readonly route: readonly [name: string, ...parameters: ReadonlyArray<string | null>]
  /** Reads the body, where it is JSON. With a key it is read before anything else is looked at. */
  readonly body: Effect.Effect<unknown, E, R>
  /** The hash of another body. */
  readonly contentHash?: Effect.Effect<string, E, R> | undefined
}

const keyed = (key: string, customerId: CustomerId, asked: ReadonlyArray<unknown>): KeyedRequest => ({
  customerId,
  keyHash: KeyHash.make(hashOf(key)),
  requestHash: hashOf(JSON.stringify(asked))
})

/**
 * Answers a call of an owner once for each key. `run` makes its ids of the call's, and a 4xx of it has changed nothing. Its answer is
 * the JSON that the endpoint declares.
 */
type Once = <A, E extends Problem, R, E2 extends Problem, R2>(
  asked: Asked<E2, R2>,
  run: (call: OnceCall, body: Effect.Effect<unknown, E2, R2>) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E | E2 | NotBegun, R | R2 | CurrentOwner>

const onceOn =
  (calls: RepeatableCalls["Service"]): Once =>
  <A, E extends Problem, R, E2 extends Problem, R2>(
    { body, contentHash, headers, route }: Asked<E2, R2>,
    run: (call: OnceCall, body: Effect.Effect<unknown, E2, R2>) => Effect.Effect<A, E, R>
  ) =>
    Effect.gen(function* () {
      const { customerId } = yield* CurrentOwner
      const key = headers[KEY]
      const given = key === undefined ? undefined : yield* body
      const request = key === undefined ? undefined : keyed(key, customerId, [...route, given ?? null])
      const answer: Effect.Effect<A, E | E2 | OtherRequest | CallUnderWay | StoreUnavailable, R | R2> =
        calls.once<A, E, R, E2, R2>(request, {
          run: ({ sameContent, ...call }) =>
            run(
              { ...call, sameContent: (hash) => sameContent(hash).pipe(Effect.catch(refused)) },
              key === undefined ? body : Effect.succeed(given)
            ),
          changedNothing: ({ status }) => status < 500,
          contentHash
        })
      return yield* answer.pipe(
        Effect.catch((error): Effect.Effect<never, E | E2 | NotBegun> =>
          "_tag" in error ? refused(error) : Effect.fail(error)
        )
      )
    })

export const makeOnce: Effect.Effect<Once, never, RepeatableCalls> = Effect.map(RepeatableCalls, onceOn)
