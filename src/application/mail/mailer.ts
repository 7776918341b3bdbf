import { Context, Effect, Layer, Result } from "effect"

import { IdempotencyKey, KeyHash, LogRowId } from "../../domain/ids.ts"
import { settledState } from "../../domain/mail/claim-end.ts"
import { type Claimed, continuation, type Evidence, sharesRetries } from "../../domain/mail/claim.ts"
import { detailsOf, type SendDetails, withoutDropped } from "../../domain/mail/deferred-send.ts"
import { afterFailure, type Route, routeOf, stickTo } from "../../domain/mail/failover.ts"
import {
  makeMessage,
  type Message,
  recipientKeys,
  type SendRequest,
  withoutBlocked
} from "../../domain/mail/message.ts"
import {
  deferred,
  failed,
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest,
  type NotBegun,
  type SendResult,
  sent,
  suppressed
} from "../../domain/mail/send-result.ts"
import { statusRank } from "../../domain/mail/status.ts"
import { type BlockReason, blockedAddresses, suppressedError } from "../../domain/mail/suppression/policy.ts"
import { uptime } from "../uptime.ts"
import { beginCall } from "./begin-call.ts"
import { afterwardsMs, defer, notAsked } from "./defer.ts"
import { reportFailover } from "./failover-report.ts"
import { certain, type ClaimPassed, holdsFor, mayLeave, NowBlocked, unbegun, unmoved } from "./hold.ts"
import { ask, untilWritten, withImpatience } from "./impatience.ts"
import { countSend } from "./metrics.ts"
import { replay } from "./replay.ts"
import {
  type Impatience,
  layerProcess,
  makeSendParts,
  type Sending,
  type SendParts,
  type SendServices
} from "./sending.ts"
import { findEvidence, noteEvidence, record, rowOf } from "./store-access.ts"
import { doubtOf, newTrace } from "./trace.ts"
import { Traceparent } from "./traceparent.ts"
import { reportUnclaimed } from "./unclaimed.ts"
import { linked, oneClickOf } from "./unsubscribe-links.ts"
import { requestFor } from "./vendor-request.ts"

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
>()("postlane/application/Mailer") {}

/** The mailer, on the services of its ports. */
export const layer: Layer.Layer<Mailer, never, SendServices> = Layer.effect(
  Mailer,
  Effect.map(makeSendParts, (parts) =>
    Mailer.of({
      send: (request) => {
        const message = makeMessage(request, parts.config.defaults)
        return Result.isFailure(message)
          ? Effect.fail(new InvalidRequest({ issues: message.failure }))
          : withImpatience(request.deferAfterMs, (impatience) =>
              parts.runner.detached(send(parts, message.success, request, impatience))
            ).pipe(Effect.map((result) => ({ ...result, ...oneClickOf(parts.makeLink, message.success) })))
      }
    })
  )
).pipe(Layer.provide(layerProcess))

/** One send; each of its log lines names it. */
const send = (
  parts: SendParts,
  message: Message,
  request: SendRequest,
  impatience: Impatience | undefined
): Effect.Effect<SendResult, NotBegun> =>
  Effect.flatMap(parts.newId(), (id) => {
    const rowId = LogRowId.make(id)
    const key = IdempotencyKey.make(request.idempotencyKey ?? rowId)
    return sendOnce(parts, message, request, { rowId, owner: rowId, key }, impatience).pipe(
      Effect.annotateLogs({ sendId: rowId, idempotencyKey: key })
    )
  })

/** Look-up and claim, the providers, the row. */
export const sendOnce = Effect.fnUntraced(function* (
  parts: SendParts,
  asked: Message,
  { idempotencyKey: chosenKey, requireClaim = false }: Pick<SendRequest, "idempotencyKey" | "requireClaim">,
  { key, owner, rowId }: { readonly key: IdempotencyKey; readonly owner: string; readonly rowId: LogRowId },
  impatience?: Impatience
): Effect.fn.Return<SendResult, NotBegun> {
  const keyHash = KeyHash.make(yield* parts.sha256Hex(key))
  const route = routeOf(parts.config, asked.provider)
  const message = yield* linked(parts.makeLink, asked, key)
  const call = {
    // The key is bound to what the caller asked for, wherever its link leads.
    message: asked,
    key,
    keyHash,
    rowId,
    owner,
    isChosen: chosenKey !== undefined,
    requireClaim,
    first: route.first
  }
  const begun = yield* beginCall(parts, call)
  const blocked = blockedAddresses(message, begun.suppressions)
  const traceparent = yield* Traceparent
  const keyed = {
    idempotencyKey: key,
    keyHash,
    keyTag: begun.tag ?? null,
    ...(traceparent === undefined ? {} : { traceparent })
  }
  const { decision } = begun
  if (decision._tag !== "Claimed") {
    const details = detailsOf(message, withoutBlocked(message, blocked) ?? message, blocked, keyed)
    if (begun.untold && decision._tag === "Replay") {
      // A deferral may have ended while the database was away: written now, it would wait for retries that are over (D1).
      const result = yield* replay(parts, keyHash, decision.result)
      yield* recordKnown(parts, details, owner, result)
      return yield* replay(parts, keyHash, result)
    }
    return yield* decision._tag === "Replay" && begun.time === undefined
      ? Effect.succeed(decision.result)
      : answerOf(parts, decision, details)
  }
  const sending = {
    rowId,
    claim: begun.claim,
    holdsClaim: begun.claim !== undefined && begun.time !== undefined,
    hold: {
      since: begun.since,
      leaving: begun.leaving,
      ownKind: undefined,
      doubtful: decision.sticky !== undefined,
      torn: decision.torn === true
    },
    firstAttemptAt: decision.firstAttemptAt,
    time: begun.time,
    sticky: decision.sticky,
    sharesRetries: sharesRetries(decision, begun.claim !== undefined && begun.time !== undefined),
    after: decision.after,
    impatience,
    trace: newTrace()
  }
  const { evidence } = begun
  return yield* carryOut(parts, { message, keyed, sending, decision, route, evidence }, blocked)
})

