import {
  advance,
  type EmailStatus,
  isDelivered,
  isProviderFailure,
  isTerminal,
  statusOfEvent
} from "../../../domain/mail/status.ts"
import { type SuppressionReason, UNKNOWN_CATEGORY } from "../../../domain/mail/suppression/policy.ts"
import { claimAlert, failedSendOf } from "./alerts.ts"
import {
  type Account,
  distinct,
  EMPTY_ROW,
  type EventEntry,
  eventWithoutPeople,
  type KeptEvent,
  keyOfTag,
  type LogRow,
  type MailTables,
  newestRow,
  putRow,
  type RecordedEvent,
  rowOfMessage,
  suppressMarked
} from "./tables.ts"

/** Folds a delivery event into its row, by the rules of `record_email_events` (EVENT-10). */
export const recordEvent = (tables: MailTables, told: EventEntry, now: number): RecordedEvent => {
  const { isNew, row: before } = rowOfEvent(tables, told, now)
  const entry = eventWithoutPeople(before, told)
  const asked = statusOfEvent(entry.event)
  const status = asked === undefined ? before.status : advance(before.status, asked)
  const alert = isProviderFailure(entry.event) && entry.alertable !== false && before.alertedAt === null
  const marks = newMarks(tables, before, entry)
  suppressMarked(tables, marks)
  const category = before.category === UNKNOWN_CATEGORY ? entry.category : before.category
  const source = before.source ?? undefined
  if (alert) claimAlert(tables, failedSendOf(entry, { sendId: before.id, category, source }), now)
  putRow(tables, {
    ...before,
    ...(before.outcome === null ? describedBy(before, entry) : {}),
    status,
    error: errorOf(before, entry, status),
    ...accountOf(before, entry, now),
    events: eventsWith(before.events, entry, now),
    alertedAt: alert ? now : before.alertedAt,
    suppressionMarks: [...before.suppressionMarks, ...marks]
  })
  return { sendId: before.id, status, alert, backfilled: isNew && entry.backfill === true, category, source }
}

/** The row that an event is about: the message's, else the deferred one that it proves accepted, else a new one. */
const rowOfEvent = (
  tables: MailTables,
  entry: EventEntry,
  now: number
): { readonly row: LogRow; readonly isNew: boolean } => {
  const { keyTag, provider, providerMessageId } = entry
  const known = rowOfMessage(tables, provider, providerMessageId)
  if (known !== undefined) return { row: known, isNew: false }
  const keyHash = keyTag === undefined ? null : keyOfTag(tables, keyTag)
  const claim = keyHash === null ? undefined : tables.claims.get(keyHash)
  // While an attempt on the key is under way, the event may be about that one.
  const isLeased = claim !== undefined && now < claim.leaseUntil
  const deferred =
    keyTag === undefined || isLeased
      ? undefined
      : newestRow(tables, keyTag, (row) => row.status === "deferred" && row.providerMessageId === null)
  if (deferred !== undefined) {
    const costUsd = deferred.costUsd ?? deferred.acceptedCostUsd
    return { row: { ...deferred, status: "sent", provider, providerMessageId, costUsd }, isNew: false }
  }
  const row: LogRow = {
    ...EMPTY_ROW,
    id: tables.newId(),
    category: UNKNOWN_CATEGORY,
    status: "sent",
    provider,
    providerMessageId,
    keyHash,
    alertedAt: entry.backfill === true ? now : null,
    createdAt: now
  }
  return { row, isNew: true }
}

/** What events say of a mail that the library has not recorded. */
const describedBy = (row: LogRow, entry: EventEntry): Partial<LogRow> => ({
  from: row.from ?? entry.from ?? null,
  subject: row.subject ?? entry.subject ?? null,
  to: row.to.length === 0 ? (entry.recipients ?? []) : row.to,
  keyTag: row.keyTag ?? entry.keyTag ?? null
})

const suppressionOf = ({ bounceType, event }: EventEntry): SuppressionReason | undefined => {
  if (event === "complained") return "complaint"
  return event === "bounced" && bounceType?.toLowerCase() === "permanent" ? "hard_bounce" : undefined
}

/** Whether the mail went to one recipient. Since the accepted attempt of a deferral is unknown, each of them must have had one. */
const isToOne = ({ rows }: MailTables, { keyHash, outcome, recipientCount }: LogRow): boolean =>
  recipientCount === 1 &&
  (outcome !== "deferred" ||
    !rows.some((other) => other.keyHash === keyHash && (other.recipientCount ?? 0) > 1))

