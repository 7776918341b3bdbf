import type { FailedSend } from "../../domain/delivery/delivery-event.ts"
import type { Trail } from "../../domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS, type Provider } from "../../domain/mail/failover.ts"
import { advance, isProviderFailure, statusOfEvent, statusRank } from "../../domain/mail/status.ts"
import {
  UNKNOWN_CATEGORY,
  type Suppression,
  type SuppressionReason
} from "../../domain/mail/suppression-policy.ts"
import type { RecordedSend, RecordSend } from "../../ports/mail/mail-store.ts"
import { failedSendOf, makeAlertClaims } from "./alert-claims.ts"
import { accountOf, errorOf } from "./mail-log-account.ts"
import type { EventEntry, LogRow, RecordedEvent } from "./mail-log-row.ts"

/** What the log needs to know of a key: when its current use began, and whether an attempt on it is under way. */
export interface KeyState {
  readonly firstAttemptAt: number
  readonly leased: boolean
}

const distinct = (addresses: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(addresses)]

/**
 * Send log and suppression list in memory, by the rules that `record_email_sends` and `record_email_events` document: the
 * model that the SQL functions are tested against.
 */
export const makeMailLog = (keyState: (keyHash: string, now: number) => KeyState | undefined) => {
  const rows: Array<LogRow> = []
  const suppressions: Array<Suppression> = []
  const alerts = makeAlertClaims()
  let made = 0

  const freshId = () => `00000000-0000-4000-8000-${(made += 1).toString(16).padStart(12, "0")}`

  const put = (row: LogRow): LogRow => {
    const at = rows.findIndex(({ id }) => id === row.id)
    if (at === -1) rows.push(row)
    else rows[at] = row
    return row
  }

  /** The newest row of a key and provider that belongs to the key's current use. */
  const newest = (
    keyHash: string,
    provider: Provider,
    now: number,
    matches: (row: LogRow) => boolean
  ): LogRow | undefined => {
    const since = keyState(keyHash, now)?.firstAttemptAt ?? Number.NEGATIVE_INFINITY
    return rows.findLast(
      (row) => row.keyHash === keyHash && row.provider === provider && row.createdAt >= since && matches(row)
    )
  }

  const byMessage = (provider: Provider | null, messageId: string | null) =>
    messageId === null
      ? undefined
      : rows.find((row) => row.provider === provider && row.providerMessageId === messageId)

  const suppress = (marks: ReadonlyArray<string>) => {
    for (const mark of marks) {
      const [reason, email] = [mark.slice(0, mark.indexOf(":")), mark.slice(mark.indexOf(":") + 1)]
      if (email === "" || suppressions.some((known) => known.email === email && known.reason === reason))
        continue
      suppressions.push({ email, reason: reason as SuppressionReason })
    }
  }

  const recorded = (row: LogRow): RecordedSend => ({
    sendId: row.id,
    status: row.status,
    providerMessageId: row.providerMessageId
  })

  /** The library's row for the attempt, before anything else is known of it. */
  const rowOf = (entry: RecordSend, now: number): LogRow => {
    const { details } = entry
    return {
      id: entry.rowId,
      category: details.category,
      source: details.source,
      from: details.from,
      to: details.to,
      others: details.others,
      dropped: details.dropped ?? [],
      recipientCount: distinct([...details.to, ...details.others]).length,
      subject: details.subject,
      outcome: entry.outcome,
      status: entry.outcome,
      provider: entry.provider,
      providerMessageId: entry.providerMessageId,
      lastEvent: null,
      lastEventAt: null,
      raw: null,
      error: entry.error,
      errorKind: entry.errorKind,
      failedOver: entry.failedOver,
      costUsd: entry.outcome === "deferred" ? null : entry.costUsd,
      acceptedCostUsd: entry.outcome === "deferred" ? entry.costUsd : null,
      idempotencyKey: details.idempotencyKey,
      keyHash: details.keyHash,
      alertedAt: null,
      suppressionMarks: [],
      entryId: null,
      accounts: null,
      createdAt: now
    }
  }

  /** Completes a row that only events wrote; it keeps its id and what the events did. */
  const complete = (row: LogRow, entry: RecordSend): LogRow => {
    const library = rowOf(entry, row.createdAt)
    const recipients = distinct([...library.to, ...library.others])
    const marks =
      recipients.length === 1
        ? row.suppressionMarks.filter((mark) => mark.endsWith(":")).map((mark) => mark + recipients[0])
        : []
    suppress(marks)
    return put({
      ...library,
      id: row.id,
      status: advance(row.status, entry.outcome),
      provider: row.provider,
      providerMessageId: row.providerMessageId,
      lastEvent: row.lastEvent,
      lastEventAt: row.lastEventAt,
      raw: row.raw,
      error: row.error ?? entry.error,
      // The event that made the row proves that the deferral was accepted.
      costUsd: entry.costUsd,
      alertedAt: row.alertedAt,
      suppressionMarks: [...row.suppressionMarks, ...marks],
      entryId: entry.rowId,
      accounts: row.accounts
    })
  }

  /** Records a row of the library again: nothing changes, unless the outcome ranks higher. */
  const merge = (row: LogRow, entry: RecordSend): LogRow =>
    row.outcome === null
      ? complete(row, entry)
      : statusRank(entry.outcome) > statusRank(row.outcome)
        ? put({
            ...row,
            outcome: entry.outcome,
            status: advance(row.status, entry.outcome),
            provider: row.provider ?? entry.provider,
            providerMessageId: row.providerMessageId ?? entry.providerMessageId,
            error: row.error ?? entry.error,
            errorKind: row.errorKind ?? entry.errorKind,
            failedOver: row.failedOver || entry.failedOver,
            costUsd: row.costUsd ?? entry.costUsd
          })
        : row

  /** An acceptance proves one message: it belongs to the row of that message, else to its own row if that is still open. */
  const rowOfAcceptance = (entry: RecordSend): LogRow | undefined => {
    const own = rows.find(({ id }) => id === entry.rowId)
    const open =
      own?.providerMessageId === null && statusRank(entry.outcome) > statusRank(own.outcome ?? own.status)
    return byMessage(entry.provider, entry.providerMessageId) ?? (open ? own : undefined)
  }

  const rowOfAttempt = (entry: RecordSend, now: number): LogRow | undefined => {
    if (entry.providerMessageId !== null) return rowOfAcceptance(entry)
    const own = rows.find(({ entryId, id }) => id === entry.rowId || entryId === entry.rowId)
    return own === undefined && entry.outcome === "deferred" && entry.provider !== null
      ? newest(
          entry.details.keyHash,
          entry.provider,
          now,
          (row) => row.outcome === null && row.providerMessageId !== null
        )
      : own
  }

  const record = (entry: RecordSend, now: number): RecordedSend => {
    const known = rowOfAttempt(entry, now)
    if (known !== undefined) return recorded(merge(known, entry))
    const isTaken = rows.some(({ id }) => id === entry.rowId)
    return recorded(put({ ...rowOf(entry, now), ...(isTaken ? { id: freshId() } : {}) }))
  }

  /** The row that an event is about: the message's, else the deferred one that it proves accepted, else a new one. */
  const rowOfEvent = (entry: EventEntry, now: number): { readonly row: LogRow; readonly isNew: boolean } => {
    const known = byMessage(entry.provider, entry.providerMessageId)
    if (known !== undefined) return { row: known, isNew: false }
    if (entry.keyHash !== undefined && keyState(entry.keyHash, now)?.leased !== true) {
      const deferred = newest(
        entry.keyHash,
        entry.provider,
        now,
        (row) => row.status === "deferred" && row.providerMessageId === null
      )
      if (deferred !== undefined) {
        return {
          row: {
            ...deferred,
            status: "sent",
            providerMessageId: entry.providerMessageId,
            costUsd: deferred.costUsd ?? deferred.acceptedCostUsd
          },
          isNew: false
        }
      }
    }
    const row: LogRow = {
      id: freshId(),
      category: UNKNOWN_CATEGORY,
      source: null,
      from: null,
      to: [],
      others: [],
      dropped: [],
      recipientCount: null,
      subject: null,
      outcome: null,
      status: "sent",
      provider: entry.provider,
      providerMessageId: entry.providerMessageId,
      lastEvent: null,
      lastEventAt: null,
      raw: null,
      error: null,
      errorKind: null,
      failedOver: false,
      costUsd: null,
      acceptedCostUsd: null,
      idempotencyKey: null,
      keyHash: null,
      alertedAt: entry.backfill === true ? now : null,
      suppressionMarks: [],
      entryId: null,
      accounts: null,
      createdAt: now
    }
    return { row, isNew: true }
  }

  /** The marks that the event adds: `reason:address`, or `reason:` where the recipient is not known yet. */
  const newMarks = (row: LogRow, entry: EventEntry): ReadonlyArray<string> => {
    const reason: SuppressionReason | undefined =
      entry.event === "bounced" && entry.bounceType?.toLowerCase() === "permanent"
        ? "hard_bounce"
        : entry.event === "complained"
          ? "complaint"
          : undefined
    if (reason === undefined) return []
    const recipients = distinct(entry.recipients ?? [])
    const single = row.recipientCount === 1 ? [...row.to, ...row.others].slice(0, 1) : []
    // An event that names a key is about mail of the library, whose row will name all recipients, Cc and Bcc included.
    const waits = recipients.length === 0 || entry.keyHash !== undefined
    const fromEvent = waits ? [""] : recipients.length === 1 ? recipients : []
    const addresses = entry.suppress ?? (row.outcome === null ? fromEvent : single)
    return distinct(addresses.map((address) => `${reason}:${address}`)).filter(
      (mark) => !row.suppressionMarks.includes(mark)
    )
  }

  const recordEvent = (entry: EventEntry, now: number): RecordedEvent => {
    const { isNew, row: before } = rowOfEvent(entry, now)
    const asked = statusOfEvent(entry.event)
    const status = asked === undefined ? before.status : advance(before.status, asked)
    const failure = isProviderFailure(entry.event)
    const alert = failure && entry.alertable !== false && before.alertedAt === null
    const marks = newMarks(before, entry)
    suppress(marks)
    const known =
      before.outcome === null
        ? {
            from: before.from ?? entry.from ?? null,
            subject: before.subject ?? entry.subject ?? null,
            to: before.to.length === 0 ? (entry.recipients ?? []) : before.to,
            keyHash: before.keyHash ?? entry.keyHash ?? null
          }
        : {}
    const category = before.category === UNKNOWN_CATEGORY ? entry.category : before.category
    const source = before.source ?? undefined
    if (alert) alerts.claim(failedSendOf(entry, { sendId: before.id, category, source }), now)
    put({
      ...before,
      ...known,
      status,
      error: errorOf(before, entry, status),
      ...accountOf(before, entry, now),
      alertedAt: alert ? now : before.alertedAt,
      suppressionMarks: [...before.suppressionMarks, ...marks]
    })
    return {
      sendId: before.id,
      status,
      alert,
      backfilled: isNew && entry.backfill === true,
      category,
      source
    }
  }

  return {
    rows,
    suppressions,
    record,
    recordEvent,
    /** Message id that proves an attempt on the key was accepted. */
    findEvidence: (keyHash: string, provider: Provider, now: number): string | undefined =>
      newest(keyHash, provider, now, (row) => row.providerMessageId !== null)?.providerMessageId ?? undefined,
    /** What is left of a key that has no claim: see `Trail`. */
    findTrail: (keyHash: string, now: number): Trail | undefined => {
      const left = rows.filter(
        (row) =>
          row.keyHash === keyHash &&
          row.provider !== null &&
          row.createdAt > now - IDEMPOTENCY_WINDOW_MS &&
          (row.providerMessageId !== null ||
            row.status === "deferred" ||
            (row.status === "failed" && row.errorKind === "ambiguous"))
      )
      const provider = (left.findLast((row) => row.providerMessageId !== null) ?? left.at(-1))?.provider
      return provider === undefined || provider === null ? undefined : { provider, since: left[0]!.createdAt }
    },
    releaseAlert: (sendId: string, now: number): boolean => {
      const row = rows.find(({ id }) => id === sendId)
      if (row === undefined || row.alertedAt === null || alerts.isConfirmed(sendId)) return false
      put({ ...row, alertedAt: null })
      alerts.release(sendId, now)
      return true
    },
    confirmAlert: (sendId: string, now: number): boolean => {
      const row = rows.find(({ id }) => id === sendId)
      if (row === undefined) return false
      put({ ...row, alertedAt: row.alertedAt ?? now })
      return alerts.confirm(sendId)
    },
    claimDueAlert: (now: number): FailedSend | undefined => {
      const failed = alerts.claimDue(now)
      const row = rows.find(({ id }) => id === failed?.sendId)
      if (row !== undefined) put({ ...row, alertedAt: row.alertedAt ?? now })
      return failed
    }
  }
}
