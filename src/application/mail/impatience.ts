import { Effect, Fiber, type Result, Schedule } from "effect"

import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { SendResult, Tried } from "../../domain/mail/send-result.ts"
import type { Accepted, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { withDeadline } from "../deadline.ts"
import { uptime } from "../uptime.ts"
import { unconfigured } from "./attempt.ts"
import { defer } from "./defer.ts"
import type { Impatience, Sending, SendParts } from "./sending.ts"
import { traced } from "./trace.ts"

/** How much later than the attempt's own limit a retry is due at the earliest that is queued during the attempt, seconds. */
const MARGIN_SECONDS = 10

/** Runs a send. Its caller gets an answer after `deferAfterMs`; the send continues to its end. */
export const withImpatience = <E>(
  deferAfterMs: number | undefined,
  send: (impatience: Impatience | undefined) => Effect.Effect<SendResult, E>
): Effect.Effect<SendResult, E> =>
  deferAfterMs === undefined
    ? send(undefined)
    : Effect.flatMap(uptime, (now) => {
        let answer: (result: SendResult) => void = () => {}
        const early = Effect.callback<SendResult>((resume) => {
          answer = (result) => resume(Effect.succeed(result))
        })
        return Effect.raceFirst(
          early,
          send({ until: now + deferAfterMs, answer: (result) => answer(result) })
        )
      })

type Attempted = Effect.Effect<Result.Result<Accepted, ProviderFailure>>

/**
 * Queues the retry of an attempt that is under way, and only then answers `deferred` (S5). The retry is due after the attempt has ended.
 * Where none can be queued the caller waits for the attempt.
 */
const deferEarly = (
  parts: SendParts,
  sending: Sending,
  tried: Tried,
  request: ProviderRequest,
  { answer }: Impatience
): Effect.Effect<void> =>
  defer(
    parts,
    sending,
    tried,
    request,
    "the caller does not wait for the provider",
    parts.config.attemptTimeoutMs / 1000 + MARGIN_SECONDS
  ).pipe(
    Effect.map((result) => {
      if (result.status !== "deferred") return
      sending.hold.isDeferred = true
      answer(result)
    }),
    // At its end the attempt finds out what the claim says.
    Effect.catchTag("ClaimPassed", () => Effect.void)
  )

const withEarlyAnswer = (
  parts: SendParts,
  sending: Sending,
  tried: Tried,
  request: ProviderRequest | undefined,
  attempt: Attempted
): Attempted => {
  const { impatience } = sending
  if (impatience === undefined || request === undefined) return attempt
  return Effect.gen(function* () {
    const asking = yield* Effect.forkChild(attempt, { startImmediately: true })
    yield* withDeadline(Effect.exit(Fiber.join(asking)), {
      duration: Math.max(0, impatience.until - (yield* uptime)),
      onTimeout: () => deferEarly(parts, sending, tried, request, impatience)
    })
    return yield* Fiber.join(asking)
  })
}

/** One attempt at a provider; undefined where it hangs, so that it was not asked. */
export const ask = (
  parts: SendParts,
  sending: Sending,
  tried: Tried & { readonly provider: Provider },
  request: ProviderRequest | undefined
): Effect.Effect<Effect.Success<Attempted> | undefined> => {
  const { provider } = tried
  const adapter = parts.providers.get(provider)
  const attempt = traced(
    sending.trace,
    provider,
    adapter === undefined || request === undefined
      ? Effect.fail(unconfigured(provider))
      : parts.runner.attempt(adapter, request)
  )
  return parts.circuits.unlessHanging(
    provider,
    parts.config.attemptTimeoutMs,
    withEarlyAnswer(parts, sending, tried, request, attempt)
  )
}

/** How many times a row is written that the database did not take, and the time between two writes. */
const WRITES = 6
const WRITE_AGAIN_AFTER = "5 seconds"

/** Writes the row of a send that was answered before its end. Without the row the retry would ask again after an acceptance (S4). */
export const untilWritten = <A>(
  { store }: SendParts,
  write: Effect.Effect<A | undefined>
): Effect.Effect<A | undefined> =>
  store.configured
    ? Effect.repeat(write, {
        schedule: Schedule.spaced(WRITE_AGAIN_AFTER),
        times: WRITES - 1,
        until: (row) => row !== undefined
      })
    : write
