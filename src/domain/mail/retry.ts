import { Clock, Context, Data, Effect, Layer, Result } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import { MailProviders } from "../../ports/mail/mail-provider.ts"
import { type BeganRetry, MailStore } from "../../ports/mail/mail-store.ts"
import { type StoreUnavailable, noAnswer } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { makeAttemptRunner } from "./attempt.ts"
import {
  type DeferredSend,
  type ProviderRequest,
  type SendDetails,
  withoutDropped,
  delayBefore,
  hasExpired,
  withinWindow
} from "./deferred-send.ts"
import { dedupes } from "./failover.ts"
import { countRetry } from "./metrics.ts"
import type { SendStatus } from "./send-result.ts"
import { claimLeaseMs, ENQUEUE_TIMEOUT_MS, MailerConfig } from "./sending.ts"
import { blockedAddresses, suppressedError } from "./suppression-policy.ts"

/** How long a retry waits before it tries again to lease a key that another process works on. */
const BUSY_WAIT = "1 second"

/** Another process held the key longer than a lease allows: the message returns to the queue. */
class KeyStaysBusy extends Data.TaggedError("KeyStaysBusy")<{ readonly rowId: string }> {}

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

/** How an attempt on a queued message ended. */
interface Ending {
  readonly outcome: SendStatus
  readonly messageId: string | null
  readonly error: string | null
}

const encoder = new TextEncoder()

