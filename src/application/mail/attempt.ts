import { Cause, type Context, Effect, Fiber } from "effect"

import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { type Accepted, type MailProvider, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { withDeadline } from "../deadline.ts"
import { ProviderCircuits, signOf } from "./circuits.ts"
import { countAttempt } from "./metrics.ts"
import { PaceReports } from "./pace-reports.ts"

/** How long a shutdown lets attempts under way finish by themselves, and then lets their outcomes be written. */
const DRAIN_GRACE = "6 seconds"
const DRAIN_WRITE = "3 seconds"

/** The failure of an attempt at a provider that has no adapter. */
export const unconfigured = (provider: Provider): ProviderFailure =>
  new ProviderFailure({ provider, kind: "unavailable", message: `${provider} is not configured` })

/** Runs sends so that each has an outcome, also when its caller is interrupted or the process shuts down. */
interface AttemptRunner {
  /** Runs one send to its end in a separate fiber: interrupting the caller does not interrupt it. */
  readonly detached: <A, E>(body: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** One attempt, bounded. A time-out, a defect and a shutdown count as `ambiguous`: the request may have arrived. */
  readonly attempt: (
    adapter: MailProvider,
    request: ProviderRequest
  ) => Effect.Effect<Accepted, ProviderFailure>
}

/** Makes a runner. Before its scope closes, its work is finished, or interrupted and counted as ambiguous. */
export const makeAttemptRunner = Effect.fnUntraced(function* (attemptTimeoutMs: number) {
  const bodies = new Set<Fiber.Fiber<unknown, unknown>>()
  const attempts = new Set<Fiber.Fiber<unknown, unknown>>()
  const paces = yield* PaceReports
  const circuits = yield* ProviderCircuits
  let closed = false
  const idle = Effect.suspend(() => Fiber.awaitAll([...bodies]))

  yield* Effect.addFinalizer(() =>
    withDeadline(idle, { duration: DRAIN_GRACE, onTimeout: () => Effect.void }).pipe(
      Effect.andThen(Effect.suspend(() => Fiber.interruptAll([...attempts]))),
      Effect.andThen(withDeadline(idle, { duration: DRAIN_WRITE, onTimeout: () => Effect.void })),
      Effect.andThen(
        Effect.suspend(() => {
          closed = true
          return Fiber.interruptAll([...bodies])
        })
      )
    )
  )

  const detached: AttemptRunner["detached"] = (body) =>
    Effect.contextWith((context: Context.Context<never>) => {
      if (closed) return Effect.interrupt
      const fiber = Effect.runForkWith(context)(body)
      bodies.add(fiber)
      fiber.addObserver(() => void bodies.delete(fiber))
      return Fiber.join(fiber)
    })

  const attempt: AttemptRunner["attempt"] = (adapter, request) => {
    const { provider } = adapter
    const ambiguous = (message: string, cut: ProviderFailure["cut"]) =>
      new ProviderFailure({ provider, kind: "ambiguous", message, cut })
    return withDeadline(adapter.send(request), {
      duration: attemptTimeoutMs,
      onTimeout: () => Effect.fail(ambiguous(`no answer within ${attemptTimeoutMs} ms`, "late")),
      onFork: (fiber) => {
        attempts.add(fiber)
        fiber.addObserver(() => void attempts.delete(fiber))
      }
    }).pipe(
      Effect.catchCause((cause) => {
        const failure = Cause.findErrorOption(cause)
        if (failure._tag === "Some") return Effect.fail(failure.value)
        return Cause.hasInterruptsOnly(cause)
          ? Effect.fail(ambiguous("shut down before the provider answered", "stopped"))
          : Effect.logError(
              "an attempt failed inside Postlane, so that it is unknown whether the mail went out: report this as a bug",
              cause
            ).pipe(Effect.andThen(Effect.fail(ambiguous("the provider adapter died", "stopped"))))
      }),
      Effect.tap(({ pace }) => {
        paces.note(provider, pace)
        return circuits.note(provider, "answered")
      }),
      Effect.tapError((failure) => {
        paces.note(provider, failure.pace)
        const sign = signOf(failure)
        return sign === undefined ? Effect.void : circuits.note(provider, sign)
      }),
      (run) => countAttempt(provider, run)
    )
  }

  return { detached, attempt } satisfies AttemptRunner
})
