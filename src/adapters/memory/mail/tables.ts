import type { FailedSend } from "../../../domain/delivery/delivery-event.ts"
import { type KeyHash, type KeyTag, LogRowId } from "../../../domain/ids.ts"
import type { Claim } from "../../../domain/mail/claim.ts"
import { type FailureKind, IDEMPOTENCY_WINDOW_MS } from "../../../domain/mail/failover.ts"
import type { Attempt } from "../../../domain/mail/logged-attempt.ts"
import type { Provider } from "../../../domain/mail/provider.ts"
import type { SendStatus } from "../../../domain/mail/send-result.ts"
import type { EmailStatus } from "../../../domain/mail/status.ts"
import type {
  Category,
  Suppression,
  SuppressionReason,
  UNKNOWN_CATEGORY
} from "../../../domain/mail/suppression/policy.ts"

/** What an event says of a mail, and when. */
export interface Account {
  readonly event: string
  readonly at: number
  readonly raw: unknown
}

/** A row of `email_events`. */
export interface KeptEvent extends Account {
  /** 1 for the first that arrived. */
  readonly number: number
  readonly listed: boolean
}

/** A row of `email_log`, with its events. Times are milliseconds since the epoch. */
export interface LogRow {
  readonly id: LogRowId
  readonly category: Category | typeof UNKNOWN_CATEGORY
  readonly source: string | null
  readonly from: string | null
  readonly to: ReadonlyArray<string>
  readonly others: ReadonlyArray<string>
  /** Recipients that were dropped because they are suppressed. */
  readonly dropped: ReadonlyArray<string>
  /** Distinct recipients; null where only events wrote the row. */
  readonly recipientCount: number | null
  readonly subject: string | null
  /** What the library reported; null where only events wrote the row. */
  readonly outcome: SendStatus | null
  readonly status: EmailStatus
  readonly provider: Provider | null
  readonly providerMessageId: string | null
  readonly lastEvent: string | null
  readonly lastEventAt: number | null
  readonly raw: unknown
  readonly error: string | null
  readonly errorKind: FailureKind | null
  readonly failedOver: boolean
  readonly costUsd: number | null
  /** The cost of a deferral if it turns out to have been accepted. */
  readonly acceptedCostUsd: number | null
  readonly idempotencyKey: string | null
  readonly keyHash: KeyHash | null
  /** The tag of the attempt's request, or of the event that made the row. */
  readonly keyTag: KeyTag | null
  readonly alertedAt: number | null
  /** `reason:address` for each automatic suppression that the row's events asked for. */
  readonly suppressionMarks: ReadonlyArray<string>
  /** The id that the library asked for, where an event had made the row before. */
  readonly entryId: string | null
  /** Only where the poll has seen the mail: the latest event that a webhook brought, and the latest that the poll listed. */
  readonly accounts: { readonly received: Account | null; readonly listed: Account } | null
  /** When the retry of a deferral is due. */
  readonly retryAt: number | null
  readonly attempts: ReadonlyArray<Attempt>
  /** The span of the send, where it was traced. */
  readonly traceparent: string | null
  readonly events: ReadonlyArray<KeptEvent>
  readonly createdAt: number
}

/** A delivery event as `record_email_event` takes it; addresses are bare and lower-case. */
export interface EventEntry {
  readonly provider: Provider
  readonly providerMessageId: string
  readonly event: string
  /** Milliseconds since the epoch; absent: from when it was observed. */
  readonly occurredAt?: number | undefined
  readonly recipients?: ReadonlyArray<string> | undefined
  readonly subject?: string | undefined
  readonly from?: string | undefined
  readonly reason?: string | undefined
  readonly raw?: unknown
  /** The tag `postlane_key`, of this installation or of another one. */
  readonly keyTag?: KeyTag | undefined
  readonly bounceType?: string | undefined
  /** The recipients that the provider names as bounced or complaining. */
  readonly suppress?: ReadonlyArray<string> | undefined
  /** False: never alerts (outreach). */
  readonly alertable?: boolean | undefined
  /** The category that the event's tags name. */
  readonly category?: string | undefined
  /** True: the state of the mail in the provider's list, read at `occurredAt`. */
  readonly listed?: boolean | undefined
  /** True: an event that makes its row keeps the alert's claim without an alert. */
  readonly backfill?: boolean | undefined
}

