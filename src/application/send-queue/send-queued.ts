import { Effect, Option, Result } from "effect"

import { LogRowId } from "../../domain/ids.ts"
import { decodeDeferredSend } from "../../domain/mail/deferred-send.ts"
import type { FailureKind } from "../../domain/mail/failover.ts"
import { makeMessage } from "../../domain/mail/message.ts"
import { EXPIRED, SET_ASIDE } from "../../domain/mail/queue.ts"
import { decodeQueueRequest } from "../../domain/mail/read-request.ts"
import { InvalidRequest, type NotBegun, type SendResult } from "../../domain/mail/send-result.ts"
import type { QueueMove } from "../../ports/mail/send-queue.ts"
import { sendOnce } from "../mail/mailer.ts"
import { bounded, untilAnswered } from "../mail/retry-store.ts"
import { retryOnce } from "../mail/retry.ts"
import {
  BUSY_MS,
  DEFERRED_ELSEWHERE_MS,
  expiresInMs,
  keyOf,
  moveTo,
  partsOf,
  type QueuedWork,
  type QueueParts,
  type QueueRefusal,
  waitForKey,
  write
} from "./queued-work.ts"

/** Senders that died with a request before it is set aside: whatever it is, it may be the cause (H1). */
const MOST_DEATHS = 2

/** A request that no provider could be asked for now ends. */
const refused = (work: QueuedWork, error: string, kind: FailureKind = "rejected"): QueueMove => {
  const result: SendResult = {
    ok: false,
    status: "failed",
    kind,
    error,
    provider: null,
    providerMessageId: null,
    failedOver: false,
    sendId: LogRowId.make(work.mail.id),
    idempotencyKey: work.mail.idempotencyKey,
    suppressedRecipients: []
  }
  return moveTo(work, "failed", { error, result, frees: kind === "rejected", isUnasked: true })
}

/** Why no provider may be asked. What is set aside does not go back (QUEUE-3). */
export const refusalOf = (queue: Pick<QueueParts, "now">, work: QueuedWork): QueueRefusal | undefined => {
  if (work.mail.deaths >= MOST_DEATHS) return { kind: "rejected", message: SET_ASIDE }
  const left = expiresInMs(work, queue.now())
  return left !== undefined && left <= 0 ? { kind: "unavailable", message: EXPIRED } : undefined
}

const refusalNow = Effect.fnUntraced(function* (queue: QueueParts, work: QueuedWork) {
  if (work.mail.deaths >= MOST_DEATHS)
    yield* Effect.logError(
      "a queued mail is set aside: two senders died with it, which its content may have caused"
    )
  return refusalOf(queue, work)
})

/** What follows for a request when its send could not begin. */
export const notBegun = (work: QueuedWork, why: NotBegun): QueueMove => {
  switch (why._tag) {
    case "InvalidRequest":
      return refused(work, why.message)
    case "IdempotencyConflict":
      return refused(work, `IDEMPOTENCY_CONFLICT: ${why.message}`)
    case "IdempotencyInProgress":
    case "ClaimUnavailable":
      return waitForKey(work)
  }
}

/**
 * The end of an earlier send of the key is the request's, too. A failure known to this process only does not count: it may not have been able
 * to ask anybody, and the key will tell once the database answers.
 */
export const replayed = (work: QueuedWork, result: SendResult): QueueMove => {
  if (result.status === "deferred") return waitForKey(work, DEFERRED_ELSEWHERE_MS)
  return result.status === "failed" && !work.isHeard
    ? waitForKey(work)
    : moveTo(work, result.status, { error: result.ok ? null : result.error, result })
}

/** Its first attempt, or one after a refusal; the move that is left to write, if any. */
const firstAttempt = Effect.fnUntraced(function* (queue: QueueParts, work: QueuedWork) {
  const decoded = decodeQueueRequest(work.mail.request)
  const message = Result.flatMap(decoded, ({ mail }) => makeMessage(mail, queue.parts.config.defaults))
  if (Result.isFailure(message)) return notBegun(work, new InvalidRequest({ issues: message.failure }))
  const key = keyOf(work)
  const asked = { idempotencyKey: key, requireClaim: true }
  const row = { rowId: LogRowId.make(work.mail.id), owner: work.mail.lease, key }
  const parts = partsOf(queue, work, yield* refusalNow(queue, work))
  const sent = yield* Effect.result(sendOnce(parts, message.success, asked, row))
  if (Result.isFailure(sent)) return notBegun(work, sent.failure)
  return work.isMoved || work.unwritten !== undefined ? work.unwritten : replayed(work, sent.success)
})

/** A retry of an ambiguous attempt. */
const retry = Effect.fnUntraced(function* (queue: QueueParts, work: QueuedWork, deferral: string) {
  const message = decodeDeferredSend(deferral)
  if (Option.isNone(message))
    return refused(work, "its retry cannot be read: a newer release wrote it", "ambiguous")
  yield* retryOnce(partsOf(queue, work, yield* refusalNow(queue, work)), message.value)
  if (work.isMoved || work.unwritten !== undefined) return work.unwritten
  if (work.next !== undefined) return moveTo(work, "deferred", { dueMs: work.next.delaySeconds * 1000 })
  // A direct send of its key has deferred it, too, and made this very retry: the key says how it ended.
  return moveTo(work, "queued", { dueMs: BUSY_MS, deferral: undefined })
})

/**
 * Sends a request that the sender has taken, and writes how it ended. While that cannot be written the sender keeps answer and lease: an
 * answer that is lost is a mail in doubt.
 */
export const sendQueued = (queue: QueueParts, work: QueuedWork): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { deferral } = work.mail
    return deferral === undefined ? firstAttempt(queue, work) : retry(queue, work, deferral)
  }).pipe(
    Effect.flatMap((move) =>
      move === undefined
        ? Effect.void
        : untilAnswered(
            "write the end of a queued mail",
            bounded(queue.parts, "move", Effect.asVoid(write(queue, work, move)))
          )
    ),
    Effect.catchCause((cause) =>
      Effect.logError("a queued mail could not be sent: it is taken up again when its lease is over", cause)
    ),
    Effect.annotateLogs({ queueId: work.mail.id, idempotencyKey: work.mail.idempotencyKey })
  )
