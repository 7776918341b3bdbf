import { Clock, Context, Effect, Layer, Result } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import { MailProviders } from "../../ports/mail/mail-provider.ts"
import { MailStore, type RecordSend } from "../../ports/mail/mail-store.ts"
import { noAnswer } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { addressKey, addressOf } from "./address.ts"
import { makeAttemptRunner } from "./attempt.ts"
import { settledState } from "./claim.ts"
import { type DeferredSend, type ProviderRequest, delayBefore, hasExpired } from "./deferred-send.ts"
import { failoverTarget, routeOf, stickyKind, dedupes, type Provider } from "./failover.ts"
import {
  makeMessage,
  type Message,
  payloadOf,
  recipientKeys,
  type SendRequest,
  withoutBlocked
} from "./message.ts"
import { countFailover, countSend } from "./metrics.ts"
import {
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest,
  type NotBegun,
  type SendResult
} from "./send-result.ts"
import {
  claimLeaseMs,
  ENQUEUE_TIMEOUT_MS,
  MailerConfig,
  type Ending,
  resultOf,
  type Sending
} from "./sending.ts"
import { statusRank } from "./status.ts"
import { makeStoreAccess } from "./store-access.ts"
import { blockedAddresses, suppressedError } from "./suppression-policy.ts"

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

const encoder = new TextEncoder()

