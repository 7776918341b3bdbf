import type { KeyHash, LogRowId } from "../../../domain/ids.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../domain/mail/failover.ts"
import type { DeferralEnd } from "../../../domain/mail/send-result.ts"
import type { LogRow } from "./tables.ts"

const isAccepted = ({ outcome, providerMessageId }: LogRow): boolean =>
  providerMessageId !== null || outcome === "sent"

/** How the deferral of a row ended, as the statement of `MailStore` in PostgreSQL reads it. */
export const deferralEnd = (
  rows: ReadonlyArray<LogRow>,
  keyHash: KeyHash,
  sendId: LogRowId,
  now: number
): DeferralEnd | undefined => {
  const since = rows.find(({ id }) => id === sendId)?.createdAt ?? now - IDEMPOTENCY_WINDOW_MS
  const own = rows.filter((row) => row.keyHash === keyHash && row.createdAt >= since)
  const row =
    own.findLast(isAccepted) ??
    own.findLast(({ outcome }) => outcome === "suppressed" || outcome === "failed")
  if (row === undefined) return undefined
  return {
    sendId: row.id,
    outcome: isAccepted(row) ? "sent" : row.outcome === "suppressed" ? "suppressed" : "failed",
    provider: row.provider,
    providerMessageId: row.providerMessageId,
    failedOver: row.failedOver,
    error: row.error
  }
}
