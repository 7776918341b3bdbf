import { Clock, Effect } from "effect"

import type { MailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import type { EventEntry } from "../../../src/adapters/memory/mail/tables.ts"
import { type AlarmChange, alarmText } from "../../../src/domain/delivery/alarm-rules.ts"
import {
  isProviderFailure,
  isTerminal,
  statusRank,
  type EmailStatus
} from "../../../src/domain/mail/status.ts"
import {
  blocks,
  Category,
  type Suppression,
  type SuppressionReason
} from "../../../src/domain/mail/suppression-policy.ts"
import type { Attempt } from "../mail/provider-model.ts"

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
  readonly eventRecorded: (entry: EventEntry, sendId: string, backfilled: boolean) => void
  readonly statusesSeen: (rows: ReturnType<MailDatabase["rows"]>) => void
  readonly suppressionsSeen: (all: ReadonlyArray<Suppression>, now: number) => void
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
      if (moved && notice !== undefined)
        dueNotices.push({
          keyPrefix: `api:email-alarm/${name}/${to.episode}/${notice}/`,
          text: alarmText(name, notice, detail).text
        })
    },
    eventRecorded: (entry, sendId, backfilled) => {
      if (backfilled) backfilledSends.add(sendId)
      if (isProviderFailure(entry.event) && entry.alertable !== false && !backfilledSends.has(sendId))
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
        Effect.tap(database.recordEvent(entry), ({ backfilled, sendId }) =>
          Effect.sync(() => ledger.eventRecorded(entry, sendId, backfilled))
        )
      ),
    erase: (email) => {
      erased.push(...database.suppressions().filter((one) => one.email === email))
      database.erase(email)
    }
  }
  return { database: seenDatabase, look }
}
