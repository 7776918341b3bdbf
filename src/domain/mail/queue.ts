import { Schema } from "effect"

import type { FailureKind } from "./failover.ts"
import type { SendResult } from "./send-result.ts"
import type { Category } from "./suppression/policy.ts"

/** The categories in the order in which the queue sends them (QUEUE-4). The database has them as `email_queue_lanes`. */
export const QUEUE_ORDER: ReadonlyArray<Category> = [
  "auth",
  "alert",
  "transactional",
  "notification",
  "marketing"
]

/** The state of a request of the send queue. `deferred` is no end: an attempt was ambiguous, and its retry waits. */
export const QueueState = Schema.Literals([
  "queued",
  "sending",
  "deferred",
  "sent",
  "suppressed",
  "failed",
  "cancelled"
])
export type QueueState = typeof QueueState.Type

/** Why a request ends without having been sent, in its row and its answer. */
export const SET_ASIDE = "two senders died with this request: it is set aside"
export const EXPIRED = "the mail expired before it could be sent"

/** Most requests of one batch. */
export const MAX_BATCH = 500

/** First and longest wait after an answer that proves that nothing was accepted, milliseconds. */
const REFUSED_FIRST_MS = 5_000
const REFUSED_MOST_MS = 15 * 60_000

/** What decides whether a refused request is tried again. */
interface Refused {
  /** Refusals in a row, this one included; 0 where it was not asked, and waits half as long as after a first one. */
  readonly refusals: number
  /** Since the request was due and looked at first, milliseconds. */
  readonly ageMs: number
  readonly maxAgeMs: number
  /** Until the mail is worthless, milliseconds; absent where it does not expire. */
  readonly expiresInMs: number | undefined
  /** How long the provider said that it takes nothing. */
  readonly retryAfterMs: number | undefined
  /** From 0 to 1. */
  readonly random: number
}

/**
 * How long a refused request waits, milliseconds; undefined where its time is over, and it ends `failed` (QUEUE-10). The last attempt begins
 * within its age.
 */
export const refusedWaitMs = (refused: Refused): number | undefined => {
  const left = Math.min(refused.maxAgeMs - refused.ageMs, refused.expiresInMs ?? Number.POSITIVE_INFINITY)
  if (left <= 1_000) return undefined
  const doubled = Math.min(REFUSED_MOST_MS, REFUSED_FIRST_MS * 2 ** Math.min(20, refused.refusals - 1))
  const wait = refused.retryAfterMs ?? doubled * (0.75 + 0.5 * refused.random)
  return Math.min(wait, left - 1_000)
}

/** Whether a result proves for its key that no provider accepted anything, and a later attempt may succeed (QUEUE-10). */
export const mayGoBack = (
  status: SendResult["status"],
  kind: FailureKind | null,
  isKeyFree: boolean
): boolean => status === "failed" && kind === "unavailable" && isKeyFree
