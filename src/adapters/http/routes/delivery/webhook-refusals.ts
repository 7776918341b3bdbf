import { Effect } from "effect"

import { counter, increment, perLabel } from "../../../../application/counters.ts"
import { makeSparseLines } from "../../../../application/sparse-lines.ts"
import { Provider, reports } from "../../../../domain/mail/provider.ts"

/**
 * Why a webhook's request was refused (EVENT-5). `secret_unset`: the setting is missing, everybody is refused. `secret`: the
 * header is missing or wrong. `signature`: invalid, or its time is too far off. `body`, `size`: of an authorised caller.
 */
const REASONS = ["secret_unset", "secret", "signature", "body", "size"] as const
export type RefusalReason = (typeof REASONS)[number]

const refused = perLabel(Provider.literals, (source) =>
  perLabel(REASONS, (reason) =>
    counter("postlane_webhook_refused_total", "Requests to the providers' webhooks that were refused.", {
      source,
      reason
    })
  )
)

/** Metrics of these providers' webhooks, for `showFromStart`. */
export const webhookMetrics = (providers: ReadonlyArray<Provider>) =>
  providers.filter(reports).flatMap((provider) => Object.values(refused[provider]))

/** Module state, because on the edge every request builds new services. */
const sparsely = makeSparseLines()

/** Counts a refusal, and logs it once a minute for each source and reason: anybody can send requests that are refused. */
export const countRefusal = Effect.fnUntraced(function* (
  source: Provider,
  reason: RefusalReason,
  /** The text of the answer. */
  detail: string
) {
  yield* increment(refused[source][reason])
  yield* sparsely(`${source} ${reason}`, Effect.logWarning("a webhook was refused"), {
    source,
    reason,
    detail
  })
})
