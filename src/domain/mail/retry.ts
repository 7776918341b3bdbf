import { Clock, Context, Data, Effect, Layer, Result } from "effect"

import type { ProviderFailure } from "../../ports/mail/mail-provider.ts"
import type { BeganRetry } from "../../ports/mail/mail-store.ts"
import { noAnswer, type StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import type { LogRowId } from "../ids.ts"
import { uptime } from "../uptime.ts"
import { unconfigured } from "./attempt.ts"
import { type ClaimEnd, settledState } from "./claim.ts"
import { type DeferredSend, delayBefore, hasExpired, tagOf, withoutDropped } from "./deferred-send.ts"
import { dedupes, type FailureKind, withinWindow } from "./failover.ts"
import { countRetry } from "./metrics.ts"
import { deferred, failed, type SendResult, sent, suppressed } from "./send-result.ts"
import {
  claimLeaseMs,
  derivedRowId,
  enqueueRetry,
  makeSendParts,
  type SendParts,
  type SendServices
} from "./sending.ts"
import { findEvidence, rowOf } from "./store-access.ts"
import { blockedAddresses, suppressedError, type SuppressionReason } from "./suppression/policy.ts"
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
    RetryHandler.of({ handle: (message) => parts.runner.detached(handle(parts, message)) })
  )
)

/** One retry: look-up and lease, the attempt, the row. */
const handle = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend
): Effect.fn.Return<void, RetryFailure> {
  const owner = yield* parts.newId()
  const began = yield* begin(parts, message, owner)
  if (began._tag === "Settled") return yield* countRetry("settled")
  if (began._tag === "Recorded") return yield* countRetry("recorded")
  const { details } = message
  const blocked = blockedAddresses(details.category, began.suppressions)
  const trace = newTrace()
  const { ownKind, result } = yield* send(parts, message, blocked, trace)
  const settle = settledBy(owner, result, ownKind)
  yield* record(parts, rowOf(parts.config, result, withoutDropped(details, blocked), trace, settle))
  yield* countRetry(result.status)
  if (result.status === "failed") {
    yield* Effect.logError("a deferred send ended failed: no retry follows").pipe(
      Effect.annotateLogs({ error: result.error, source: details.source, rowId: message.rowId })
    )
  }
})

/** How a retry ended: the key's result, and the last attempt's own answer where that was a refusal. */
interface Ended {
  readonly result: SendResult
  readonly ownKind?: FailureKind
}

/** A retry that another one follows returns the lease on its key; one that is the last of them says how the key ended. */
const settledBy = (owner: string, result: SendResult, ownKind: FailureKind | undefined): ClaimEnd => ({
  owner,
  state: settledState(result.status, ownKind, true),
  ambiguous: true,
  result: result.status === "deferred" ? undefined : result
})

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
  { details, firstAttemptAt, request: { provider }, rowId }: DeferredSend,
  owner: string
): Effect.fn.Return<Exclude<BeganRetry, { readonly _tag: "Busy" }>, RetryFailure> {
  if (!parts.store.configured) return { _tag: "Go", suppressions: [] }
  const leaseMs = claimLeaseMs(parts.config)
  const addresses = [...details.to, ...details.others]
  const entry = {
    keyHash: details.keyHash,
    tag: tagOf(details),
    firstAttemptAt,
    provider,
    rowId,
    addresses,
    owner,
    leaseMs
  }
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

/** Nothing proves that an earlier attempt was not delivered, whatever this one was answered. */
const gaveUp = (message: DeferredSend, error: string, ownKind?: FailureKind): Ended => ({
  result: failed(message, triedBy(message), "ambiguous", error),
  ...(ownKind === undefined ? {} : { ownKind })
})

/** Sends the request again, unless the mail came due too late or nobody is left to get it. */
const send = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend,
  blocked: ReadonlyMap<string, SuppressionReason>,
  trace: Trace
): Effect.fn.Return<Ended, RetryFailure> {
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
    return { result: suppressed(message, triedBy(message), suppressedError(reasons, true)) }
  }
  const attempt = yield* traced(
    trace,
    request.provider,
    adapter === undefined
      ? Effect.fail(unconfigured(request.provider))
      : parts.runner.attempt(adapter, mailed)
  )
  if (Result.isSuccess(attempt)) return { result: sent(message, triedBy(message), attempt.success.messageId) }
  const { kind, message: reason } = attempt.failure
  if (kind === "rejected") return gaveUp(message, reason, kind)
  const evidence = yield* findEvidence(parts, message)
  if (evidence === undefined) return yield* again(parts, message, attempt.failure, trace)
  const { provider, providerMessageId } = evidence
  return { result: sent(message, { ...triedBy(message), provider }, providerMessageId) }
})

/** Queues the next retry, or ends the send where the schedule is over. */
const again = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend,
  { kind, message: reason }: ProviderFailure,
  trace: Trace
): Effect.fn.Return<Ended, RetryFailure> {
  const attempt = message.attempt + 1
  const now = yield* Clock.currentTimeMillis
  const delay = delayBefore(attempt, parts.config.deferDelaysSeconds, now - message.firstAttemptAt)
  if (delay === undefined) return gaveUp(message, `gave up after ${message.attempt} retries: ${reason}`, kind)
  if (hasExpired(message.expiresAt, now + delay * 1000))
    return gaveUp(message, `the mail expires before its next retry; the last one: ${reason}`, kind)
  // Derived from this one's: a message that is handled twice queues one successor.
  const rowId = yield* derivedRowId(parts, `postlane retry after ${message.rowId}`)
  yield* enqueueRetry(parts, { ...message, attempt, rowId }, delay)
  trace.retryAt = now + delay * 1000
  yield* Effect.logWarning("a retry was ambiguous and waits for the next").pipe(
    Effect.annotateLogs({ provider: message.request.provider, attempt: message.attempt, reason })
  )
  return { result: deferred(message, triedBy(message)) }
})

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