/** What became of an event. */
export interface RecordedEvent {
  readonly sendId: LogRowId
  readonly status: EmailStatus
  /** This call claimed the row's one alert. */
  readonly alert: boolean
  readonly backfilled: boolean
  /** The row's where the library wrote it, else that of the event's tags. */
  readonly category: string | undefined
  readonly source: string | undefined
}

/** A row of `email_alerts`. */
interface AlertClaim {
  /** Gone once it is confirmed. */
  readonly failed: FailedSend | undefined
  /** Null once it is confirmed. */
  readonly dueAt: number | null
  readonly attempts: number
}

/**
 * The tables of mail in memory. The functions over them decide as `begin_email_sends`, `record_email_sends` and
 * `record_email_events` do: they are the model that the SQL is tested against.
 */
export interface MailTables {
  /** In order of creation. */
  readonly rows: Array<LogRow>
  readonly suppressions: Array<Suppression>
  /** Suppressions of people who were erased: they left the list, and still block. */
  readonly erased: Array<Suppression>
  /** When people were erased of whom something was found: what the audit log says. */
  readonly erasedAt: Map<string, number>
  /** The rows of `unsubscribes`: bare addresses. */
  readonly unsubscribed: Set<string>
  /** The rows of `list_unsubscribes`. */
  readonly leftLists: Array<{ readonly email: string; readonly list: string }>
  /** By the hash of the key. */
  readonly claims: Map<KeyHash, Claim>
  /** By the row's id. */
  readonly alerts: Map<string, AlertClaim>
  readonly newId: () => LogRowId
}

export const makeMailTables = (): MailTables => {
  let made = 0
  return {
    rows: [],
    suppressions: [],
    erased: [],
    erasedAt: new Map(),
    unsubscribed: new Set(),
    leftLists: [],
    claims: new Map(),
    alerts: new Map(),
    newId: () => LogRowId.make(`00000000-0000-4000-8000-${(made += 1).toString(16).padStart(12, "0")}`)
  }
}

/** A row without anything known of it. */
export const EMPTY_ROW: Omit<LogRow, "id" | "category" | "status" | "createdAt"> = {
  source: null,
  from: null,
  to: [],
  others: [],
  dropped: [],
  recipientCount: null,
  subject: null,
  outcome: null,
  provider: null,
  providerMessageId: null,
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
  keyTag: null,
  alertedAt: null,
  suppressionMarks: [],
  entryId: null,
  accounts: null,
  retryAt: null,
  attempts: [],
  traceparent: null,
  events: []
}

/** Two uses of a key are 24 hours apart at least; less ten minutes, for clocks that differ. */
export const AROUND_MS = IDEMPOTENCY_WINDOW_MS - 10 * 60_000

/** Inserts the row, or replaces the one of its id. */
export const putRow = ({ rows }: MailTables, row: LogRow): LogRow => {
  const at = rows.findIndex(({ id }) => id === row.id)
  if (at === -1) rows.push(row)
  else rows[at] = row
  return row
}

/** The row of a message. */
export const rowOfMessage = (
  { rows }: MailTables,
  provider: Provider | null,
  messageId: string | null
): LogRow | undefined =>
  messageId === null
    ? undefined
    : rows.find((row) => row.provider === provider && row.providerMessageId === messageId)

/** The newest row of one use of a key: the rows that carry its tag, under whichever provider. */
export const newestRow = (
  { rows }: MailTables,
  tag: KeyTag,
  matches: (row: LogRow) => boolean
): LogRow | undefined => rows.findLast((row) => row.keyTag === tag && matches(row))

/** The key that a tag names: found by this installation's claim or a row of the library; null for a tag of another installation. */
export const keyOfTag = ({ claims, rows }: MailTables, tag: KeyTag): KeyHash | null => {
  for (const [keyHash, claim] of claims) if (claim.tag === tag) return keyHash
  return (
    rows.find((row) => row.keyTag === tag && row.outcome !== "sent" && row.keyHash !== null)?.keyHash ?? null
  )
}

