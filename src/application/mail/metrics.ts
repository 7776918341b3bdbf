import { Cause, Clock, Context, Effect, type Exit, Metric } from "effect"

import { FailureKind } from "../../domain/mail/failover.ts"
import { Provider } from "../../domain/mail/provider.ts"
import { SendStatus } from "../../domain/mail/send-result.ts"
import { Category } from "../../domain/mail/suppression/policy.ts"
import type { ProviderFailure } from "../../ports/mail/mail-provider.ts"
import type { MailStore } from "../../ports/mail/mail-store.ts"
import { counter, increment, perLabel } from "../counters.ts"

/** How one attempt at a provider ended; `interrupted` where its caller stopped waiting. */
const ATTEMPT_OUTCOMES = ["accepted", ...FailureKind.literals, "interrupted"] as const
type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/**
 * The outcome of a queued retry: the send's status, or `settled` (proven accepted before it was tried), `recorded` (its row
 * was there already) and `busy` (another process works on the key).
 */
const RETRY_OUTCOMES = [...SendStatus.literals, "settled", "recorded", "put_back"] as const
type RetryOutcome = (typeof RETRY_OUTCOMES)[number]

/** The operations of the mail store. */
const STORE_OPERATIONS = [
  "begin",
  "moveClaim",
  "findEvidence",
  "deferralEnd",
  "beginRetry",
  "record"
] as const satisfies ReadonlyArray<keyof MailStore["Service"]>
type StoreOperation = (typeof STORE_OPERATIONS)[number]

/** Upper bounds of the attempt histogram's buckets, in seconds; the last is an attempt's default time-out. */
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]

/** The provider label of a send that reached no provider. */
const NO_PROVIDER = "none" as const

const sends = perLabel([...Provider.literals, NO_PROVIDER], (provider) =>
  perLabel(SendStatus.literals, (status) =>
    perLabel(Category.literals, (category) =>
      counter("postlane_sends_total", "Sends by their result.", { provider, status, category })
    )
  )
)

const attempts = perLabel(Provider.literals, (provider) => ({
  seconds: Metric.histogram("postlane_send_attempt_seconds", {
    description: "Time that one attempt at a provider took, in seconds.",
    attributes: { provider },
    boundaries: ATTEMPT_SECONDS
  }),
  outcomes: perLabel(ATTEMPT_OUTCOMES, (outcome) =>
    counter("postlane_send_attempts_total", "Attempts at a provider by their outcome.", { provider, outcome })
  )
}))

const failovers = counter("postlane_failovers_total", "Sends that went to the fallback provider.")

const retries = perLabel(RETRY_OUTCOMES, (outcome) =>
  counter("postlane_retries_total", "Queued retries by what became of them.", { outcome })
)

const degraded = perLabel(STORE_OPERATIONS, (operation) =>
  counter("postlane_mail_store_failures_total", "Operations of the mail store that a send went on without.", {
    operation
  })
)

const unclaimed = counter(
  "postlane_unclaimed_sends_total",
  "Sends that went out without suppression look-up and claim, since the database did not answer."
)

/** Metrics of mail, for {@link showFromStart}: of these providers. Those of another one are shown once something is counted. */
export const mailMetrics = (providers: ReadonlyArray<Provider>) => [
  ...[...providers, NO_PROVIDER].flatMap((provider) =>
    Object.values(sends[provider]).flatMap((by) => Object.values(by))
  ),
  ...providers.flatMap((provider) => [
    attempts[provider].seconds,
    ...Object.values(attempts[provider].outcomes)
  ]),
  failovers,
  ...Object.values(retries),
  ...Object.values(degraded),
  unclaimed
]

/** Counts a send by its result; `provider` is null where none was tried. */
export const countSend = (
  provider: Provider | null,
  status: SendStatus,
  category: Category
): Effect.Effect<void> => increment(sends[provider ?? NO_PROVIDER][status][category])

/** Counts a fail-over. */
export const countFailover: Effect.Effect<void> = increment(failovers)

/** Counts an operation of the mail store that failed or came too late, so that the send went on without it. */
export const countDegraded = (operation: StoreOperation): Effect.Effect<void> =>
  increment(degraded[operation])

/** Counts a send that went out without look-up and claim. */
export const countUnclaimed: Effect.Effect<void> = increment(unclaimed)

/** Counts a queued retry. */
export const countRetry = (outcome: RetryOutcome): Effect.Effect<void> => increment(retries[outcome])

/** How an attempt ended. */
export const attemptOutcome = (exit: Exit.Exit<unknown, ProviderFailure>): AttemptOutcome => {
  if (exit._tag === "Success") return "accepted"
  const failure = Cause.findErrorOption(exit.cause)
  if (failure._tag === "Some") return failure.value.kind
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "ambiguous"
}

/** Runs one attempt at a provider, timed and counted by how it ends. */
export const countAttempt = <A, R>(
  provider: Provider,
  attempt: Effect.Effect<A, ProviderFailure, R>
): Effect.Effect<A, ProviderFailure, R> =>
  Effect.contextWith((context: Context.Context<R>) => {
    const clock = Context.get(context, Clock.Clock)
    const started = clock.monotonicTimeNanosUnsafe()
    const { outcomes, seconds } = attempts[provider]
    return Effect.onExit(attempt, (exit) => {
      seconds.updateUnsafe(Number(clock.monotonicTimeNanosUnsafe() - started) / 1e9, context)
      outcomes[attemptOutcome(exit)].updateUnsafe(1, context)
      return Effect.void
    })
  })