/** A call that has its key; some of its recipients may be blocked. */
interface Given {
  /** To all recipients. */
  readonly message: Message
  readonly keyed: Parameters<typeof detailsOf>[3]
  readonly sending: Omit<Sending, "message" | "details">
  readonly decision: Claimed
  readonly route: Route
  readonly evidence: Evidence | undefined
}

/** The attempts, the row; from the start, with fewer recipients, where somebody was blocked since. */
const carryOut = (
  parts: SendParts,
  given: Given,
  blocked: ReadonlyMap<string, BlockReason>
): Effect.Effect<SendResult, NotBegun> => {
  const { keyed, message } = given
  const remaining = withoutBlocked(message, blocked)
  const details = detailsOf(message, remaining ?? message, blocked, keyed)
  const sending: Sending = { ...given.sending, message: remaining ?? message, details }
  return attempts(parts, sending, { ...given, blocked, remaining }).pipe(
    Effect.flatMap((result) => certain(parts, sending, result)),
    Effect.flatMap((result) => conclude(parts, sending, result)),
    Effect.catchTags({
      ClaimPassed: ({ says }) => answerOf(parts, says, details),
      NowBlocked: (later) => carryOut(parts, given, new Map([...blocked, ...later.blocked]))
    })
  )
}

/** What a call answers that sends nothing. */
const answerOf = (
  parts: SendParts,
  says: ClaimPassed["says"],
  { idempotencyKey, keyHash }: SendDetails
): Effect.Effect<SendResult, IdempotencyConflict | IdempotencyInProgress> => {
  switch (says._tag) {
    case "Conflict":
      return Effect.fail(new IdempotencyConflict({ idempotencyKey }))
    case "InProgress":
      return Effect.fail(new IdempotencyInProgress({ idempotencyKey }))
    case "Replay":
      return replay(parts, keyHash, says.result)
  }
}

/** Evidence, suppressions, and then the providers. */
const attempts = Effect.fnUntraced(function* (
  parts: SendParts,
  sending: Sending,
  given: Pick<Given, "decision" | "route" | "evidence"> & {
    readonly blocked: ReadonlyMap<string, BlockReason>
    readonly remaining: Message | undefined
  }
): Effect.fn.Return<SendResult, ClaimPassed | NowBlocked> {
  const { blocked, decision, evidence, route } = given
  const { sticky } = decision
  if (evidence !== undefined) {
    yield* noteEvidence(evidence)
    return proven(sending, evidence, route)
  }
  if (given.remaining === undefined) {
    const reasons = sending.details.to.flatMap((address) => blocked.get(address) ?? [])
    const error = suppressedError(reasons, sticky !== undefined)
    return suppressed(sending, { provider: sticky ?? null, failedOver: false }, error)
  }
  const provider = sticky ?? route.first
  const tried = { provider, failedOver: false }
  const next = continuation(decision)
  const reason = "an earlier attempt on this key ended without an answer"
  if (next === "end") {
    const why = decision.torn ? "another one at the other provider, too" : "too old to be tried again"
    return failed(sending, tried, "ambiguous", `${reason}; ${why}`)
  }
  const request = next === "defer" ? requestFor(parts, sending, provider) : undefined
  if (request !== undefined) return yield* defer(parts, sending, tried, request, reason)
  return yield* deliver(parts, sending, stickTo(sticky, route))
})

/** An earlier attempt was accepted. */
const proven = (sending: Sending, { provider, providerMessageId }: Evidence, route: Route): SendResult =>
  sent(sending, { provider, failedOver: provider !== route.first }, providerMessageId)

/** Records in a store that was unavailable what this process knows of the key. */
const recordKnown = (parts: SendParts, details: SendDetails, owner: string, result: SendResult) => {
  const state = settledState(result.status, undefined, false)
  const settle = { owner, state, ambiguous: result.status !== "sent", result }
  return record(parts, rowOf(parts.config, result, details, newTrace(), settle))
}