const make = Effect.gen(function* () {
  const config = yield* MailerConfig
  const store = yield* MailStore
  const queue = yield* DeferQueue
  const providers = yield* MailProviders
  const digest = yield* Digest
  const random = yield* SecureRandom
  const runner = yield* makeAttemptRunner(providers, config.attemptTimeoutMs)
  const leaseMs = claimLeaseMs(config)

  const bounded = <A>(operation: string, call: Effect.Effect<A, StoreUnavailable>) =>
    withDeadline(call, {
      duration: config.dbTimeoutMs,
      onTimeout: () => Effect.fail(noAnswer(operation, `${config.dbTimeoutMs} ms`))
    })

  /**
   * Evidence and suppressions before an attempt. A provider that dedupes is tried even if the database does not answer. The
   * other one is not: a mail whose acceptance an event has proven would go out twice. Its message waits instead.
   */
  const begin = Effect.fnUntraced(function* (
    message: DeferredSend,
    owner: string
  ): Effect.fn.Return<BeganRetry, RetryFailure> {
    const { details, request } = message
    if (!store.configured) return { _tag: "Go", suppressions: [] }
    const entry = {
      keyHash: details.keyHash,
      provider: request.provider,
      rowId: message.rowId,
      addresses: [...details.to, ...details.others],
      owner,
      leaseMs
    }
    const ask = bounded("beginRetry", store.beginRetry(entry)).pipe(
      Effect.catch((error) =>
        dedupes(request.provider)
          ? Effect.logWarning(
              "mail store: beginRetry failed, the provider dedupes, the retry goes on",
              error
            ).pipe(Effect.as<BeganRetry>({ _tag: "Go", suppressions: [] }))
          : Effect.fail(error)
      )
    )
    const deadline = (yield* Clock.currentTimeMillis) + 2 * leaseMs
    while (true) {
      const began = yield* ask
      if (began._tag !== "Busy") return began
      if ((yield* Clock.currentTimeMillis) >= deadline)
        return yield* new KeyStaysBusy({ rowId: message.rowId })
      yield* Effect.sleep(BUSY_WAIT)
    }
  })

  /** The row id of the next retry: derived from this one, so that a message handled twice queues one successor. */
  const nextRowId = (rowId: string) =>
    Effect.map(digest.digestHex(sha256, encoder.encode(`postlane retry after ${rowId}`)), (hex) =>
      [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `8${hex.slice(13, 16)}`,
        `8${hex.slice(17, 20)}`,
        hex.slice(20, 32)
      ].join("-")
    )

  /** Queues the next retry, or ends the send where the schedule is over. */
  const again = Effect.fnUntraced(function* (
    message: DeferredSend,
    reason: string
  ): Effect.fn.Return<Ending, RetryFailure> {
    const attempt = message.attempt + 1
    const now = yield* Clock.currentTimeMillis
    const delay = delayBefore(attempt, config.deferDelaysSeconds, now - message.firstAttemptAt)
    const gaveUp = (why: string): Ending => ({ outcome: "failed", messageId: null, error: why })
    if (delay === undefined) return gaveUp(`gave up after ${message.attempt} retries: ${reason}`)
    if (hasExpired(message.expiresAt, now + delay * 1000))
      return gaveUp(`the mail expires before its next retry; the last one: ${reason}`)
    const rowId = yield* nextRowId(message.rowId)
    yield* withDeadline(queue.enqueue({ ...message, attempt, rowId }, delay), {
      duration: ENQUEUE_TIMEOUT_MS,
      onTimeout: () => Effect.fail(noAnswer("enqueue", `${ENQUEUE_TIMEOUT_MS} ms`))
    })
    yield* Effect.logWarning("a retry was ambiguous and waits for the next").pipe(
      Effect.annotateLogs({ provider: message.request.provider, attempt: message.attempt, reason })
    )
    return { outcome: "deferred", messageId: null, error: null }
  })

  const attempt = Effect.fnUntraced(function* (
    message: DeferredSend,
    request: ProviderRequest
  ): Effect.fn.Return<Ending, RetryFailure> {
    const result = yield* Effect.result(runner.attempt(request))
    if (Result.isSuccess(result)) return { outcome: "sent", messageId: result.success.messageId, error: null }
    const { kind, message: reason } = result.failure
    if (kind === "rejected") return { outcome: "failed", messageId: null, error: reason }
    if (store.configured) {
      const key = { keyHash: message.details.keyHash, provider: request.provider }
      const evidence = yield* bounded("findEvidence", store.findEvidence(key)).pipe(
        Effect.catch((error) =>
          Effect.as(Effect.logWarning("mail store: findEvidence failed", error), undefined)
        )
      )
      if (evidence !== undefined)
        return { outcome: "sent", messageId: evidence.providerMessageId, error: null }
    }
    return yield* again(message, reason)
  })

  const decide = Effect.fnUntraced(function* (
    message: DeferredSend,
    blocked: ReturnType<typeof blockedAddresses>
  ): Effect.fn.Return<Ending, RetryFailure> {
    const { details, request } = message
    const now = yield* Clock.currentTimeMillis
    const tooLate = (error: string): Ending => ({ outcome: "failed", messageId: null, error })
    if (!withinWindow(now - message.firstAttemptAt))
      return tooLate("its retry came due 24 hours after the first attempt")
    if (hasExpired(message.expiresAt, now)) return tooLate("the mail expired before its retry")
    const adapter = providers.get(request.provider)
    const touched = [...details.to, ...details.others].some((address) => blocked.has(address))
    const mailed =
      touched && adapter !== undefined ? adapter.withoutRecipients(request, new Set(blocked.keys())) : request
    if (mailed === undefined) {
      const reasons = details.to.flatMap((address) => blocked.get(address) ?? [])
      return { outcome: "suppressed", messageId: null, error: suppressedError(reasons) }
    }
    return yield* attempt(message, mailed)
  })

  const record = Effect.fnUntraced(function* (
    message: DeferredSend,
    details: SendDetails,
    owner: string,
    ending: Ending
  ) {
    if (!store.configured) return
    const { provider } = message.request
    const write = store.record({
      rowId: message.rowId,
      details,
      outcome: ending.outcome,
      provider,
      providerMessageId: ending.messageId,
      failedOver: message.failedOver,
      error: ending.error,
      errorKind: ending.outcome === "failed" ? "ambiguous" : null,
      costUsd: ending.outcome === "sent" || ending.outcome === "deferred" ? config.costUsd[provider] : null,
      settle: { owner, state: "deferred", ambiguous: true, result: undefined }
    })
    yield* bounded("record", write).pipe(
      Effect.catch((error) =>
        ending.outcome === "sent"
          ? Effect.logError("a retry was accepted, and its row could not be written", error)
          : Effect.fail(error)
      )
    )
  })

  const run = Effect.fnUntraced(function* (message: DeferredSend) {
    const owner = yield* random.uuidV7()
    const began = yield* begin(message, owner)
    switch (began._tag) {
      case "Settled":
        return yield* countRetry("settled")
      case "Recorded":
        return yield* countRetry("recorded")
      case "Busy":
        return yield* new KeyStaysBusy({ rowId: message.rowId })
      case "Go": {
        const blocked = blockedAddresses(message.details.category, began.suppressions)
        const ending = yield* decide(message, blocked)
        yield* record(message, withoutDropped(message.details, blocked), owner, ending)
        yield* countRetry(ending.outcome)
        if (ending.outcome === "failed") {
          yield* Effect.logError("a deferred send ended failed").pipe(
            Effect.annotateLogs({ error: ending.error, source: message.details.source, rowId: message.rowId })
          )
        }
      }
    }
  })

  return RetryHandler.of({ handle: (message) => runner.detached(run(message)) })
})

/** The handler, on the services of its ports. */
export const layer: Layer.Layer<
  RetryHandler,
  never,
  MailerConfig | MailStore | DeferQueue | MailProviders | Digest | SecureRandom
> = Layer.effect(RetryHandler, make)
