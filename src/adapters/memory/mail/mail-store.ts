import { Clock, Effect, Layer, Redacted } from "effect"

import type { FailedSend } from "../../../domain/delivery/delivery-event.ts"
import type { KeyHash, LogRowId } from "../../../domain/ids.ts"
import { append } from "../../../domain/lists.ts"
import type { Sign } from "../../../domain/mail/circuit.ts"
import type { Claim } from "../../../domain/mail/claim.ts"
import type { Provider } from "../../../domain/mail/provider.ts"
import type { Suppression } from "../../../domain/mail/suppression/policy.ts"
import { MailStore } from "../../../ports/mail/mail-store.ts"
import { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { claimDueAlert, confirmAlert, releaseAlert } from "./alerts.ts"
import { beginRetry, beginSend, moveClaim, purgeClaims, settleClaim } from "./claims.ts"
import { deferralEnd } from "./deferral-end.ts"
import { findEvidence } from "./evidence.ts"
import { recordEvent } from "./record-event.ts"
import { recordSend } from "./record-send.ts"
import {
  ERASED,
  errorWithoutPerson,
  type EventEntry,
  isNamedIn,
  type LogRow,
  type MailTables,
  makeMailTables,
  putRow,
  type RecordedEvent,
  withoutPeople
} from "./tables.ts"

/** Time-outs further apart are not in a row, milliseconds. */
const HANG_MS = 60_000

let warned = false

const warnOnce = Effect.suspend(() => {
  if (warned) return Effect.void
  warned = true
  return Effect.logWarning(
    "No database is configured (DB_URL with its password): mail is sent without logging or suppression"
  )
})

/**
 * No database is configured: every send goes out unlogged and unchecked, and one warning is logged per process, for any
 * number of mailers (MAIL-5).
 */
export const layerNone: Layer.Layer<MailStore> = Layer.effect(
  MailStore,
  Effect.gen(function* () {
    yield* warnOnce
    const none = (operation: string) =>
      Effect.fail(
        new StoreUnavailable({ operation, reason: "no database is configured", isRetryable: false })
      )
    return MailStore.of({
      configured: false,
      begin: () => none("begin"),
      moveClaim: () => none("moveClaim"),
      findEvidence: () => none("findEvidence"),
      deferralEnd: () => none("deferralEnd"),
      beginRetry: () => none("beginRetry"),
      record: () => none("record"),
      noteUnclaimed: () => none("noteUnclaimed"),
      noteSign: () => none("noteSign"),
      tagSecret: Effect.succeed(undefined)
    })
  })
)

/** The state of several mail stores ("processes") that share one database, in memory. */
export interface MailDatabase {
  /** The secret of the installation's tags. */
  readonly secret: Uint8Array
  /** The port; several processes can share it. */
  readonly store: MailStore["Service"]
  /** What a send queue on the same database works with. */
  readonly tables: MailTables
  /** What a webhook or the poll does (`record_email_event`). */
  readonly recordEvent: (entry: EventEntry) => Effect.Effect<RecordedEvent>
  /** Releases an alert's claim (`release_email_alert`). */
  readonly releaseAlert: (sendId: LogRowId, taken?: ReadonlyArray<string>) => Effect.Effect<boolean>
  /** Notes that an alert went out (`confirm_email_alert`). */
  readonly confirmAlert: (sendId: LogRowId) => Effect.Effect<boolean>
  /** Claims the alert that is due for longest (`claim_due_email_alerts`). */
  readonly claimDueAlert: Effect.Effect<FailedSend | undefined>
  /** Rows in order of creation. */
  readonly rows: () => ReadonlyArray<LogRow>
  readonly suppressions: () => ReadonlyArray<Suppression>
  /** Adds one by hand, as an operator does. */
  readonly suppress: (suppression: Suppression) => void
  readonly unsuppress: (email: string) => number
  /** What a one-click link does (`unsubscribes`). */
  readonly unsubscribe: (email: string) => void
  /** What the link of a list does (`list_unsubscribes`). */
  readonly leaveList: (email: string, list: string) => void
  /** What `erase_person` does to an address: its suppressions leave the list, and still block. */
  readonly erase: (email: string) => Effect.Effect<void>
  readonly claim: (keyHash: KeyHash) => Claim | undefined
  /** What housekeeping does to claims that have expired (`purge_email_claims`); returns how many. */
  readonly purgeClaims: Effect.Effect<number>
  /** How many sends without look-up or claim were noted. */
  readonly unclaimed: () => number
}

const takeOut = ({ suppressions }: MailTables, email: string): ReadonlyArray<Suppression> => {
  const gone = suppressions.filter((one) => one.email === email)
  const kept = suppressions.filter((one) => one.email !== email)
  suppressions.splice(0, suppressions.length, ...kept)
  return gone
}

const suppress = ({ suppressions }: MailTables, suppression: Suppression): void => {
  const isKnown = suppressions.some(
    ({ email, reason }) => email === suppression.email && reason === suppression.reason
  )
  if (!isKnown) suppressions.push(suppression)
}

/** `erase_person`: rows and kept results name the person no longer, and what was to be alerted about them is dropped. */
const erasePerson = (tables: MailTables, email: string, now: number): void => {
  const hidden = tables.rows.flatMap((row) => {
    const left = withoutPeople(row, [email])
    return left === row ? [] : [putRow(tables, left)]
  })
  // Mails to others that name the person, as alerts do.
  for (const row of tables.rows) if (isNamedIn(email, row.subject)) putRow(tables, { ...row, subject: null })
  const taken = takeOut(tables, email)
  append(tables.erased, taken)
  if (hidden.length > 0 || taken.length > 0 || tables.unsubscribed.has(email)) tables.erasedAt.set(email, now)
  for (const [sendId, alert] of tables.alerts) {
    const { dueAt, failed } = alert
    if (dueAt === null || failed === undefined) continue
    const row = hidden.find(({ id }) => id === sendId)
    const reached = row === undefined ? [] : [...row.to, ...row.others]
    const wasTheLast =
      reached.includes(ERASED + email) && reached.every((address) => address.startsWith(ERASED))
    if (failed.recipients.includes(email) || wasTheLast) tables.alerts.delete(sendId)
    else if (row !== undefined)
      tables.alerts.set(sendId, { ...alert, failed: { ...failed, subject: undefined, reason: undefined } })
  }
  for (const { keyHash } of hidden) {
    const claim = keyHash === null ? undefined : tables.claims.get(keyHash)
    if (keyHash === null || claim?.result === undefined) continue
    const { result } = claim
    const suppressedRecipients = result.suppressedRecipients.map((address) =>
      address === email ? ERASED + email : address
    )
    tables.claims.set(keyHash, {
      ...claim,
      result: result.ok
        ? { ...result, suppressedRecipients }
        : { ...result, suppressedRecipients, error: errorWithoutPerson(result.error) ?? "" }
    })
  }
}

const atNow = <A>(f: (now: number) => A) => Effect.map(Clock.currentTimeMillis, f)

/** `email_provider_hangs`: the time-outs in a row at each provider, and when the newest was noted, milliseconds. */
const makeHangs = () => {
  const hangs = new Map<Provider, { readonly inARow: number; readonly notedAt: number }>()
  return (provider: Provider, sign: Sign, now: number): number => {
    const known = hangs.get(provider)
    const isInARow = known !== undefined && known.notedAt > now - HANG_MS
    const inARow = sign === "answered" ? 0 : isInARow ? known.inARow + 1 : 1
    hangs.set(provider, { inARow, notedAt: now })
    return inARow
  }
}

const storeOf = (tables: MailTables, secret: Uint8Array, note: (count: number) => void) => {
  const noteSign = makeHangs()
  return MailStore.of({
    configured: true,
    begin: (entry) => atNow((now) => beginSend(tables, entry, now)),
    moveClaim: (entry) => Effect.sync(() => moveClaim(tables, entry)),
    findEvidence: ({ ageMs, keyHash, tag }) =>
      atNow((now) => findEvidence(tables, keyHash, tag, now - ageMs)),
    tagSecret: Effect.succeed(Redacted.make(secret)),
    noteUnclaimed: (count) => Effect.sync(() => note(count)),
    noteSign: (provider, sign) => atNow((now) => noteSign(provider, sign, now)),
    deferralEnd: ({ keyHash, sendId }) => atNow((now) => deferralEnd(tables, keyHash, sendId, now)),
    beginRetry: (entry) => atNow((now) => beginRetry(tables, entry, now)),
    record: (entry) =>
      atNow((now) => {
        const recorded = recordSend(tables, entry, now)
        settleClaim(tables, entry, recorded, now)
        return recorded
      })
  })
}

/** A new, empty database. Times come from the caller's `Clock`. `secret`: 32 bytes, another one for another installation. */
export const makeMailDatabase = (secret: Uint8Array = new Uint8Array(32).fill(7)): MailDatabase => {
  const tables = makeMailTables()
  let unclaimed = 0
  return {
    secret,
    store: storeOf(tables, secret, (count) => void (unclaimed += count)),
    unclaimed: () => unclaimed,
    tables,
    recordEvent: (entry) => atNow((now) => recordEvent(tables, entry, now)),
    releaseAlert: (sendId, taken) => atNow((now) => releaseAlert(tables, sendId, now, taken)),
    confirmAlert: (sendId) => atNow((now) => confirmAlert(tables, sendId, now)),
    claimDueAlert: atNow((now) => claimDueAlert(tables, now)),
    rows: () => [...tables.rows],
    suppressions: () => [...tables.suppressions],
    suppress: (suppression) => suppress(tables, suppression),
    unsuppress: (email) => takeOut(tables, email).length,
    unsubscribe: (email) => void tables.unsubscribed.add(email),
    leaveList: (email, list) => void tables.leftLists.push({ email, list }),
    erase: (email) => atNow((now) => erasePerson(tables, email, now)),
    claim: (keyHash) => tables.claims.get(keyHash),
    purgeClaims: atNow((now) => purgeClaims(tables, now))
  }
}