/** Tries the first provider of the route, and then the fallback where MAIL-31 allows it. */
const deliver = Effect.fnUntraced(function* (
  parts: SendParts,
  sending: Sending,
  route: Route,
  /** The previous provider's refusal. */
  refusal?: string
): Effect.fn.Return<SendResult, ClaimPassed | NowBlocked> {
  const provider = route.first
  const tried = { provider, failedOver: refusal !== undefined }
  const { config } = parts
  const isHeld = yield* holdsFor(parts, sending, provider, config.attemptTimeoutMs + afterwardsMs(parts))
  const later = sending.hold.blocked
  if (isHeld && later !== undefined && recipientKeys(sending.message).some((address) => later.has(address)))
    return yield* new NowBlocked({ blocked: later })
  const leaves = !isHeld ? "passed" : sending.hold.leaving ? "may" : yield* mayLeave(parts, sending, provider)
  if (leaves !== "may") {
    const evidence = yield* findEvidence(parts, sending)
    if (evidence !== undefined) return proven(sending, evidence, route)
    return leaves === "unanswered" && refusal === undefined
      ? unbegun(sending, tried)
      : unmoved(sending, tried, refusal)
  }
  const request = requestFor(parts, sending, provider)
  const attempt = yield* ask(parts, sending, tried, request)
  if (attempt === undefined) return yield* notAsked(parts, sending, tried, request, refusal)
  if (Result.isSuccess(attempt)) {
    sending.trace.retryAt = null
    const details = withoutDropped(sending.details, sending.trace.withheld)
    return sent({ ...sending, details }, tried, attempt.success.messageId)
  }
  const failure = attempt.failure
  const error = refusal === undefined ? failure.message : `${refusal}; ${provider}: ${failure.message}`
  if (failure.knowsKey === true) sending.hold.doubtful = true
  if (sending.hold.isDeferred === true) return deferred(sending, tried)
  const after = afterFailure(route, sending.hold.doubtful, failure.kind)
  const next =
    after._tag !== "FailOver" || (yield* parts.terms.mayFailOver(after.to))
      ? after
      : afterFailure({ first: provider, fallback: undefined }, sending.hold.doubtful, failure.kind)
  sending.hold.ownKind = failure.kind
  switch (next._tag) {
    case "FailOver":
      yield* reportFailover(sending, failure, next.to)
      sending.hold.leaving = false
      return yield* deliver(
        parts,
        sending,
        { first: next.to, fallback: undefined },
        `${provider}: ${failure.message}`
      )
    case "Defer":
      return request === undefined
        ? failed(sending, tried, "ambiguous", error)
        : yield* defer(parts, sending, tried, request, error)
    case "End":
      return failed(sending, tried, next.kind, error)
  }
})

/** Writes the row and settles the claim; a failed write leaves the log incomplete and changes nothing else (S6). */
const conclude = Effect.fnUntraced(function* (
  parts: SendParts,
  { after, claim, details, hold, trace }: Sending,
  result: SendResult
): Effect.fn.Return<SendResult> {
  // A request of the queue is counted when it ends.
  const isCounted = parts.terms.refusedWait === undefined
  if (isCounted) yield* countSend(result.provider, result.status, details.category)
  if (result.status === "failed" && isCounted) {
    yield* Effect.logWarning("a send failed").pipe(
      Effect.annotateLogs({ error: result.error, kind: result.kind, source: details.source })
    )
  }
  const isOver = hold.torn && result.status !== "sent"
  const state = isOver ? "ended" : settledState(result.status, hold.ownKind, hold.doubtful)
  const ambiguous =
    hold.doubtful || (result.status === "deferred" && hold.unasked !== true) || state === "ambiguous"
  const end = claim === undefined ? undefined : { owner: claim.owner, state, ambiguous, result, after }
  // Of a queued mail the process knows the doubt alone: a deferral is in its request, where that could be written, and one that waits for
  // its key has not ended.
  const goesOn = result.status === "deferred" || (trace.waitsForKey === true && state !== "refused")
  const kept = end !== undefined && !isCounted && goesOn ? { ...end, result: undefined } : end
  if (kept !== undefined) parts.memory.settle(details.keyHash, kept, yield* uptime, doubtOf(trace))
  const write = record(parts, rowOf(parts.config, result, details, trace, end))
  const recorded = yield* hold.isDeferred === true ? untilWritten(parts, write) : write
  if (recorded === undefined) return result
  yield* reportUnclaimed(parts)
  const isProven =
    result.status === "deferred" && recorded.providerMessageId !== null && statusRank(recorded.status) > 1
  const answer: SendResult = isProven
    ? { ...result, status: "sent", sendId: recorded.sendId, providerMessageId: recorded.providerMessageId }
    : { ...result, sendId: recorded.sendId }
  if (end !== undefined) parts.memory.answer(details.keyHash, end.owner, answer)
  return answer
})
