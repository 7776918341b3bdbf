import { Clock, Context, Effect, Layer, Result } from "effect"

import type { ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { IdempotencyKey, KeyHash, LogRowId } from "../ids.ts"
import { addressKey, addressOf } from "./address.ts"
import { unconfigured } from "./attempt.ts"
import { settledState } from "./claim.ts"
import { delayBefore, hasExpired, type ProviderRequest, type SendDetails } from "./deferred-send.ts"
import {
  dedupes,
  failoverTarget,
  type Provider,
  type Route,
  routeOf,
  stickTo,
  stickyKind
} from "./failover.ts"
import {
  makeMessage,
  type Message,
  payloadOf,
  recipientKeys,
  type SendRequest,
  withoutBlocked
} from "./message.ts"
import { countFailover, countSend } from "./metrics.ts"
import { endedSince } from "./replay.ts"
import {
  deferred,
  failed,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest,
  type NotBegun,
  type SendResult,
  sent,
  suppressed,
  type Tried
} from "./send-result.ts"
import {
  claimLeaseMs,
  enqueueRetry,
  makeSendParts,
  type Sending,
  type SendParts,
  type SendServices
} from "./sending.ts"
import { statusRank } from "./status.ts"
import { begin, deferralEnd, findEvidence, moveClaim, noteEvidence, record, rowOf } from "./store-access.ts"
import { storeNow } from "./store-time.ts"
import { type BlockReason, blockedAddresses, suppressedError } from "./suppression/policy.ts"
import { newTrace, traced } from "./trace.ts"

/**
 * Outbound mail (MAIL-1): suppression look-up, primary, fallback only after proof that the primary did not accept, one row.
 * What may have been accepted is deferred to a retry on the same key and provider.
 */
export class Mailer extends Context.Service<
  Mailer,
  {
    /** Sends one mail; once begun it ends in a result, whatever fails, also when the caller is interrupted. */
    readonly send: (request: SendRequest) => Effect.Effect<SendResult, NotBegun>
  }
>()("postlane/domain/Mailer") {}

/** The mailer, on the services of its ports. */
export const layer: Layer.Layer<Mailer, never, SendServices> = Layer.effect(
  Mailer,
  Effect.map(makeSendParts, (parts) =>
    Mailer.of({
      send: (request) => {
        const message = makeMessage(request, parts.config.defaults)
        return Result.isFailure(message)
          ? Effect.fail(new InvalidRequest({ issues: message.failure }))
          : parts.runner.detached(send(parts, message.success, request.idempotencyKey))
      }
    })
  )
)

/** One send, whose log lines all name it. */
const send = (
  parts: SendParts,
  message: Message,
  chosenKey: string | undefined
): Effect.Effect<SendResult, IdempotencyConflict | IdempotencyInProgress> =>
  Effect.flatMap(parts.newId(), (id) => {
    const rowId = LogRowId.make(id)
    const idempotencyKey = IdempotencyKey.make(chosenKey ?? rowId)
    return sendOnce(parts, message, chosenKey, { rowId, idempotencyKey }).pipe(
      Effect.annotateLogs({ sendId: rowId, idempotencyKey })
    )
  })

/** Look-up and claim, the providers, the row. */
const sendOnce = Effect.fnUntraced(function* (
  parts: SendParts,
  message: Message,
  chosenKey: string | undefined,
  { idempotencyKey, rowId }: { readonly idempotencyKey: IdempotencyKey; readonly rowId: LogRowId }
): Effect.fn.Return<SendResult, IdempotencyConflict | IdempotencyInProgress> {
  const now = yield* Clock.currentTimeMillis
  const startedAt = yield* Clock.monotonicTimeNanos
  const keyHash = KeyHash.make(yield* parts.sha256Hex(idempotencyKey))
  const claim =
    chosenKey === undefined || !parts.store.configured
      ? undefined
      : { owner: rowId, payloadHash: yield* parts.sha256Hex(payloadOf(message)) }
  const route = routeOf(parts.config, message.provider)

  const began = yield* begin(parts, message, { keyHash, claim, first: route.first }, now)
  const { decision } = began
  if (decision._tag === "Conflict") return yield* new IdempotencyConflict({ idempotencyKey })
  if (decision._tag === "InProgress") return yield* new IdempotencyInProgress({ idempotencyKey })
  if (decision._tag === "Replay") return yield* replay(parts, keyHash, decision.result)

  const blocked = blockedAddresses(message.category, began.suppressions)
  const remaining = withoutBlocked(message, blocked)
  const sending: Sending = {
    rowId,
    message: remaining ?? message,
    details: detailsOf(message, remaining ?? message, blocked, { idempotencyKey, keyHash }),
    owner: claim?.owner,
    holdsClaim: claim !== undefined && began.time !== undefined,
    startedAt,
    firstAttemptAt: decision.firstAttemptAt,
    time: began.time,
    sticky: decision.sticky,
    trace: newTrace()
  }
  if (began.evidence !== undefined) {
    const { provider, providerMessageId } = began.evidence
    yield* noteEvidence(began.evidence)
    return yield* conclude(parts, sending, sent(sending, { provider, failedOver: false }, providerMessageId))
  }
  if (remaining === undefined) {
    const reasons = sending.details.to.flatMap((address) => blocked.get(address) ?? [])
    const error = suppressedError(reasons)
    return yield* conclude(parts, sending, suppressed(sending, { provider: null, failedOver: false }, error))
  }
  const walk = decision.takeover ? takeOver : deliver
  return yield* conclude(parts, sending, yield* walk(parts, sending, stickTo(decision.sticky, route)))
})

/** The first result again; of a deferral, how it ended since. */
const replay = (parts: SendParts, keyHash: KeyHash, result: SendResult): Effect.Effect<SendResult> =>
  result.status === "deferred"
    ? Effect.map(deferralEnd(parts, { keyHash, sendId: result.sendId }), (end) => endedSince(result, end))
    : Effect.succeed(result)

/** What the rows of a send have in common; `mailed` is the message without the suppressed recipients. */
const detailsOf = (
  message: Message,
  mailed: Message,
  blocked: ReadonlyMap<string, BlockReason>,
  key: Pick<SendDetails, "idempotencyKey" | "keyHash">
): SendDetails => ({
  category: message.category,
  source: message.source,
  from: addressOf(message.from),
  to: mailed.to.map(addressKey),
  others: [...mailed.cc, ...mailed.bcc].map(addressKey),
  dropped: recipientKeys(message).filter((address) => blocked.has(address)),
  subject: message.subject,
  ...key
})

/** The vendor's request, byte-identical for the same message and key; `undefined` where the provider is not configured. */
const requestFor = (
  { providers }: SendParts,
  { details, message }: Sending,
  provider: Provider
): ProviderRequest | undefined =>
  providers.get(provider)?.prepare(message, { key: details.idempotencyKey, keyHash: details.keyHash })

/** Goes on where an earlier attempt on the key left no result: only a provider that dedupes is asked again (MAIL-43). */
const takeOver = (
  parts: SendParts,
  sending: Sending,
  route: Route
): Effect.Effect<SendResult, IdempotencyInProgress> => {
  const provider = route.first
  const request = dedupes(provider) ? undefined : requestFor(parts, sending, provider)
  return request === undefined
    ? deliver(parts, sending, route)
    : defer(
        parts,
        sending,
        { provider, failedOver: false },
        request,
        "an earlier attempt on this key ended without an answer"
      )
}

/** Tries the first provider of the route, and then the fallback where MAIL-31 allows it. */
const deliver = Effect.fnUntraced(function* (
  parts: SendParts,
  sending: Sending,
  route: Route,
  /** The previous provider's refusal. */
  refusal?: string
): Effect.fn.Return<SendResult, IdempotencyInProgress> {
  const provider = route.first
  const tried = { provider, failedOver: refusal !== undefined }
  if (!(yield* stillHolds(parts, sending))) return yield* lost(sending)
  const adapter = parts.providers.get(provider)
  const request = requestFor(parts, sending, provider)
  const attempt = yield* traced(
    sending.trace,
    provider,
    adapter === undefined || request === undefined
      ? Effect.fail(unconfigured(provider))
      : parts.runner.attempt(adapter, request)
  )
  if (Result.isSuccess(attempt)) return sent(sending, tried, attempt.success.messageId)
  const failure = attempt.failure
  const target = failoverTarget(route, failure.kind)
  if (target !== undefined) {
    yield* failOver(parts, sending, failure, target)
    const onlyTarget = { first: target, fallback: undefined }
    return yield* deliver(parts, sending, onlyTarget, `${provider}: ${failure.message}`)
  }
  const kind = stickyKind(sending.sticky !== undefined, failure.kind)
  const error = refusal === undefined ? failure.message : `${refusal}; ${provider}: ${failure.message}`
  return kind === "ambiguous" && failure.kind !== "rejected" && request !== undefined
    ? yield* defer(parts, sending, tried, request, error)
    : failed(sending, tried, kind, error)
})

/** Whether this call may still hold its claim: a process that was frozen past its lease has lost it. */
const stillHolds = ({ config }: SendParts, sending: Sending): Effect.Effect<boolean> =>
  Effect.map(
    Clock.monotonicTimeNanos,
    (now) =>
      !sending.holdsClaim ||
      now - sending.startedAt < BigInt(claimLeaseMs(config) - config.attemptTimeoutMs) * 1_000_000n
  )

const lost = ({ details }: Sending) =>
  Effect.fail(new IdempotencyInProgress({ idempotencyKey: details.idempotencyKey }))

/** Reports the fail-over (MAIL-73), and moves the claim to the provider that is tried next. */
const failOver = Effect.fnUntraced(function* (
  parts: SendParts,
  sending: Sending,
  { message: reason, provider: from }: ProviderFailure,
  to: Provider
): Effect.fn.Return<void, IdempotencyInProgress> {
  const { details, holdsClaim, owner } = sending
  yield* Effect.logWarning("EMAIL_FAILOVER").pipe(
    Effect.annotateLogs({ from, to, reason, source: details.source })
  )
  yield* countFailover
  if (owner === undefined || !holdsClaim) return
  const holds = yield* moveClaim(parts, { keyHash: details.keyHash, owner, provider: to })
  if (!holds) return yield* lost(sending)
})

/** An attempt may have arrived: settle it by evidence, else queue a retry, else end it `failed` (MAIL-32, MAIL-50, MAIL-52). */
const defer = Effect.fnUntraced(function* (
  parts: SendParts,
  sending: Sending,
  tried: Tried,
  request: ProviderRequest,
  reason: string
): Effect.fn.Return<SendResult> {
  const { details, firstAttemptAt, time } = sending
  const evidence = yield* findEvidence(parts, details.keyHash, request.provider)
  if (evidence !== undefined) {
    yield* noteEvidence(evidence)
    return sent(sending, tried, evidence.providerMessageId)
  }
  const doubtful = (error: string) => failed(sending, tried, "ambiguous", error)
  if (!parts.queue.configured) return doubtful(reason)
  const now = yield* storeNow(time)
  const delay = delayBefore(1, parts.config.deferDelaysSeconds, now - firstAttemptAt)
  if (delay === undefined) return doubtful(`${reason}; too old to be tried again`)
  const { expiresAt } = sending.message
  if (hasExpired(expiresAt, now + delay * 1000))
    return doubtful(`${reason}; the mail expires before it could be tried again`)
  const queued = yield* Effect.result(
    enqueueRetry(
      parts,
      {
        version: 1,
        rowId: LogRowId.make(yield* parts.newId()),
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
  return deferred(sending, tried)
})

/** Writes the row and settles the claim; a failed write leaves the log incomplete and changes nothing else (S6). */
const conclude = Effect.fnUntraced(function* (
  parts: SendParts,
  { details, owner, sticky, trace }: Sending,
  result: SendResult
): Effect.fn.Return<SendResult> {
  yield* countSend(result.provider, result.status, details.category)
  if (result.status === "failed") {
    yield* Effect.logWarning("a send failed").pipe(
      Effect.annotateLogs({ error: result.error, kind: result.kind, source: details.source })
    )
  }
  const state = settledState(result, sticky !== undefined)
  const ambiguous = sticky !== undefined || result.status === "deferred" || state === "ambiguous"
  const settle = owner === undefined ? undefined : { owner, state, ambiguous, result }
  const recorded = yield* record(parts, rowOf(parts.config, result, details, trace, settle))
  if (recorded === undefined) return result
  const proven =
    result.status === "deferred" && recorded.providerMessageId !== null && statusRank(recorded.status) > 1
  return proven
    ? { ...result, status: "sent", sendId: recorded.sendId, providerMessageId: recorded.providerMessageId }
    : { ...result, sendId: recorded.sendId }
})
