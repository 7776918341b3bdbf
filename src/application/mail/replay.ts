import { Effect } from "effect"

import type { KeyHash } from "../../domain/ids.ts"
import type { DeferralEnd, SendResult } from "../../domain/mail/send-result.ts"
import type { SendParts } from "./sending.ts"
import { deferralEnd } from "./store-access.ts"

/**
 * The answer to a repeated call after the first one was deferred: how the mail has ended since, if it has. A copy may be out
 * whatever ended it, so that an end without an acceptance is always ambiguous.
 */
const endedSince = (first: SendResult, end: DeferralEnd | undefined): SendResult => {
  if (end === undefined) return first
  const { failedOver, sendId } = end
  const common = {
    sendId,
    failedOver,
    provider: end.provider ?? first.provider,
    idempotencyKey: first.idempotencyKey,
    suppressedRecipients: first.suppressedRecipients
  }
  return end.outcome === "sent"
    ? { ...common, ok: true, status: "sent", providerMessageId: end.providerMessageId }
    : {
        ...common,
        ok: false,
        status: "failed",
        kind: "ambiguous",
        error: end.error ?? "its retries ended without an acceptance",
        providerMessageId: null
      }
}

/** The first result again; of a deferral, how it ended since. */
export const replay = (parts: SendParts, keyHash: KeyHash, result: SendResult): Effect.Effect<SendResult> =>
  result.status === "deferred"
    ? Effect.map(deferralEnd(parts, { keyHash, sendId: result.sendId }), (end) => endedSince(result, end))
    : Effect.succeed(result)