/** Before the address of an erased person in rows that stay; PostgreSQL has its hash there. */
export const ERASED = "erased:"

/** Everyone whom a row names. */
const namesOf = ({
  dropped,
  others,
  to
}: Pick<LogRow, "dropped" | "others" | "to">): ReadonlyArray<string> => [...to, ...others, ...dropped]

const DAY_MS = 86_400_000

/**
 * The addresses of persons erased since the key was used (`email_erased_of`), by its rows, or by the last day of the audit log if
 * it has no rows.
 */
export const erasedOf = (
  tables: MailTables,
  keyHash: KeyHash,
  addresses: ReadonlyArray<string>,
  now: number
): ReadonlyArray<string> => {
  const named = new Set(rowsOfKey(tables, keyHash).flatMap(namesOf))
  const isErased = (address: string) =>
    named.size === 0
      ? (tables.erasedAt.get(address) ?? Number.NEGATIVE_INFINITY) > now - DAY_MS
      : named.has(ERASED + address)
  return distinct(addresses).filter(isErased)
}

/** The rows of the key's current use. */
const rowsOfKey = ({ claims, rows }: MailTables, keyHash: KeyHash): ReadonlyArray<LogRow> => {
  const since = claims.get(keyHash)?.firstAttemptAt ?? Number.NEGATIVE_INFINITY
  return rows.filter((row) => row.keyHash === keyHash && row.createdAt >= since)
}

/** `error_without_person`. */
export const errorWithoutPerson = (error: string | null): string | null =>
  error === null || error.startsWith("Recipient suppressed: ") ? error : "the person was erased"

/** Whether a text names the address, in whichever case. */
export const isNamedIn = (address: string, text: string | null): boolean =>
  text?.toLowerCase().includes(address) === true

/** What is left of a row once these people were erased. */
export const withoutPeople = (row: LogRow, people: ReadonlyArray<string>): LogRow => {
  if (!namesOf(row).some((address) => people.includes(address))) return row
  const hide = (addresses: ReadonlyArray<string>) =>
    addresses.map((address) => (people.includes(address) ? ERASED + address : address))
  return {
    ...row,
    to: hide(row.to),
    others: hide(row.others),
    dropped: hide(row.dropped),
    idempotencyKey: people.some((one) => isNamedIn(one, row.idempotencyKey)) ? null : row.idempotencyKey,
    error: errorWithoutPerson(row.error),
    attempts: row.attempts.map((attempt) => ({ ...attempt, reason: null })),
    suppressionMarks: [],
    subject: null,
    raw: null,
    accounts: null,
    events: row.events.map((event) => ({ ...event, raw: null }))
  }
}

/** An event about a row without the people who were erased from it. */
export const eventWithoutPeople = (row: LogRow, entry: EventEntry): EventEntry => {
  if (!namesOf(row).some((address) => address.startsWith(ERASED))) return entry
  const hide = (addresses: ReadonlyArray<string> | undefined) =>
    addresses?.map((address) => (namesOf(row).includes(ERASED + address) ? ERASED + address : address))
  return {
    ...entry,
    raw: null,
    reason: errorWithoutPerson(entry.reason ?? null) ?? undefined,
    subject: undefined,
    recipients: hide(entry.recipients),
    suppress: hide(entry.suppress)
  }
}

/** Adds the suppressions that marks (`reason:address`) name; those without an address wait. */
export const suppressMarked = ({ erased, suppressions }: MailTables, marks: ReadonlyArray<string>): void => {
  for (const mark of marks) {
    const [reason, named] = [mark.slice(0, mark.indexOf(":")), mark.slice(mark.indexOf(":") + 1)]
    const [list, email] = named.startsWith(ERASED)
      ? [erased, named.slice(ERASED.length)]
      : [suppressions, named]
    if (email === "" || list.some((known) => known.email === email && known.reason === reason)) continue
    list.push({ email, reason: reason as SuppressionReason })
  }
}

export const distinct = (addresses: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(addresses)]
