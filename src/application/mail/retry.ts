import { Context, Effect, Layer, Result } from "effect"

import { type ClaimEnd, settledState } from "../../domain/mail/claim-end.ts"
import {
  ageBySchedule,
  type DeferredSend,
  delayBefore,
  hasExpired,
  tagOf,
  tooLate,
  tornBy,
  triedBy,
  withoutDropped
} from "../../domain/mail/deferred-send.ts"
import type { FailureKind } from "../../domain/mail/failover.ts"
import { deferred, failed, type SendResult, sent, suppressed } from "../../domain/mail/send-result.ts"
import { type BlockReason, blockedAddresses, suppressedError } from "../../domain/mail/suppression/policy.ts"
import type { ProviderFailure } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { uptime } from "../uptime.ts"
import { unconfigured } from "./attempt.ts"
import { beginRetry, type Go, NotBegun } from "./begin-retry.ts"
import { countRetry } from "./metrics.ts"
import { recordRetry, untilAnswered } from "./retry-store.ts"
import {
  derivedRowId,
  enqueueRetry,
  layerProcess,
  makeSendParts,
  type SendParts,
  type SendServices
} from "./sending.ts"
import { findEvidence, noteEvidence, rowOf } from "./store-access.ts"
import { storeNow } from "./store-time.ts"
import { newTrace, type Trace, traced } from "./trace.ts"

/** Wait of a message after an attempt that could not begin, in seconds; at most the first retry's delay, which drills shorten. */
const NOT_BEGUN_WAIT_SECONDS = 30

/**
 * Handles a queued retry (MAIL-51 to MAIL-56). Its first attempt was ambiguous, so that no outcome here proves that nothing
 * was delivered: a retry that is refused ends `failed` with kind `ambiguous` (S2); one that the provider could not take
 * either is queued again while the schedule lasts.
 */
export class RetryHandler extends Context.Service<
  RetryHandler,
  {
    /**
     * Succeeds once the outcome is recorded, or acceptance is proven, or the message was put back since nothing could begin: it can be
     * deleted (D3). An outage is waited for, and is no failure; one that is left is about this message, and costs one of its receives.
     */
    readonly handle: (message: DeferredSend) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/application/RetryHandler") {}

/** The handler, on the services of its ports. */
export const layer: Layer.Layer<RetryHandler, never, SendServices> = Layer.effect(
  RetryHandler,
  Effect.map(makeSendParts, (parts) =>
    RetryHandler.of({
      handle: (message) => retryOnce(parts, message)
    })
  )
).pipe(Layer.provide(layerProcess))

/** Handles one message, whatever it is queued in. */
export const retryOnce = (parts: SendParts, message: DeferredSend): Effect.Effect<void, StoreUnavailable> =>
  parts.runner.detached(handle(parts, message)).pipe(
    Effect.catchTag("NotBegun", (why) => putBack(parts, message, why)),
    Effect.annotateLogs({ sendId: message.rowId, idempotencyKey: message.details.idempotencyKey })
  )

/** Hands the message back, with no receive counted; a queue that does not answer either is asked again until it does. */
const putBack = (
  parts: SendParts,
  message: DeferredSend,
  { reason }: NotBegun
): Effect.Effect<void, StoreUnavailable> => {
  const wait = Math.max(1, Math.min(NOT_BEGUN_WAIT_SECONDS, parts.config.deferDelaysSeconds[0]))
  return Effect.logWarning("a retry could not begin, and waits again").pipe(
    Effect.annotateLogs({ reason, rowId: message.rowId }),
    Effect.andThen(untilAnswered("be put back", enqueueRetry(parts, message, wait, "putBack"))),
    Effect.andThen(countRetry("put_back"))
  )
}

/** How a retry ended: the key's result, and the last attempt's own answer where that was a refusal. */
interface Ended {
  readonly result: SendResult
  readonly ownKind?: FailureKind
}

/** A retry that another one follows returns the lease on its key; one that is the last of them says how the key ended. */
const settledBy = (owner: string, { ownKind, result }: Ended): ClaimEnd => ({
  owner,
  state: settledState(result.status, ownKind, true),
  ambiguous: true,
  result: result.status === "deferred" ? undefined : result,
  isRetry: true
})

/** One retry: what the process itself knows of the key, and then what the store does. */
const handle = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend
): Effect.fn.Return<void, NotBegun | StoreUnavailable> {
  const owner = yield* parts.newId()
  const { details, request } = message
  const { memory } = parts
  const ageMs = ageBySchedule(message, parts.config.deferDelaysSeconds)
  const retry = {
    provider: request.provider,
    owner,
    tag: tagOf(details),
    leaseMs: parts.terms.leaseMs,
    ageMs
  }
  const now = yield* uptime
  const { decision: own, undo } = memory.beginRetry(details.keyHash, retry, now)
  if (own._tag === "Busy") return yield* new NotBegun({ reason: "this process works on its key" })
  // The message is there since an attempt at its provider got no clear answer.
  const settle = (end: ClaimEnd) =>
    Effect.map(uptime, (at) =>
      memory.settle(details.keyHash, end, at, end.state === "accepted" ? undefined : retry.provider)
    )
  if (own._tag === "Go") {
    const held: Held = {
      owner,
      torn: own.torn,
      ageMs: now - own.claim.firstAttemptAt,
      undo,
      goOn: (age) =>
        Effect.map(uptime, (at) => {
          undo()
          const { decision } = memory.beginRetry(details.keyHash, { ...retry, ageMs: age }, at)
          return decision._tag === "Go"
        }),
      settle
    }
    return yield* retried(parts, message, held).pipe(
      Effect.ensuring(settle({ owner, state: "deferred", ambiguous: true, result: undefined, isRetry: true }))
    )
  }
  const { provider, providerMessageId } = own.evidence
  const result = sent(message, { ...triedBy(message), provider }, providerMessageId)
  yield* recordRetry(parts, rowOf(parts.config, result, details, newTrace(), settledBy(owner, { result })))
  yield* noteEvidence(own.evidence)
  yield* countRetry("settled")
})

