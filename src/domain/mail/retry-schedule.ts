import { IDEMPOTENCY_WINDOW_MS } from "./provider.ts"

/** The waits before the first, second and third retry of an ambiguous send, in seconds (document 1, "Delayed retry queue"). */
export const DEFAULT_DEFER_DELAYS_SECONDS: readonly [number, number, number] = [120, 600, 900]

/** Largest message that the queue takes, in bytes of UTF-8 JSON: "about 250 KB". */
export const MAX_DEFERRED_BYTES = 250_000

/** How often a message is received before it is a dead letter. */
export const MAX_RECEIVES = 3

/**
 * The wait before retry number `attempt` (1, 2, 3), or `undefined` when the schedule is over and the send ends `failed`.
 * `sinceFirstMs` is the age of the key's first attempt: a retry that would come due after the idempotency window is not
 * scheduled, since the provider would take it for a new mail (S1).
 */
export const delayBefore = (
  attempt: number,
  delaysSeconds: readonly [number, number, number],
  sinceFirstMs: number
): number | undefined => {
  const delay = delaysSeconds[attempt - 1]
  if (delay === undefined) return undefined
  return sinceFirstMs + delay * 1000 < IDEMPOTENCY_WINDOW_MS ? delay : undefined
}

/** Whether an automatic attempt may still go out on a key whose first attempt is `sinceFirstMs` old (S1). */
export const withinWindow = (sinceFirstMs: number): boolean => sinceFirstMs < IDEMPOTENCY_WINDOW_MS

/** Whether a mail that expires (a sign-in link) has done so at `at`; both in milliseconds since the epoch. */
export const hasExpired = (expiresAt: number | undefined, at: number): boolean =>
  expiresAt !== undefined && at >= expiresAt
