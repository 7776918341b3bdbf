import type { KeyHash, LogRowId } from "../../../domain/ids.ts"
import { reportedClaim } from "../../../domain/mail/claim-end.ts"
import type { Evidence } from "../../../domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../domain/mail/failover.ts"
import type { DeferralEnd } from "../../../domain/mail/send-result.ts"
import { findEvidence } from "./evidence.ts"
import { type LogRow, type MailTables, rowOfMessage } from "./tables.ts"

const isAccepted = ({ outcome, providerMessageId }: LogRow): boolean =>
  providerMessageId !== null || outcome === "sent"

const rowOfEvidence = (tables: MailTables, evidence: Evidence | undefined) =>
  evidence && rowOfMessage(tables, evidence.provider, evidence.providerMessageId)

/** How the deferral of a row ended; the claim keeps the acceptance that is reported first (`report_deferral_end`). */
export const deferralEnd = (
  tables: MailTables,
  keyHash: KeyHash,
  sendId: LogRowId,
  now: number
): DeferralEnd | undefined => {
  const { claims, rows } = tables
  const deferral = rows.find(({ id }) => id === sendId)
  const written = deferral?.createdAt
  const since = written ?? now - IDEMPOTENCY_WINDOW_MS
  const own = rows.filter((row) => row.keyHash === keyHash && row.createdAt >= since)
  // An acceptance may have been written first, where two calls found no claim store.
  const earlier = () => deferral && findEvidence(tables, keyHash, deferral.keyTag ?? undefined, since)
  const row =
    own.findLast(isAccepted) ??
    rowOfEvidence(tables, earlier()) ??
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
