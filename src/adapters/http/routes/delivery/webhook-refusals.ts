import { Effect, Metric } from "effect"

import type { Provider } from "../../../../domain/mail/failover.ts"
import { makeSparseLines } from "../../../../domain/sparse-lines.ts"

/**
 * Why a webhook's request was refused (EVENT-5). `secret_unset`: the setting is missing, everybody is refused. `secret`: the
 * header is missing or wrong. `signature`: invalid, or its time is too far off. `body`, `size`: of an authorised caller.
 */
export type RefusalReason = "secret_unset" | "secret" | "signature" | "body" | "size"

/** Module state, because on the edge every request builds its services anew. */
const sparsely = makeSparseLines()

/** Counts a refusal, and logs it once a minute for each source and reason: anybody can send requests that are refused. */
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
  yield* sparsely(`${source} ${reason}`, Effect.logWarning("a webhook was refused"), {
    source,
    reason,
    detail
  })
})