const make = Effect.gen(function* () {
  const config = yield* MailerConfig
  const store = yield* MailStore
  const queue = yield* DeferQueue
  const providers = yield* MailProviders
  const digest = yield* Digest
  const random = yield* SecureRandom
  const runner = yield* makeAttemptRunner(providers, config.attemptTimeoutMs)
  const access = makeStoreAccess(store, config)
  const leaseMs = claimLeaseMs(config)

  const sha256Hex = (text: string) => digest.digestHex(sha256, encoder.encode(text))

  /** An attempt may have arrived: settle it by evidence, else queue a retry, else end it `failed` (MAIL-32, MAIL-50, MAIL-52). */
  const settleAmbiguous = Effect.fnUntraced(function* (
    sending: Sending,
    request: ProviderRequest,
    reason: string,
    failedOver: boolean
  ): Effect.fn.Return<Ending> {
    const { provider } = request
    const evidence = yield* access.findEvidence(sending.wireKey.keyHash, provider)
    if (evidence !== undefined)
      return { _tag: "Sent", provider, messageId: evidence.providerMessageId, failedOver }
    const failed = (error: string): Ending => ({
      _tag: "Failed",
      provider,
      kind: "ambiguous",
      error,
      failedOver
    })
    if (!queue.configured) return failed(reason)
    const now = yield* Clock.currentTimeMillis
    const delay = delayBefore(1, config.deferDelaysSeconds, now - sending.firstAttemptAt)
    if (delay === undefined) return failed(`${reason}; too old to be tried again`)
    const { expiresAt } = sending.message
    if (hasExpired(expiresAt, now + delay * 1000))
      return failed(`${reason}; the mail expires before it could be tried again`)
    const deferred: DeferredSend = {
      version: 1,
      rowId: yield* random.uuidV7(),
      attempt: 1,
      request,
      details: sending.details,
      firstAttemptAt: sending.firstAttemptAt,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      failedOver
    }
    return yield* withDeadline(queue.enqueue(deferred, delay), {
      duration: ENQUEUE_TIMEOUT_MS,
      onTimeout: () => Effect.fail(noAnswer("enqueue", `${ENQUEUE_TIMEOUT_MS} ms`))
    }).pipe(
      Effect.andThen(
        Effect.logWarning("an ambiguous send waits for its retry").pipe(
          Effect.annotateLogs({ provider, reason, source: sending.details.source })
        )
      ),
      Effect.as<Ending>({ _tag: "Deferred", provider, failedOver }),
      Effect.catch((error) =>
        Effect.logError("an ambiguous send could not be queued for its retry", { error: error.reason }).pipe(
          Effect.as(failed(`${reason}; it could not be queued for a retry: ${error.reason}`))
        )
      )
    )
  })

  /** Whether this call may still hold its claim: a process that was frozen past its lease has lost it. */
  const stillHolds = (sending: Sending) =>
    Effect.map(
      Clock.monotonicTimeNanos,
      (now) =>
        !sending.holdsClaim ||
        now - sending.startedAt < BigInt(leaseMs - config.attemptTimeoutMs) * 1_000_000n
    )

  const lost = (sending: Sending) =>
    Effect.fail(new IdempotencyInProgress({ idempotencyKey: sending.details.idempotencyKey }))

  /** Tries `provider`, and then the fallback where MAIL-31 allows it. */
  const deliver = Effect.fnUntraced(function* (
    sending: Sending,
    provider: Provider,
    fallback: Provider | undefined,
    /** The previous provider's refusal. */
    refusal?: string
  ): Effect.fn.Return<Ending, IdempotencyInProgress> {
    const failedOver = refusal !== undefined
    if (!(yield* stillHolds(sending))) return yield* lost(sending)
    const adapter = providers.get(provider)
    const request = adapter?.prepare(sending.message, sending.wireKey) ?? {
      provider,
      key: sending.wireKey.key,
      body: null
    }
    const attempt = yield* Effect.result(runner.attempt(request))
    if (Result.isSuccess(attempt)) {
      return { _tag: "Sent", provider, messageId: attempt.success.messageId, failedOver }
    }
    const failure = attempt.failure
    const target = failoverTarget({ first: provider, fallback }, failure.kind)
    if (target !== undefined) {
      yield* Effect.logWarning("EMAIL_FAILOVER").pipe(
        Effect.annotateLogs({
          from: provider,
          to: target,
          reason: failure.message,
          source: sending.details.source
        })
      )
      yield* countFailover
      if (sending.owner !== undefined && sending.holdsClaim) {
        const claim = { keyHash: sending.wireKey.keyHash, owner: sending.owner, provider: target }
        const holds = yield* access.moveClaim(claim)
        if (!holds) return yield* lost(sending)
      }
      return yield* deliver(sending, target, undefined, `${provider}: ${failure.message}`)
    }
    const kind = stickyKind(sending.sticky !== undefined, failure.kind)
    const error = refusal === undefined ? failure.message : `${refusal}; ${provider}: ${failure.message}`
    if (kind === "ambiguous" && failure.kind !== "rejected" && adapter !== undefined) {
      return yield* settleAmbiguous(sending, request, error, failedOver)
    }
    return { _tag: "Failed", provider, kind, error, failedOver }
  })

  /** Writes the row and settles the claim; a failed write leaves the log incomplete and changes nothing else (S6). */
  const conclude = Effect.fnUntraced(function* (
    sending: Sending,
    ending: Ending
  ): Effect.fn.Return<SendResult> {
    const common = {
      sendId: sending.rowId,
      failedOver: ending._tag === "Suppressed" ? false : ending.failedOver,
      idempotencyKey: sending.details.idempotencyKey,
      suppressedRecipients: sending.suppressedRecipients
    }
    const result = resultOf(ending, common)
    yield* countSend(result.provider, result.status, sending.details.category)
    if (!result.ok && result.status === "failed") {
      yield* Effect.logWarning("a send failed").pipe(
        Effect.annotateLogs({ error: result.error, kind: result.kind, source: sending.details.source })
      )
    }
    const ambiguous =
      sending.sticky !== undefined || (result.status === "failed" && result.kind === "ambiguous")
    const row: RecordSend = {
      rowId: sending.rowId,
      details: sending.details,
      outcome: result.status,
      provider: result.provider,
      providerMessageId: result.providerMessageId,
      failedOver: result.failedOver,
      error: result.ok ? null : result.error,
      errorKind: result.status === "failed" ? result.kind : null,
      costUsd: result.ok ? config.costUsd[result.provider ?? config.primary] : null,
      settle:
        sending.owner === undefined
          ? undefined
          : {
              owner: sending.owner,
              state: settledState(result, ambiguous),
              ambiguous: ambiguous || result.status === "deferred",
              result
            }
    }
    const recorded = yield* access.record(row)
    if (recorded === undefined) return result
    const proven =
      result.status === "deferred" && recorded.providerMessageId !== null && statusRank(recorded.status) > 1
    return proven
      ? { ...result, status: "sent", sendId: recorded.sendId, providerMessageId: recorded.providerMessageId }
      : { ...result, sendId: recorded.sendId }
  })

  const run = Effect.fnUntraced(function* (request: SendRequest, message: Message) {
    const now = yield* Clock.currentTimeMillis
    const startedAt = yield* Clock.monotonicTimeNanos
    const rowId = yield* random.uuidV7()
    const idempotencyKey = request.idempotencyKey ?? rowId
    const keyHash = yield* sha256Hex(idempotencyKey)
    const claim =
      request.idempotencyKey === undefined || !store.configured
        ? undefined
        : { owner: rowId, payloadHash: yield* sha256Hex(payloadOf(message)) }

    const began = yield* access.begin(message, keyHash, claim, now)
    if (began.decision._tag === "Conflict") return yield* new IdempotencyConflict({ idempotencyKey })
    if (began.decision._tag === "InProgress") return yield* new IdempotencyInProgress({ idempotencyKey })
    if (began.decision._tag === "Replay") return began.decision.result
    const { sticky, takeover, firstAttemptAt } = began.decision

    const blocked = blockedAddresses(message.category, began.suppressions)
    const remaining = withoutBlocked(message, blocked)
    const mailed = remaining ?? message
    const dropped = recipientKeys(message).filter((key) => blocked.has(key))
    const sending: Sending = {
      message: mailed,
      details: {
        category: message.category,
        source: message.source,
        from: addressOf(message.from),
        to: mailed.to.map(addressKey),
        others: [...mailed.cc, ...mailed.bcc].map(addressKey),
        dropped,
        subject: message.subject,
        idempotencyKey,
        keyHash
      },
      rowId,
      wireKey: { key: idempotencyKey, keyHash },
      owner: claim?.owner,
      holdsClaim: claim !== undefined && began.answered,
      startedAt,
      firstAttemptAt,
      sticky,
      suppressedRecipients: dropped
    }

    const ending = yield* Effect.gen(function* (): Effect.fn.Return<Ending, IdempotencyInProgress> {
      if (began.evidence !== undefined) {
        const { provider, providerMessageId } = began.evidence
        return { _tag: "Sent", provider, messageId: providerMessageId, failedOver: false }
      }
      if (remaining === undefined) {
        const reasons = message.to.flatMap((box) => blocked.get(addressKey(box)) ?? [])
        return { _tag: "Suppressed", error: suppressedError(reasons) }
      }
      const route = routeOf({ ...config, pinned: message.provider, sticky })
      const adapter = providers.get(route.first)
      if (takeover && !dedupes(route.first) && adapter !== undefined) {
        const reason = "an earlier attempt on this key ended without an answer"
        return yield* settleAmbiguous(sending, adapter.prepare(mailed, sending.wireKey), reason, false)
      }
      return yield* deliver(sending, route.first, route.fallback)
    })
    return yield* conclude(sending, ending)
  })

  return Mailer.of({
    send: (request) => {
      const message = makeMessage(request, config.defaults)
      return Result.isFailure(message)
        ? Effect.fail(new InvalidRequest({ issues: message.failure }))
        : runner.detached(run(request, message.success))
    }
  })
})

/** The mailer, on the services of its ports. */
export const layer: Layer.Layer<
  Mailer,
  never,
  MailerConfig | MailStore | DeferQueue | MailProviders | Digest | SecureRandom
> = Layer.effect(Mailer, make)