/** The claim's words for a retry: any payload fits, as with a claim that a retry made. */
const requestOf = ({ details, request }: DeferredSend, owner: string) => ({
  payloadHash: "",
  provider: request.provider,
  owner,
  tag: tagOf(details)
})

/** What the process holds of the key while its retry is under way. */
interface Held {
  readonly owner: string
  /** Since the key's first attempt, milliseconds, as far as the process knows. */
  readonly ageMs: number
  /** Restores the key's earlier state, since no provider is asked. */
  readonly undo: () => void
  /** The process itself has left the key in doubt at the other provider, so that neither may be asked (S2). */
  readonly torn: boolean
  /** An attempt follows, on a key of that age; false where another call of the process took the key during a freeze. */
  readonly goOn: (ageMs: number) => Effect.Effect<boolean>
  readonly settle: (end: ClaimEnd) => Effect.Effect<void>
}

/** Look-up and lease, the attempt, the row. What the process learns it remembers before it is written. */
const retried = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend,
  held: Held
): Effect.fn.Return<void, NotBegun | StoreUnavailable> {
  const { owner } = held
  const began = yield* beginRetry(parts, message, held).pipe(Effect.tapError(() => Effect.sync(held.undo)))
  if (began._tag !== "Go") held.undo()
  if (began._tag === "Settled") {
    const { at, firstAttemptAt, lastAttemptAt } = began
    const { provider, providerMessageId } = began.evidence
    const result = sent(message, { ...triedBy(message), provider }, providerMessageId)
    // As old as its key: nothing was asked now.
    const told = {
      result,
      ageMs: Math.max(0, at - firstAttemptAt),
      lastAgeMs: Math.max(0, at - lastAttemptAt)
    }
    parts.memory.learn(message.details.keyHash, told, requestOf(message, owner), yield* uptime)
    if (parts.terms.refusedWait !== undefined)
      yield* recordRetry(
        parts,
        rowOf(parts.config, result, message.details, newTrace(), settledBy(owner, { result }))
      )
    yield* noteEvidence(began.evidence)
    return yield* countRetry("settled")
  }
  if (began._tag === "Recorded") return yield* countRetry("recorded")
  const { details } = message
  const blocked = blockedAddresses(details, began.suppressions)
  const trace = newTrace()
  const now = yield* storeNow(began.time)
  const torn = began.torn || held.torn
  const late = tooLate(message, began.firstAttemptAt, now) ?? tornBy(torn)
  if (late !== undefined) held.undo()
  else if (!(yield* held.goOn(Math.max(held.ageMs, now - began.firstAttemptAt))))
    return yield* new NotBegun({ reason: "this process works on its key" })
  const ended =
    late === undefined ? yield* send(parts, message, { ...began, blocked }, trace) : gaveUp(message, late)
  const { result } = ended
  const settled = settledBy(owner, ended)
  const end: ClaimEnd = torn ? { ...settled, state: "ended" } : settled
  yield* held.settle(end)
  yield* recordRetry(parts, rowOf(parts.config, result, withoutDropped(details, blocked), trace, end))
  yield* countRetry(result.status)
  if (result.status === "failed") {
    yield* Effect.logError("a deferred send ended failed: no retry follows").pipe(
      Effect.annotateLogs({ error: result.error, source: details.source })
    )
  }
})

