import { Effect, Result } from "effect"

import type { LogRowId } from "../../domain/ids.ts"
import { delayBefore, hasExpired, type ProviderRequest, tagOf } from "../../domain/mail/deferred-send.ts"
import { stickyKind } from "../../domain/mail/failover.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { deferred, failed, type SendResult, sent, type Tried } from "../../domain/mail/send-result.ts"
import { type ClaimPassed, holdsFor } from "./hold.ts"
import { watchRetries } from "./retry-watch.ts"
import { derivedRowId, ENQUEUE_TIMEOUT_MS, enqueueRetry, type Sending, type SendParts } from "./sending.ts"
import { findEvidence, noteEvidence } from "./store-access.ts"
import { storeNow } from "./store-time.ts"

/** What a call may still need after its last attempt: evidence, the queue, the row. */
export const afterwardsMs = ({ config }: SendParts): number => 2 * config.dbTimeoutMs + ENQUEUE_TIMEOUT_MS

/** An attempt may have arrived: settle it by evidence, else queue a retry, else end it `failed` (MAIL-32, MAIL-50, MAIL-52). */
export const defer = Effect.fnUntraced(function* (
  parts: SendParts,
  sending: Sending,
  tried: Tried,
  request: ProviderRequest,
  reason: string,
  /** The retry waits for at least so long. */
  leastSeconds?: number
): Effect.fn.Return<SendResult, ClaimPassed> {
  const { details, firstAttemptAt, time } = sending
  const evidence = yield* findEvidence(parts, sending)
  if (evidence !== undefined) {
    yield* noteEvidence(evidence)
    const { provider, providerMessageId } = evidence
    return sent(sending, { ...tried, provider }, providerMessageId)
  }
  const kind = sending.hold.unasked === true ? "unavailable" : "ambiguous"
  const doubtful = (error: string) => failed(sending, tried, kind, error)
  if (!parts.queue.configured) return doubtful(reason)
  if (!(yield* holdsFor(parts, sending, request.provider, afterwardsMs(parts) - parts.config.dbTimeoutMs))) {
    sending.trace.waitsForKey = true
    return doubtful(`${reason}; not deferred, since the database does not say whether the key is still held`)
  }
  const now = yield* storeNow(time)
  const scheduled = delayBefore(1, parts.config.deferDelaysSeconds, now - firstAttemptAt)
  const delay = scheduled === undefined ? undefined : Math.max(scheduled, leastSeconds ?? 0)
  if (delay === undefined) return doubtful(`${reason}; too old to be tried again`)
  const { expiresAt } = sending.message
  if (hasExpired(expiresAt, now + delay * 1000))
    return doubtful(`${reason}; the mail expires before it could be tried again`)
  const queued = yield* Effect.result(
    enqueueRetry(
      parts,
      {
        version: 1,
        rowId: yield* firstRetryId(parts, sending, request.provider),
        attempt: 1,
        request,
        details,
        firstAttemptAt,
        ...(time === undefined ? { timedBy: "process" as const } : {}),
        ...(expiresAt === undefined ? {} : { expiresAt }),
        failedOver: tried.failedOver
      },
      delay
    )
  )
  if (Result.isFailure(queued)) {
    const error = queued.failure.reason
    yield* Effect.logError("an ambiguous send could not be queued for its retry").pipe(
      Effect.annotateLogs({ error })
    )
    return doubtful(`${reason}; it could not be queued for a retry: ${error}`)
  }
  sending.trace.retryAt = now + delay * 1000
  yield* Effect.logWarning("an ambiguous send waits for its retry").pipe(
    Effect.annotateLogs({ provider: request.provider, reason, source: details.source })
  )
  yield* watchRetries(parts)
  return deferred(sending, tried)
})

/**
 * The row of the first retry. When a process died, its call may have queued the deferral already, and the call that takes the key
 * over queues it again: under the same row, so that the retries of both are one chain and not two (MAIL-57). A call without a claim may
 * wait for another provider: a row names one provider only, and what it leaves open there must be seen (S2).
 */
const firstRetryId = (
  parts: SendParts,
  { details, rowId, sharesRetries }: Sending,
  provider: Provider
): Effect.Effect<LogRowId> =>
  derivedRowId(
    parts,
    `postlane first retry of ${sharesRetries ? (tagOf(details) ?? rowId) : rowId} at ${provider}`
  )

/**
 * The provider hangs, and this request never left: it waits for its retry at once. No fail-over follows, which takes an answer (S3). Where
 * it cannot wait it ends, and unless an earlier attempt on the key was ambiguous it is certain that nothing was sent.
 */
export const notAsked = (
  parts: SendParts,
  sending: Sending,
  tried: Tried,
  request: ProviderRequest | undefined,
  refusal: string | undefined
): Effect.Effect<SendResult, ClaimPassed> => {
  const why = `${tried.provider} does not answer in time, and was not asked`
  const reason = refusal === undefined ? why : `${refusal}; ${why}`
  const { hold } = sending
  if (!hold.doubtful) {
    hold.unasked = true
    hold.ownKind = "unavailable"
  }
  return request === undefined
    ? Effect.succeed(failed(sending, tried, stickyKind(hold.doubtful, "unavailable"), reason))
    : defer(parts, sending, tried, request, reason)
}
