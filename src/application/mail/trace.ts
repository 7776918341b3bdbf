import { Clock, Effect, Result } from "effect"

import type { Attempt } from "../../domain/mail/logged-attempt.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { Accepted, ProviderFailure } from "../../ports/mail/mail-provider.ts"

/** What one call does at providers, noted for its row while it runs. */
export interface Trace {
  readonly attempts: Array<Attempt>
  /** When the retry that was queued is due, milliseconds since the epoch; null where none was. */
  retryAt: number | null
  /** Recipients that the provider withheld from the mail that it accepted, each `true`. */
  withheld: ReadonlyMap<string, true>
  /** See `RecordSend`. */
  waitsForKey?: true
}

export const newTrace = (): Trace => ({ attempts: [], retryAt: null, withheld: new Map() })

/** Where the call itself has asked, and got no clear answer. */
export const doubtOf = ({ attempts }: Trace): Provider | undefined =>
  attempts.findLast(({ outcome }) => outcome === "ambiguous")?.provider

/** Runs an attempt to its answer, and notes it. */
export const traced = Effect.fnUntraced(function* (
  trace: Trace,
  provider: Provider,
  attempt: Effect.Effect<Accepted, ProviderFailure>
): Effect.fn.Return<Result.Result<Accepted, ProviderFailure>> {
  const startedAt = yield* Clock.currentTimeMillis
  const from = yield* Clock.monotonicTimeNanos
  const answer = yield* Effect.result(attempt)
  const durationMs = Math.round(Number((yield* Clock.monotonicTimeNanos) - from) / 1e6)
  trace.attempts.push({
    provider,
    startedAt,
    durationMs,
    ...Result.match(answer, {
      onSuccess: () => ({ outcome: "accepted" as const, reason: null, code: null }),
      onFailure: ({ code, kind, message }) => ({ outcome: kind, reason: message, code: code ?? null })
    })
  })
  if (Result.isSuccess(answer))
    trace.withheld = new Map(answer.success.withheld?.map((one) => [one, true] as const))
  return answer
})
