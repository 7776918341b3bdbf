import { Clock, Context, Data, Effect, Layer, Result } from "effect"

import type { BeganRetry } from "../../ports/mail/mail-store.ts"
import { noAnswer, type StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { LogRowId } from "../ids.ts"
import { uptime } from "../uptime.ts"
import { unconfigured } from "./attempt.ts"
import { type DeferredSend, delayBefore, hasExpired, withinWindow, withoutDropped } from "./deferred-send.ts"
import { dedupes } from "./failover.ts"
import { countRetry } from "./metrics.ts"
import { deferred, failed, type SendResult, sent, suppressed } from "./send-result.ts"
import { claimLeaseMs, enqueueRetry, makeSendParts, type SendParts, type SendServices } from "./sending.ts"
import { findEvidence, noteEvidence, rowOf } from "./store-access.ts"
import { type BlockReason, blockedAddresses, suppressedError } from "./suppression/policy.ts"
import { newTrace, type Trace, traced } from "./trace.ts"

/** How long a retry waits before it tries again to lease a key that another process works on. */
const BUSY_WAIT = "1 second"

/** Another process held the key longer than a lease allows: the message returns to the queue. */
class KeyStaysBusy extends Data.TaggedError("KeyStaysBusy")<{ readonly rowId: LogRowId }> {}

/** Why a retry's message returns to the queue: it is received again, three times at most. */
export type RetryFailure = KeyStaysBusy | StoreUnavailable

/**
 * Handles a queued retry (MAIL-51 to MAIL-56). Its first attempt was ambiguous, so that no outcome here proves that nothing
 * was delivered: a retry that is refused ends `failed` with kind `ambiguous` (S2); one that the provider could not take
 * either is queued again while the schedule lasts.
 */
export class RetryHandler extends Context.Service<
  RetryHandler,
  {
    /** Succeeds once the outcome is recorded, or acceptance is proven: the message can be deleted (D3). */
    readonly handle: (message: DeferredSend) => Effect.Effect<void, RetryFailure>
  }
>()("postlane/domain/RetryHandler") {}

/** The handler, on the services of its ports. */
export const layer: Layer.Layer<RetryHandler, never, SendServices> = Layer.effect(
  RetryHandler,
  Effect.map(makeSendParts, (parts) =>
    RetryHandler.of({
      handle: (message) => {
        const named = { sendId: message.rowId, idempotencyKey: message.details.idempotencyKey }
        return parts.runner.detached(Effect.annotateLogs(handle(parts, message), named))
      }
    })
  )
)

/** One retry: look-up and lease, the attempt, the row. */
const handle = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend
): Effect.fn.Return<void, RetryFailure> {
  const owner = yield* parts.newId()
  const began = yield* begin(parts, message, owner)
  if (began._tag === "Settled") {
    yield* noteEvidence(began.evidence)
    return yield* countRetry("settled")
  }
  if (began._tag === "Recorded") return yield* countRetry("recorded")
  const { details } = message
  const blocked = blockedAddresses(details.category, began.suppressions)
  const trace = newTrace()
  const result = yield* send(parts, message, blocked, trace)
  yield* record(parts, rowOf(parts.config, result, withoutDropped(details, blocked), trace, settledBy(owner)))
  yield* countRetry(result.status)
  if (result.status === "failed") {
    yield* Effect.logError("a deferred send ended failed: no retry follows").pipe(
      Effect.annotateLogs({ error: result.error, source: details.source })
    )
  }
})

/** A retry returns the lease on its key and leaves the first call's result as it is. */
const settledBy = (owner: string) =>
  ({ owner, state: "deferred", ambiguous: true, result: undefined }) as const

const bounded = <A>(
  { config }: SendParts,
  operation: string,
  call: Effect.Effect<A, StoreUnavailable>
): Effect.Effect<A, StoreUnavailable> =>
  withDeadline(call, {
    duration: config.dbTimeoutMs,
    onTimeout: () => Effect.fail(noAnswer(operation, `${config.dbTimeoutMs} ms`))
  })

/**
 * Evidence and suppressions before an attempt, and the lease on the key; waits while another process works on it. A provider
 * that dedupes is tried even if the database does not answer. The other one is not: a mail whose acceptance an event has
 * proven would go out twice. Its message waits instead.
 */
const begin = Effect.fnUntraced(function* (
  parts: SendParts,
  { details, request: { provider }, rowId }: DeferredSend,
  owner: string
): Effect.fn.Return<Exclude<BeganRetry, { readonly _tag: "Busy" }>, RetryFailure> {
  if (!parts.store.configured) return { _tag: "Go", suppressions: [] }
  const leaseMs = claimLeaseMs(parts.config)
  const addresses = [...details.to, ...details.others]
  const entry = { keyHash: details.keyHash, provider, rowId, addresses, owner, leaseMs }
  const ask = bounded(parts, "beginRetry", parts.store.beginRetry(entry)).pipe(
    Effect.catch((error) =>
      dedupes(provider)
        ? Effect.logWarning(
            "mail store: beginRetry failed, the provider dedupes, the retry goes on",
            error
          ).pipe(Effect.as<BeganRetry>({ _tag: "Go", suppressions: [] }))
        : Effect.fail(error)
    )
  )
  const deadline = (yield* uptime) + 2 * leaseMs
  while (true) {
    const began = yield* ask
    if (began._tag !== "Busy") return began
    if ((yield* uptime) >= deadline) return yield* new KeyStaysBusy({ rowId })
    yield* Effect.sleep(BUSY_WAIT)
  }
})

