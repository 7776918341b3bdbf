import { MAX_CHANNEL_TRIES } from "../../../domain/delivery/alert-policy.ts"
import type { FailedSend } from "../../../domain/delivery/delivery-event.ts"
import type { LogRowId } from "../../../domain/ids.ts"
import { type EventEntry, type MailTables, putRow } from "./tables.ts"

/** `email_alert_lease()`, milliseconds. */
const LEASE_MS = 180_000

/** The wait after the first release, and the longest, milliseconds. */
const FIRST_WAIT_MS = 60_000
const MAX_WAIT_MS = 3_600_000

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

/** Claims the one alert of a row, for the lease. */
export const claimAlert = ({ alerts }: MailTables, failed: FailedSend, now: number): void => {
  const attempts = (alerts.get(failed.sendId)?.attempts ?? 0) + 1
  alerts.set(failed.sendId, { failed, dueAt: now + LEASE_MS, attempts })
}

/** `release_email_alert`: false where there is nothing to release. */
export const releaseAlert = (
  tables: MailTables,
  sendId: LogRowId,
  now: number,
  taken: ReadonlyArray<string> = []
): boolean => {
  const row = tables.rows.find(({ id }) => id === sendId)
  const known = tables.alerts.get(sendId)
  if (row === undefined || known?.dueAt === null) return false
  if (taken.length === 0) {
    if (row.alertedAt === null) return false
    putRow(tables, { ...row, alertedAt: null })
  } else {
    if (known === undefined) return false
    if (known.attempts >= MAX_CHANNEL_TRIES) return confirmAlert(tables, sendId, now)
  }
  if (known !== undefined) {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (known.attempts - 1), MAX_WAIT_MS)
    const failed =
      known.failed === undefined || taken.length === 0 ? known.failed : { ...known.failed, taken }
    tables.alerts.set(sendId, { ...known, failed, dueAt: now + wait })
  }
  return true
}

/** `confirm_email_alert`: false where it was confirmed before. */
export const confirmAlert = (tables: MailTables, sendId: LogRowId, now: number): boolean => {
  const row = tables.rows.find(({ id }) => id === sendId)
  if (row === undefined) return false
  putRow(tables, { ...row, alertedAt: row.alertedAt ?? now })
  const known = tables.alerts.get(sendId)
  if (known?.dueAt === null) return false
  tables.alerts.set(sendId, { failed: undefined, dueAt: null, attempts: known?.attempts ?? 1 })
  return true
}

/** `claim_due_email_alerts`: claims the alert that is due for longest. */
export const claimDueAlert = (tables: MailTables, now: number): FailedSend | undefined => {
  const [due] = [...tables.alerts]
    .flatMap(([sendId, claim]) =>
      claim.dueAt !== null && claim.dueAt <= now ? [{ sendId, claim, dueAt: claim.dueAt }] : []
    )
    .sort((a, b) => a.dueAt - b.dueAt)
  if (due === undefined) return undefined
  const { claim, sendId } = due
  tables.alerts.set(sendId, { ...claim, dueAt: now + LEASE_MS, attempts: claim.attempts + 1 })
  const row = tables.rows.find(({ id }) => id === sendId)
  if (row !== undefined) putRow(tables, { ...row, alertedAt: row.alertedAt ?? now })
  return claim.failed
}
