import { Clock, Effect, Metric } from "effect"

import type { Provider } from "../../../../domain/mail/failover.ts"

/**
 * Why a webhook's request was refused (EVENT-5). `secret_unset`: the setting is missing, everybody is refused. `secret`: the
 * header is missing or wrong. `signature`: invalid, or its time is too far off. `body`, `size`: of an authorised caller.
 */
export type RefusalReason = "secret_unset" | "secret" | "signature" | "body" | "size"

/** One line a minute for each source and reason: anybody can send requests that are refused. */
const LINE_EVERY = 60_000_000_000n

interface Lines {
  readonly at: bigint
  /** Refusals since then that were not logged. */
  readonly unlogged: number
}

/** Module state, because on the edge every request builds its services anew. */
const lines = new Map<string, Lines>()

/** Counts a refusal, and logs it if none was logged within {@link LINE_EVERY}. */
export const countRefusal = Effect.fnUntraced(function* (
  source: Provider,
  reason: RefusalReason,
  /** The text of the answer. */
  detail: string
) {
  const counter = Metric.counter("postlane_webhook_refused_total", {
    description: "Requests to the providers' webhooks that were refused.",
    incremental: true,
    attributes: { source, reason }
  })
  yield* Metric.update(counter, 1)
  const key = `${source} ${reason}`
  const now = yield* Clock.monotonicTimeNanos
  const last = lines.get(key)
  if (last !== undefined && now - last.at < LINE_EVERY) {
    lines.set(key, { at: last.at, unlogged: last.unlogged + 1 })
    return
  }
  lines.set(key, { at: now, unlogged: 0 })
  yield* Effect.logWarning("a webhook was refused").pipe(
    Effect.annotateLogs({
      source,
      reason,
      detail,
      ...(last === undefined ? {} : { sinceLastLine: last.unlogged })
    })
  )
})