const triedBy = ({ failedOver, request: { provider } }: DeferredSend) => ({ provider, failedOver })

/** Nothing proves that an earlier attempt was not delivered. */
const gaveUp = (message: DeferredSend, error: string): SendResult =>
  failed(message, triedBy(message), "ambiguous", error)

/** Sends the request again, unless the mail came due too late or nobody is left to get it. */
const send = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend,
  blocked: ReadonlyMap<string, BlockReason>,
  trace: Trace
): Effect.fn.Return<SendResult, RetryFailure> {
  const { details, request } = message
  const now = yield* Clock.currentTimeMillis
  if (!withinWindow(now - message.firstAttemptAt))
    return gaveUp(message, "its retry came due 24 hours after the first attempt")
  if (hasExpired(message.expiresAt, now)) return gaveUp(message, "the mail expired before its retry")
  const adapter = parts.providers.get(request.provider)
  const isTouched = [...details.to, ...details.others].some((address) => blocked.has(address))
  const mailed =
    isTouched && adapter !== undefined ? adapter.withoutRecipients(request, new Set(blocked.keys())) : request
  if (mailed === undefined) {
    const reasons = details.to.flatMap((address) => blocked.get(address) ?? [])
    return suppressed(message, triedBy(message), suppressedError(reasons))
  }
  const attempt = yield* traced(
    trace,
    request.provider,
    adapter === undefined
      ? Effect.fail(unconfigured(request.provider))
      : parts.runner.attempt(adapter, mailed)
  )
  if (Result.isSuccess(attempt)) return sent(message, triedBy(message), attempt.success.messageId)
  const { kind, message: reason } = attempt.failure
  if (kind === "rejected") return gaveUp(message, reason)
  const evidence = yield* findEvidence(parts, details.keyHash, request.provider)
  if (evidence === undefined) return yield* again(parts, message, reason, trace)
  yield* noteEvidence(evidence)
  return sent(message, triedBy(message), evidence.providerMessageId)
})

/** Queues the next retry, or ends the send where the schedule is over. */
const again = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend,
  reason: string,
  trace: Trace
): Effect.fn.Return<SendResult, RetryFailure> {
  const attempt = message.attempt + 1
  const now = yield* Clock.currentTimeMillis
  const delay = delayBefore(attempt, parts.config.deferDelaysSeconds, now - message.firstAttemptAt)
  if (delay === undefined) return gaveUp(message, `gave up after ${message.attempt} retries: ${reason}`)
  if (hasExpired(message.expiresAt, now + delay * 1000))
    return gaveUp(message, `the mail expires before its next retry; the last one: ${reason}`)
  const rowId = yield* nextRowId(parts, message.rowId)
  yield* enqueueRetry(parts, { ...message, attempt, rowId }, delay)
  trace.retryAt = now + delay * 1000
  yield* Effect.logWarning("a retry was ambiguous and waits for the next").pipe(
    Effect.annotateLogs({ provider: message.request.provider, attempt: message.attempt, reason })
  )
  return deferred(message, triedBy(message))
})

/** The row id of the next retry: derived from this one, so that a message handled twice queues one successor. */
const nextRowId = ({ sha256Hex }: SendParts, rowId: LogRowId): Effect.Effect<LogRowId> =>
  Effect.map(sha256Hex(`postlane retry after ${rowId}`), (hex) =>
    LogRowId.make(
      [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `8${hex.slice(13, 16)}`,
        `8${hex.slice(17, 20)}`,
        hex.slice(20, 32)
      ].join("-")
    )
  )

/**
 * Writes the row and returns the lease. An acceptance is never repeated for the sake of its row, which is written a second time
 * instead: in a process that was frozen, the overdue timer fires before the answer is read.
 */
const record = (
  parts: SendParts,
  row: Parameters<SendParts["store"]["record"]>[0]
): Effect.Effect<void, RetryFailure> =>
  parts.store.configured
    ? bounded(parts, "record", parts.store.record(row)).pipe(
        Effect.retry({ times: row.outcome === "sent" ? 1 : 0 }),
        Effect.catch((error) =>
          row.outcome === "sent"
            ? Effect.logError(
                "a retry was accepted, but its row could not be written: the log shows it as deferred until an event settles it",
                error
              )
            : Effect.fail(error)
        ),
        Effect.asVoid
      )
    : Effect.void
