import { Clock, Effect } from "effect"

import { renderMail } from "../../../src/adapters/mail-templates/mail-templates.ts"
import type { MailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { ERASED, type EventEntry, type RecordedEvent } from "../../../src/adapters/memory/mail/tables.ts"
import { type AlarmChange, type AlarmName } from "../../../src/domain/delivery/alarm-rules.ts"
import { alarmMail } from "../../../src/domain/delivery/alarm-texts.ts"
import {
  isProviderFailure,
  isTerminal,
  statusOfEvent,
  statusRank,
  type EmailStatus
} from "../../../src/domain/mail/status.ts"
import {
  blocks,
  Category,
  type Suppression,
  type SuppressionReason
} from "../../../src/domain/mail/suppression/policy.ts"
import type { AlarmNotice } from "../../../src/ports/delivery/alarm-board.ts"
import type { Attempt } from "../mail/provider-model.ts"
import type { VendorMail } from "./vendor.ts"

/** Under which the pages are that alerts lead to. */
export const BASE_URL = "https://postlane.test"

/** A suppression while it blocks. Milliseconds of virtual time. */
interface InForce {
  readonly email: string
  readonly reason: SuppressionReason
  readonly from: number
  until: number
}

/** A notice of an alarm that has to go out. */
interface DueNotice {
  readonly keyPrefix: string
  readonly text: string
}

const keyPrefixOf = (alarm: AlarmName, episode: number, kind: string) =>
  `api:email-alarm/${alarm}/${episode}/${kind}/`

/**
 * What an observer notes who sees every write of the database and every request to a provider or the chat: the truth that
 * the invariants are held against.
 */
export interface Ledger {
  readonly violations: Array<string>
  readonly attempted: (attempt: Attempt, askedAt: number) => void
  readonly accepted: (attempt: Attempt) => void
  readonly posted: (text: string) => void
  readonly alarmChanged: (change: AlarmChange, moved: boolean) => void
  readonly noticeConfirmed: (notice: AlarmNotice) => void
  /** The alarms that fire, and since when they have been calm. */
  readonly firing: ReadonlyMap<AlarmName, number | undefined>
  /** Whether an alarm has a notice that has not gone out. */
  readonly hasOpenNotices: () => boolean
  readonly eventRecorded: (entry: EventEntry, recorded: RecordedEvent) => void
  readonly alertClaimed: (sendId: string) => void
  readonly statusesSeen: (rows: ReturnType<MailDatabase["rows"]>) => void
  readonly suppressionsSeen: (all: ReadonlyArray<Suppression>, now: number) => void
  readonly alertConfirmed: (sendId: string) => void
  /** Whether an alert has not gone out. */
  readonly hasOpenAlerts: () => boolean
  /** `rows`: as they were before. */
  readonly personErased: (email: string, rows: ReturnType<MailDatabase["rows"]>) => void
  /** Alerts that had not gone out when the person whom they name was erased: they need not go out any more. */
  readonly droppedAlerts: ReadonlySet<string>
  /** How often each send's alert was claimed: who has not claimed it must not raise it. */
  readonly alertClaims: ReadonlyMap<string, number>
  /** Sends whose failure has to alert. */
  readonly dueAlerts: ReadonlySet<string>
  /** Texts that the chat accepted, as often as it did. */
  readonly posts: ReadonlyArray<string>
  /** Requests that made a provider accept a mail. */
  readonly sent: ReadonlyArray<Attempt>
  readonly dueNotices: ReadonlyArray<DueNotice>
  /** Every automatic suppression that there ever was. */
  readonly everSuppressed: ReadonlyArray<Suppression>
}

/** The category of a mail of this world, by its subject. */
const categoryOf = (subject: string): Category =>
  Category.literals.find((category) => subject.startsWith(`${category} `)) ?? "alert"

export const makeLedger = (): Ledger => {
  const violations: Array<string> = []
  const posts: Array<string> = []
  const sent: Array<Attempt> = []
  const dueAlerts = new Set<string>()
  /** Alerts that have not gone out, with the recipients that they name. */
  const openAlerts = new Map<string, ReadonlyArray<string>>()
  const droppedAlerts = new Set<string>()
  const alertClaims = new Map<string, number>()
  const alertClaimed = (sendId: string) => void alertClaims.set(sendId, (alertClaims.get(sendId) ?? 0) + 1)
  const firing = new Map<AlarmName, number | undefined>()
  const openNotices = new Set<string>()
  const backfilledSends = new Set<string>()
  const dueNotices: Array<DueNotice> = []
  const inForce: Array<InForce> = []
  const everSuppressed: Array<Suppression> = []
  const statuses = new Map<string, EmailStatus>()

  return {
    violations,
    posts,
    sent,
    dueAlerts,
    dueNotices,
    everSuppressed,
    attempted: (attempt, askedAt) => {
      const category = categoryOf(attempt.subject)
      for (const { email, from, reason, until } of inForce)
        if (
          from < askedAt &&
          until > attempt.startedAt &&
          attempt.recipients.includes(email) &&
          blocks(category, reason)
        )
          violations.push(
            `S7: ${attempt.subject} goes to ${email} at ${attempt.startedAt}, blocked (${reason}) since ${from}`
          )
    },
    accepted: (attempt) => void sent.push(attempt),
    posted: (text) => void posts.push(text),
    alarmChanged: ({ detail, name, notice, to }, moved) => {
      if (!moved) return
      if (to.firing) firing.set(name, to.calmSince)
      else firing.delete(name)
      if (notice === undefined) return
      const keyPrefix = keyPrefixOf(name, to.episode, notice)
      openNotices.add(keyPrefix)
      dueNotices.push({ keyPrefix, text: renderMail(alarmMail(name, notice, detail, BASE_URL)).text })
    },
    noticeConfirmed: ({ alarm, episode, kind }) => void openNotices.delete(keyPrefixOf(alarm, episode, kind)),
    firing,
    hasOpenNotices: () => openNotices.size > 0,
    alertClaims,
    alertClaimed,
    alertConfirmed: (sendId) => void openAlerts.delete(sendId),
    hasOpenAlerts: () => openAlerts.size > 0,
    droppedAlerts,
    personErased: (email, rows) => {
      // An alert names nobody any more whom the event named, or the mail went to.
      const isLastOf = (sendId: string) => {
        const row = rows.find(({ id }) => id === sendId)
        const left = [...(row?.to ?? []), ...(row?.others ?? [])].filter((one) => !one.startsWith(ERASED))
        return left.length > 0 && left.every((one) => one === email)
      }
      for (const [sendId, recipients] of openAlerts)
        if ((recipients.includes(email) || isLastOf(sendId)) && openAlerts.delete(sendId))
          droppedAlerts.add(sendId)
    },
    eventRecorded: (entry, { alert, backfilled, sendId }) => {
      if (alert) alertClaimed(sendId)
      if (backfilled) backfilledSends.add(sendId)
      const isDue =
        isProviderFailure(entry.event) && entry.alertable !== false && !backfilledSends.has(sendId)
      if (!isDue) return
      // An alert that was released and is claimed by another event names whom that one names.
      const isOpen = !dueAlerts.has(sendId) || (alert && openAlerts.has(sendId))
      if (isOpen) openAlerts.set(sendId, entry.suppress ?? entry.recipients ?? [])
      dueAlerts.add(sendId)
    },
    statusesSeen: (rows) => {
      for (const { id, status } of rows) {
        const before = statuses.get(id)
        if (before === status) continue
        statuses.set(id, status)
        if (before !== undefined && (isTerminal(before) || statusRank(status) < statusRank(before)))
          violations.push(`L2: a row went from ${before} to ${status}`)
      }
    },
    suppressionsSeen: (all, now) => {
      const same = (one: Suppression) => (other: Suppression) =>
        one.email === other.email && one.reason === other.reason
      for (const one of all) {
        if (inForce.some((known) => known.until === Infinity && same(one)(known))) continue
        inForce.push({ ...one, from: now, until: Infinity })
        if (one.reason !== "manual") everSuppressed.push(one)
      }
      for (const known of inForce) if (known.until === Infinity && !all.some(same(known))) known.until = now
    }
  }
}

/**
 * The database, every write of which the ledger sees, and what makes it look after something that people did. An erased
 * person stays blocked, whatever the list says.
 */
export const watched = (
  database: MailDatabase,
  ledger: Ledger
): { readonly database: MailDatabase; readonly look: Effect.Effect<void> } => {
  const erased: Array<Suppression> = []
  const look = Effect.map(Clock.currentTimeMillis, (now) => {
    ledger.statusesSeen(database.rows())
    ledger.suppressionsSeen([...database.suppressions(), ...erased], now)
  })
  const seen = <A, E>(write: Effect.Effect<A, E>) => Effect.tap(write, () => look)
  const seenDatabase: MailDatabase = {
    ...database,
    store: { ...database.store, record: (entry) => seen(database.store.record(entry)) },
    recordEvent: (entry) =>
      seen(
        Effect.tap(database.recordEvent(entry), (recorded) =>
          Effect.sync(() => ledger.eventRecorded(entry, recorded))
        )
      ),
    claimDueAlert: Effect.tap(database.claimDueAlert, (failed) =>
      Effect.sync(() => failed !== undefined && ledger.alertClaimed(failed.sendId))
    ),
    confirmAlert: (sendId) =>
      Effect.tap(database.confirmAlert(sendId), () => Effect.sync(() => ledger.alertConfirmed(sendId))),
    erase: (email) =>
      Effect.suspend(() => {
        erased.push(...database.suppressions().filter((one) => one.email === email))
        ledger.personErased(email, database.rows())
        return database.erase(email)
      })
  }
  return { database: seenDatabase, look }
}

/** Whether an event is in the log, or a later one of its mail. */
const isRecorded = (row: ReturnType<MailDatabase["rows"]>[number] | undefined, name: string): boolean => {
  const status = statusOfEvent(name)
  return (
    row !== undefined &&
    (status === undefined || isTerminal(row.status) || statusRank(row.status) >= statusRank(status))
  )
}

const rowsByMessage = (database: MailDatabase) =>
  new Map(database.rows().map((row) => [row.providerMessageId, row]))

/** Whether every event that a process acknowledged, and every one that the poll can see, is in the log (E1). */
export const missingEvents = (
  database: MailDatabase,
  mails: ReadonlyArray<VendorMail>
): ReadonlyArray<string> => {
  const rows = rowsByMessage(database)
  return mails.flatMap(({ events, messageId, provider }) => {
    const wanted = events.filter(({ acknowledged }) => acknowledged)
    const last = events.at(-1)
    const polled = provider === "provider_a" && last !== undefined ? [last] : []
    return [
      ...wanted.map((event) => [event, "was acknowledged"] as const),
      ...polled.map((event) => [event, "is in the list"] as const)
    ].flatMap(([{ name }, why]) =>
      isRecorded(rows.get(messageId), name)
        ? []
        : [`E1: ${name} of ${messageId} ${why}, and is not in the log`]
    )
  })
}

/** Whether the poll would find news now. */
export const hasNews = (database: MailDatabase, mails: ReadonlyArray<VendorMail>, now: number): boolean => {
  const rows = rowsByMessage(database)
  return mails.some(({ events, messageId, provider }) => {
    const last = provider === "provider_a" ? events.findLast(({ at }) => at <= now) : undefined
    return last !== undefined && !isRecorded(rows.get(messageId), last.name)
  })
}
