import { tagOf } from "../../../domain/mail/deferred-send.ts"
import { advance, isDelivered, statusRank } from "../../../domain/mail/status.ts"
import type { RecordedSend, RecordSend } from "../../../ports/mail/mail-store.ts"
import {
  AROUND_MS,
  distinct,
  EMPTY_ROW,
  ERASED,
  erasedOf,
  type LogRow,
  type MailTables,
  newestRow,
  putRow,
  rowOfMessage,
  suppressMarked,
  withoutPeople
} from "./tables.ts"

/** What is recorded, and who was erased meanwhile. */
interface Entry extends RecordSend {
  readonly gone: ReadonlyArray<string>
}

/** Records an attempt of the library, by the rules of `record_email_sends` (MAIL-70). */
export const recordSend = (tables: MailTables, given: RecordSend, now: number): RecordedSend => {
  const entry = withoutErasedPeople(tables, given, now)
  const known = rowOfAttempt(tables, entry, now)
  if (known !== undefined) return recorded(merge(tables, known, entry))
  const isTaken = tables.rows.some(({ id }) => id === entry.rowId)
  return recorded(putRow(tables, { ...rowOf(entry, now), ...(isTaken ? { id: tables.newId() } : {}) }))
}

/** A retry's entry without the people who were erased meanwhile (`without_erased_people`). */
const withoutErasedPeople = (tables: MailTables, entry: RecordSend, now: number): Entry => {
  const { details, settle } = entry
  const isRetry = settle?.isRetry === true
  const all = [...details.to, ...details.others, ...(details.dropped ?? [])]
  return { ...entry, gone: isRetry ? erasedOf(tables, details.keyHash, all, now) : [] }
}

const recorded = (row: LogRow): RecordedSend => ({
  sendId: row.id,
  status: row.status,
  providerMessageId: row.providerMessageId
})

/** The row that the attempt belongs to, where it has one. */
const rowOfAttempt = (tables: MailTables, entry: RecordSend, now: number): LogRow | undefined => {
  if (entry.providerMessageId !== null) return rowOfAcceptance(tables, entry)
  // An attempt that completed the row of another message before is that row's.
  const own =
    tables.rows.find(({ entryId }) => entryId === entry.rowId) ??
    tables.rows.find(({ id }) => id === entry.rowId)
  const tag = tagOf(entry.details)
  return own === undefined && entry.outcome === "deferred" && tag !== undefined
    ? newestRow(
        tables,
        tag,
        // A tag belongs to the key only without a known earlier use: yesterday's mail is another one.
        (row) => row.outcome === null && row.providerMessageId !== null && row.createdAt > now - AROUND_MS
      )
    : own
}

/** An acceptance proves one message: it belongs to the row of that message, else to its own row if that is still open. */
const rowOfAcceptance = (tables: MailTables, entry: RecordSend): LogRow | undefined => {
  const own = tables.rows.find(({ id }) => id === entry.rowId)
  const isOpen =
    own?.providerMessageId === null && statusRank(entry.outcome) > statusRank(own.outcome ?? own.status)
  return rowOfMessage(tables, entry.provider, entry.providerMessageId) ?? (isOpen ? own : undefined)
}

/** The library's row for the attempt, before anything else is known of it. */
const rowOf = (entry: Entry, now: number): LogRow => {
  const { details } = entry
  const row: LogRow = {
    ...EMPTY_ROW,
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
    error: entry.error,
    errorKind: entry.errorKind,
    failedOver: entry.failedOver,
    costUsd: entry.outcome === "deferred" ? null : entry.costUsd,
    acceptedCostUsd: entry.outcome === "deferred" ? entry.costUsd : null,
    idempotencyKey: details.idempotencyKey,
    keyHash: details.keyHash,
    keyTag: tagOf(details) ?? null,
    retryAt: entry.retryAt,
    attempts: entry.attempts,
    traceparent: details.traceparent ?? null,
    createdAt: now
  }
  return withoutPeople(row, entry.gone)
}

const isErased = ({ dropped, others, to }: LogRow): boolean =>
  [...to, ...others, ...dropped].some((address) => address.startsWith(ERASED))

/** Recipients of the accepted attempt: a repeated retry may have dropped others than its first run. */
const recipientsOf = (row: LogRow, entry: Entry): Partial<LogRow> => {
  if (entry.outcome !== "sent" || isErased(row)) return {}
  const { dropped, others, recipientCount, to } = rowOf(entry, row.createdAt)
  return { dropped, others, recipientCount, to }
}

/** Records a row of the library again: nothing changes, unless the outcome ranks higher. */
const merge = (tables: MailTables, row: LogRow, entry: Entry): LogRow => {
  if (row.outcome === null) return complete(tables, row, entry)
  if (statusRank(entry.outcome) <= statusRank(row.outcome)) return row
  return putRow(tables, {
    ...row,
    ...recipientsOf(row, entry),
    outcome: entry.outcome,
    status: advance(row.status, entry.outcome),
    provider: row.provider ?? entry.provider,
    providerMessageId: row.providerMessageId ?? entry.providerMessageId,
    error: row.error ?? rowOf(entry, row.createdAt).error,
    errorKind: row.errorKind ?? entry.errorKind,
    failedOver: row.failedOver || entry.failedOver,
    costUsd: row.costUsd ?? entry.costUsd,
    attempts: [...row.attempts, ...rowOf(entry, row.createdAt).attempts]
  })
}

/** Completes a row that only events wrote; it keeps its id and what the events did. */
const complete = (tables: MailTables, row: LogRow, entry: Entry): LogRow => {
  const library = rowOf(entry, row.createdAt)
  const recipients = distinct([...library.to, ...library.others])
  const marks =
    recipients.length === 1
      ? row.suppressionMarks.filter((mark) => mark.endsWith(":")).map((mark) => mark + recipients[0])
      : []
  suppressMarked(tables, marks)
  return putRow(tables, {
    ...library,
    id: row.id,
    keyTag: library.keyTag ?? row.keyTag,
    status: advance(row.status, entry.outcome),
    provider: row.provider,
    providerMessageId: row.providerMessageId,
    lastEvent: row.lastEvent,
    lastEventAt: row.lastEventAt,
    raw: row.raw,
    // A temporary bounce of a mail that its only recipient got is an automatic reply (EVENT-16).
    error: isDelivered(row.status) && recipients.length < 2 ? library.error : (row.error ?? library.error),
    // The event that made the row proves that the deferral was accepted.
    costUsd: entry.costUsd,
    alertedAt: row.alertedAt,
    suppressionMarks: [...row.suppressionMarks, ...marks],
    // An attempt that was accepted as two messages completed the row of the other one before.
    entryId: tables.rows.some(({ entryId }) => entryId === entry.rowId) ? row.entryId : entry.rowId,
    accounts: row.accounts,
    events: row.events
  })
}
