import { Deferred, Effect, Fiber, type Result, Schedule } from "effect"

import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { SendResult, Tried } from "../../domain/mail/send-result.ts"
import type { Accepted, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { withDeadline } from "../deadline.ts"
import { uptime } from "../uptime.ts"
import { defer } from "./defer.ts"
import type { Impatience, Sending, SendParts } from "./sending.ts"

/** How much later than the attempt's own limit a retry begins at the earliest that is queued while the attempt is under way, seconds. */
const MARGIN_SECONDS = 10

/** Runs a send whose caller wants an answer after `deferAfterMs`; the send itself goes on to its end. */
export const withImpatience = <E>(
  deferAfterMs: number | undefined,
  send: (impatience: Impatience | undefined) => Effect.Effect<SendResult, E>
): Effect.Effect<SendResult, E> =>
  deferAfterMs === undefined
    ? send(undefined)
    : Effect.gen(function* () {
        const answer = yield* Deferred.make<SendResult>()
        const until = (yield* uptime) + deferAfterMs
        return yield* Effect.raceFirst(send({ until, answer }), Deferred.await(answer))
      })

/**
 * An attempt. Where its caller wants an answer before it has one, the retry is queued as of an ambiguous attempt, and only then the caller
 * is told `deferred` (S5); the attempt goes on. No retry begins while it is under way. Where no retry can be queued the caller waits.
 */
export const attemptedFor = (
  parts: SendParts,
  sending: Sending,
  tried: Tried,
  request: ProviderRequest | undefined,
  attempt: Effect.Effect<Result.Result<Accepted, ProviderFailure>>
): Effect.Effect<Result.Result<Accepted, ProviderFailure>> => {
  const { hold, impatience } = sending
  if (impatience === undefined || request === undefined) return attempt
  const { attemptTimeoutMs } = parts.config
  const deferring = defer(
    parts,
    sending,
    tried,
    request,
    "the caller does not wait for the provider",
    attemptTimeoutMs / 1000 + MARGIN_SECONDS
  ).pipe(
    Effect.flatMap((result) => {
      if (result.status !== "deferred") return Effect.void
      hold.isDeferred = true
      return Deferred.succeed(impatience.answer, result)
    }),
    // The attempt's own end answers what the claim says.
    Effect.catchTag("ClaimPassed", () => Effect.void)
  )
  return Effect.gen(function* () {
    const asking = yield* Effect.forkChild(attempt, { startImmediately: true })
    yield* withDeadline(Fiber.await(asking), {
      duration: Math.max(0, impatience.until - (yield* uptime)),
      onTimeout: () => deferring
    })
    return yield* Fiber.join(asking)
  })
}

/** How often a row is written that the database did not take, and how long apart: its retry looks for it, and nobody waits. */
const WRITES = 6
const WRITTEN_AGAIN = "5 seconds"

/** The row of a send whose caller has its answer: an acceptance that is not written would be asked for again by the retry (S4). */
export const untilWritten = <A>(
  { store }: SendParts,
  write: Effect.Effect<A | undefined>
): Effect.Effect<A | undefined> =>
  store.configured
    ? Effect.repeat(write, {
        schedule: Schedule.spaced(WRITTEN_AGAIN),
        times: WRITES - 1,
        until: (row) => row !== undefined
      })
    : write
