import type { FailedSend } from "../../domain/delivery/delivery-event.ts"
import type { EventEntry } from "./mail-log-row.ts"

/** `email_alert_lease()`, milliseconds. */
const LEASE_MS = 180_000

/** The wait after the first release, and the longest, milliseconds. */
const FIRST_WAIT_MS = 60_000
const MAX_WAIT_MS = 3_600_000

interface AlertClaim {
  /** Gone once it is confirmed. */
  readonly failed: FailedSend | undefined
  /** Null once it is confirmed. */
  readonly dueAt: number | null
  readonly attempts: number
}

/** What an alert about this event says, as `record_email_events` keeps it. */
export const failedSendOf = (
  entry: EventEntry,
  { category, sendId, source }: Pick<FailedSend, "sendId" | "category" | "source">
): FailedSend => ({
  sendId,
  provider: entry.provider,
  providerMessageId: entry.providerMessageId,
  event: entry.event,
  recipients: entry.suppress ?? entry.recipients ?? [],
  subject: entry.subject,
  category,
  source,
  reason: entry.reason,
  occurredAt: entry.occurredAt === undefined ? undefined : new Date(entry.occurredAt).toISOString()
})

/** The table `email_alerts` in memory, by the rules of its functions. */
export const makeAlertClaims = () => {
  const claims = new Map<string, AlertClaim>()
  const isConfirmed = (sendId: string): boolean => claims.get(sendId)?.dueAt === null
  return {
    isConfirmed,
    claim: (failed: FailedSend, now: number): void => {
      const attempts = (claims.get(failed.sendId)?.attempts ?? 0) + 1
      claims.set(failed.sendId, { failed, dueAt: now + LEASE_MS, attempts })
    },
    release: (sendId: string, now: number): void => {
      const known = claims.get(sendId)
      if (known === undefined) return
      const wait = Math.min(FIRST_WAIT_MS * 2 ** (known.attempts - 1), MAX_WAIT_MS)
      claims.set(sendId, { ...known, dueAt: now + wait })
    },
    /** False if it was already confirmed. */
    confirm: (sendId: string): boolean => {
      if (isConfirmed(sendId)) return false
      claims.set(sendId, { failed: undefined, dueAt: null, attempts: claims.get(sendId)?.attempts ?? 1 })
      return true
    },
    claimDue: (now: number): FailedSend | undefined => {
      const [due] = [...claims.entries()]
        .flatMap(([sendId, { dueAt }]) => (dueAt !== null && dueAt <= now ? [{ sendId, dueAt }] : []))
        .sort((a, b) => a.dueAt - b.dueAt)
      const known = due && claims.get(due.sendId)
      if (due === undefined || known === undefined) return undefined
      claims.set(due.sendId, { ...known, dueAt: now + LEASE_MS, attempts: known.attempts + 1 })
      return known.failed
    }
  }
}