/** Nothing proves that an earlier attempt was not delivered, whatever this one was answered. */
const gaveUp = (message: DeferredSend, error: string, ownKind?: FailureKind): Ended => ({
  result: failed(message, triedBy(message), "ambiguous", error),
  ...(ownKind === undefined ? {} : { ownKind })
})

/** Sends the request again, unless all its recipients are suppressed. */
const send = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend,
  began: Go & { readonly blocked: ReadonlyMap<string, BlockReason> },
  trace: Trace
): Effect.fn.Return<Ended, StoreUnavailable> {
  const { details, request } = message
  const { blocked } = began
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
  if (Result.isSuccess(attempt)) {
    const mailedTo = { ...message, details: withoutDropped(details, trace.withheld) }
    return { result: sent(mailedTo, triedBy(message), attempt.success.messageId) }
  }
  const { kind, message: reason } = attempt.failure
  if (kind === "rejected") return gaveUp(message, reason, kind)
  const evidence = yield* findEvidence(parts, { ...began, details })
  if (evidence === undefined)
    return yield* again(parts, message, { ...began, failure: attempt.failure }, trace)
  yield* noteEvidence(evidence)
  const { provider, providerMessageId } = evidence
  return { result: sent(message, { ...triedBy(message), provider }, providerMessageId) }
})

/** Queues the next retry, or ends the send where the schedule is over. */
const again = Effect.fnUntraced(function* (
  parts: SendParts,
  message: DeferredSend,
  { failure, firstAttemptAt, time }: Go & { readonly failure: ProviderFailure },
  trace: Trace
): Effect.fn.Return<Ended, StoreUnavailable> {
  const { kind, message: reason } = failure
  const attempt = message.attempt + 1
  const now = yield* storeNow(time)
  const { refusedWait } = parts.terms
  if (kind === "unavailable" && refusedWait !== undefined) {
    const wait = refusedWait(failure, now - firstAttemptAt)
    if (wait === undefined) return gaveUp(message, `its time is over: ${reason}`, kind)
    yield* untilAnswered("be put back", enqueueRetry(parts, message, wait, "putBack"))
    return { result: deferred(message, triedBy(message)) }
  }
  const delay = delayBefore(attempt, parts.config.deferDelaysSeconds, now - firstAttemptAt)
  if (delay === undefined) return gaveUp(message, `gave up after ${message.attempt} retries: ${reason}`, kind)
  if (hasExpired(message.expiresAt, now + delay * 1000))
    return gaveUp(message, `the mail expires before its next retry; the last one: ${reason}`, kind)
  // Derived from this one's: a message that is handled twice queues one successor.
  const rowId = yield* derivedRowId(parts, `postlane retry after ${message.rowId}`)
  yield* untilAnswered("queue the next one", enqueueRetry(parts, { ...message, attempt, rowId }, delay))
  trace.retryAt = now + delay * 1000
  yield* Effect.logWarning("a retry was ambiguous and waits for the next").pipe(
    Effect.annotateLogs({ provider: message.request.provider, attempt: message.attempt, reason })
  )
  return { result: deferred(message, triedBy(message)) }
})