/** The marks that the event adds: `reason:address`, or `reason:` where the recipient is not known yet. */
const newMarks = (tables: MailTables, row: LogRow, entry: EventEntry): ReadonlyArray<string> => {
  const reason = suppressionOf(entry)
  if (reason === undefined) return []
  const recipients = distinct(entry.recipients ?? [])
  const single = isToOne(tables, row) ? [...row.to, ...row.others].slice(0, 1) : []
  // An event that names a key is about mail of the library; its row will name all recipients, Cc and Bcc included.
  const waits = recipients.length === 0 || entry.keyTag !== undefined
  const fromEvent = waits ? [""] : recipients.length === 1 ? recipients : []
  const addresses = entry.suppress ?? (row.outcome === null ? fromEvent : single)
  return distinct(addresses.map((address) => `${reason}:${address}`)).filter(
    (mark) => !row.suppressionMarks.includes(mark)
  )
}

const isLater = (one: Account, than: Account | null): boolean =>
  than === null || one.at > than.at || (one.at === than.at && one.event > than.event)

/** The last event with its account, after this one. Of an event both received and listed, the received account is kept. */
const accountOf = (row: LogRow, entry: EventEntry, now: number): Partial<LogRow> => {
  const shown =
    row.lastEvent === null || row.lastEventAt === null
      ? null
      : { event: row.lastEvent, at: row.lastEventAt, raw: row.raw }
  const known = row.accounts ?? { received: shown, listed: null }
  const latest = entry.listed === true ? known.listed : known.received
  const at = entry.occurredAt ?? (latest?.event === entry.event ? undefined : now)
  if (at === undefined) return {}
  const account = { event: entry.event, at, raw: entry.raw ?? null }
  if (!isLater(account, latest)) return {}
  const received = entry.listed === true ? known.received : account
  const listed = entry.listed === true ? account : known.listed
  const last =
    listed !== null && (received === null || (received.event !== listed.event && isLater(listed, received)))
      ? listed
      : (received ?? account)
  return {
    accounts: listed === null ? null : { received, listed },
    lastEvent: last.event,
    lastEventAt: last.at,
    raw: last.raw
  }
}

/** Most events of a mail that are kept of its beginning, and as many of its end. */
const KEPT = 50

/** Largest body that is kept, characters. */
const MAX_RAW = 32_768

/** The events with this one, by the rules of `keep_email_events` (EVENT-15). */
const eventsWith = (
  events: ReadonlyArray<KeptEvent>,
  { event, listed = false, occurredAt, raw = null }: EventEntry,
  now: number
): ReadonlyArray<KeptEvent> => {
  const body = JSON.stringify(raw)
  const isKnown = events.some(
    (known) =>
      known.event === event &&
      known.listed === listed &&
      (listed ||
        ((occurredAt === undefined || known.at === occurredAt) &&
          (known.raw === null || JSON.stringify(known.raw) === body)))
  )
  if (isKnown) return events
  const number = (events.at(-1)?.number ?? 0) + 1
  const kept = { number, event, at: occurredAt ?? now, listed, raw: body.length > MAX_RAW ? null : raw }
  return [...events, kept].filter((one) => one.number <= KEPT || one.number > number - KEPT)
}

/** Error of a row whose bounce came without a reason, as from the provider's list. A later report of it brings the reason. */
const NO_REASON = "not delivered"

/** The reason of the failure that is the row's status, also where only a later event of the same type brings it. */
const errorOf = (row: LogRow, entry: EventEntry, status: EmailStatus): string | null => {
  // Only the library's row knows all recipients; one that events made keeps the error until then.
  const toOne = row.outcome !== null && (row.recipientCount ?? 0) < 2
  const arrived = isDelivered(status)
  // The end of a mail that was not delivered; of one that was, an automatic reply.
  if (entry.event === "bounce_transient" && !isTerminal(status) && !(arrived && toOne))
    return row.error === null || row.error === NO_REASON ? (entry.reason ?? NO_REASON) : row.error
  if (status !== entry.event) return row.error
  if (isProviderFailure(entry.event))
    return status === row.status ? (row.error ?? entry.reason ?? null) : (entry.reason ?? null)
  return status !== row.status && arrived && toOne ? null : row.error
}
