import type { KeyHash, LogRowId } from "../../../domain/ids.ts"
import { reportedClaim } from "../../../domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../domain/mail/failover.ts"
import type { DeferralEnd } from "../../../domain/mail/send-result.ts"
import { AROUND_MS, type LogRow, type MailTables } from "./tables.ts"

const isAccepted = ({ outcome, providerMessageId }: LogRow): boolean =>
  providerMessageId !== null || outcome === "sent"

/** How the deferral of a row ended; the claim keeps the acceptance that is reported first (`report_deferral_end`). */
export const deferralEnd = (
  { claims, rows }: MailTables,
  keyHash: KeyHash,
  sendId: LogRowId,
  now: number
): DeferralEnd | undefined => {
  const deferral = rows.find(({ id }) => id === sendId)
  const written = deferral?.createdAt
  const since = written ?? now - IDEMPOTENCY_WINDOW_MS
  const mine = rows.filter((row) => row.keyHash === keyHash)
  const own = mine.filter((row) => row.createdAt >= since)
  // Two calls that found no claim store: the one that was accepted may be written before the other one's deferral.
  const isOfItsUse = ({ createdAt, keyTag, outcome }: LogRow) =>
    createdAt >= since - AROUND_MS && (outcome !== null || keyTag === deferral?.keyTag)
  const row =
    own.findLast(isAccepted) ??
    (deferral && mine.findLast((one) => isAccepted(one) && isOfItsUse(one))) ??
    own.findLast(({ outcome }) => outcome === "suppressed" || outcome === "failed")
  if (row === undefined) return undefined
  const end: DeferralEnd = {
    sendId: row.id,
    outcome: isAccepted(row) ? "sent" : row.outcome === "suppressed" ? "suppressed" : "failed",
    provider: row.provider,
    providerMessageId: row.providerMessageId,
    failedOver: row.failedOver,
    error: row.error
  }
  if (end.outcome !== "sent") return end
  const claim = claims.get(keyHash)
  const reported = reportedClaim(claim, sendId, end)
  if (reported !== undefined) claims.set(keyHash, reported)
  const isReported = claim?.state === "accepted" && claim.firstAttemptAt <= (written ?? now)
  return isReported && claim.result?.status === "sent"
    ? { ...claim.result, outcome: "sent", error: null }
    : end
}
