import { Effect } from "effect"

import type { Found } from "../../domain/doctor/cloud-side.ts"
import { failureText } from "../../domain/mail/failover.ts"

/** A call of a service's SDK; fails with why it did not answer, in words for an operator. */
export const asked = <A>(call: (abortSignal: AbortSignal) => Promise<A>): Effect.Effect<A, string> =>
  Effect.tryPromise({
    try: call,
    catch: (cause) =>
      cause instanceof Error ? failureText(`${cause.name}: ${cause.message}`) : "the SDK threw no error"
  })

/** What was looked at, or why it could not be. */
export const found = <A>(look: Effect.Effect<A, string>): Effect.Effect<Found<A>> =>
  look.pipe(
    Effect.map(seen),
    Effect.catch((why) => Effect.succeed<Found<A>>({ _tag: "Unseen", why }))
  )

export const seen = <A>(value: A): Found<A> => ({ _tag: "Seen", value })
