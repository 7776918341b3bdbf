import { Clock, Effect, Redacted } from "effect"

import { least } from "../../../domain/lists.ts"
import {
  CAMPAIGN_EVENTS,
  type CampaignEventName,
  type CampaignSendStatus,
  furtherProspect,
  furtherSend,
  isOffLimits,
  type ProspectStatus
} from "../../../domain/outreach/campaign-status.ts"
import { RELAY_MEMORY_MS } from "../../../ports/delivery/audit-digest-store.ts"
import type { OpenKey } from "../../../ports/mail/deferrals.ts"
import type { MailPreferences } from "../../../ports/mail/preferences.ts"
import {
  CampaignBook,
  type CampaignEvent,
  type OutreachBegin,
  type OutreachEnd,
  type OutreachEntry,
  Unsubscribes
} from "../../../ports/outreach/campaign-book.ts"
import { makePreferences } from "../mail/preferences.ts"

/** A row of `email_sends`; times in milliseconds since the epoch. */
interface EmailSendRow {
  readonly id: string
  readonly email: string | undefined
  readonly campaign: string | undefined
  readonly idempotencyKey: string | undefined
  readonly providerMessageId: string | undefined
  readonly status: CampaignSendStatus
  readonly errorKind: string | undefined
  readonly attemptedAt: number
  readonly openCount: number
  readonly clickCount: number
  readonly openedAt: number | undefined
  readonly clickedAt: number | undefined
  readonly bouncedAt: number | undefined
  readonly complainedAt: number | undefined
}

/** An event that counts, and when it occurred. */
interface Booked {
  readonly event: CampaignEventName
  readonly at: number
}

/** Campaigns in memory: both ports, and the tables for tests. */
export interface CampaignDatabase {
  readonly book: CampaignBook["Service"]
  readonly unsubscribes: Unsubscribes["Service"]
  readonly preferences: MailPreferences["Service"]
  readonly sends: () => ReadonlyArray<EmailSendRow>
  readonly prospects: () => Readonly<Record<string, ProspectStatus>>
  readonly unsubscribed: () => Readonly<Record<string, "one_click" | "complaint" | "manual">>
  /** What an operator does by hand. */
  readonly resubscribe: (email: string) => void
}

const isCampaignEventName = (event: string): event is CampaignEventName =>
  CAMPAIGN_EVENTS.some((known) => known === event)

/** What the send log knows of a key's deferrals (`email_open_key`); `ended`: how the one before the open key ended. */
export type KnownDeferral = OpenKey & { readonly ended: "failed" | "suppressed" | undefined }

/** The tables of outreach, with what the send log knows of deferrals. */
interface CampaignTables {
  readonly sends: Map<string, EmailSendRow>
  readonly prospects: Map<string, ProspectStatus>
  readonly unsubscribed: Map<string, "one_click" | "complaint" | "manual">
  /** The events of each message, by what distinguishes them. */
  readonly booked: Map<string, Map<string, Booked>>
  readonly deferralOf: (key: string) => KnownDeferral
  readonly newId: () => string
}

const findSend = (
  { sends }: CampaignTables,
  matches: (row: EmailSendRow) => boolean
): EmailSendRow | undefined => [...sends.values()].find(matches)

const markProspect = ({ prospects }: CampaignTables, email: string, status: ProspectStatus): void =>
  void prospects.set(email, furtherProspect(prospects.get(email) ?? "active", status))

const putSend = (
  { sends }: CampaignTables,
  row: Partial<EmailSendRow> & { readonly id: string; readonly attemptedAt: number }
): void =>
  void sends.set(row.id, {
    email: undefined,
    campaign: undefined,
    idempotencyKey: undefined,
    providerMessageId: undefined,
    status: "queued",
    errorKind: undefined,
    openCount: 0,
    clickCount: 0,
    openedAt: undefined,
    clickedAt: undefined,
    bouncedAt: undefined,
    complainedAt: undefined,
    ...sends.get(row.id),
    ...row
  })

/** Applies the events of a send's message on top of what the library recorded. */
const refresh = (tables: CampaignTables, id: string): void => {
  const row = tables.sends.get(id)
  if (row?.providerMessageId === undefined) return
  const events = [...(tables.booked.get(row.providerMessageId)?.values() ?? [])]
  const times = (wanted: CampaignEventName) =>
    events.flatMap(({ at, event }) => (event === wanted ? [at] : []))
  const first = (wanted: CampaignEventName) => (times(wanted).length === 0 ? undefined : least(times(wanted)))
  putSend(tables, {
    ...row,
    status: events.reduce((status, { event }) => furtherSend(status, event), row.status),
    openCount: times("opened").length,
    clickCount: times("clicked").length,
    openedAt: first("opened"),
    clickedAt: first("clicked"),
    bouncedAt: first("bounced"),
    complainedAt: first("complained")
  })
}

/** Moves a deferred send to its end in the log; returns whether it did. */
const settle = (tables: CampaignTables, row: EmailSendRow): boolean => {
  if (row.status !== "deferred" || row.idempotencyKey === undefined) return false
  const { ended, state } = tables.deferralOf(row.idempotencyKey)
  const end = state === "sent" ? state : state === "new" ? ended : undefined
  if (end === undefined) return false
  putSend(tables, { ...row, status: end, errorKind: end === "failed" ? "ambiguous" : undefined })
  return true
}

/** The row of an event: its message's, else the send that its tag names and that has no message yet, else a new one. */
const sendOfEvent = (tables: CampaignTables, event: CampaignEvent, now: number): string => {
  const { providerMessageId } = event
  const known = findSend(tables, (row) => row.providerMessageId === providerMessageId)
  if (known !== undefined) return known.id
  const tagged = event.sendId === undefined ? undefined : tables.sends.get(event.sendId)
  if (tagged !== undefined && tagged.providerMessageId === undefined) {
    putSend(tables, { ...tagged, providerMessageId })
    return tagged.id
  }
  const id = tables.newId()
  const email = new Set(event.recipients).size === 1 ? event.recipients[0] : undefined
  if (email !== undefined) markProspect(tables, email, "active")
  putSend(tables, { id, email, campaign: event.campaign, providerMessageId, attemptedAt: now })
  return id
}

/** Records an event; false where it was recorded before, or counts for nothing. */
const recordEvent = (tables: CampaignTables, event: CampaignEvent, now: number): boolean => {
  const { event: name, providerMessageId } = event
  if (!isCampaignEventName(name)) return false
  const events = tables.booked.get(providerMessageId) ?? new Map<string, Booked>()
  tables.booked.set(providerMessageId, events)
  const identity = `${name}|${event.occurredAt ?? event.eventId ?? ""}`
  if (events.has(identity)) return false
  events.set(identity, { event: name, at: event.occurredAt ?? now })
  refresh(tables, sendOfEvent(tables, event, now))
  for (const email of event.affected) {
    if (name === "bounced" || name === "complained") markProspect(tables, email, name)
    if (name === "complained" && !tables.unsubscribed.has(email)) tables.unsubscribed.set(email, "complaint")
  }
  return true
}

/** Begins a send, or says why it must not go out (EVENT-70). */
const begin = (
  tables: CampaignTables,
  { campaign, email, idempotencyKey }: OutreachEntry,
  now: number
): OutreachBegin => {
  if (tables.unsubscribed.has(email)) return { _tag: "Unsubscribed" }
  markProspect(tables, email, "active")
  if (isOffLimits(tables.prospects.get(email) ?? "active")) return { _tag: "Unsubscribed" }
  const found = findSend(tables, (row) => row.idempotencyKey === idempotencyKey)
  if (found === undefined) {
    const id = tables.newId()
    putSend(tables, { id, email, campaign, idempotencyKey, attemptedAt: now })
    return { _tag: "Begun", id, mailKey: idempotencyKey }
  }
  settle(tables, found)
  const row = tables.sends.get(found.id) ?? found
  const open = tables.deferralOf(idempotencyKey)
  const wasLost = open.state === "new" && open.ended !== undefined
  const isFree =
    row.providerMessageId === undefined &&
    (wasLost ||
      row.status === "suppressed" ||
      (row.status === "failed" && (row.errorKind === "rejected" || row.errorKind === "unavailable")))
  const isUnknown =
    (row.status === "queued" || row.status === "failed") && row.attemptedAt > now - RELAY_MEMORY_MS
  if (isFree) putSend(tables, { ...row, status: "queued", errorKind: undefined, attemptedAt: now })
  return isFree || isUnknown
    ? { _tag: "Begun", id: row.id, mailKey: open.key }
    : { _tag: "Settled", id: row.id, status: row.status, providerMessageId: row.providerMessageId ?? null }
}

/** Records how a send ended; a row that early events of its message made becomes part of it. */
const finish = (tables: CampaignTables, { errorKind, id, outcome, providerMessageId }: OutreachEnd): void => {
  const row = tables.sends.get(id)
  if (row === undefined) return
  const early =
    providerMessageId === null
      ? undefined
      : findSend(
          tables,
          (one) =>
            one.providerMessageId === providerMessageId && one.id !== id && one.idempotencyKey === undefined
        )
  if (early !== undefined) tables.sends.delete(early.id)
  putSend(tables, {
    ...row,
    status: furtherSend(row.status, outcome),
    errorKind: errorKind ?? undefined,
    providerMessageId: row.providerMessageId ?? providerMessageId ?? undefined
  })
  refresh(tables, id)
}

const unsubscribe = (tables: CampaignTables, email: string): void => {
  if (tables.prospects.has(email)) markProspect(tables, email, "unsubscribed")
  if (!tables.unsubscribed.has(email)) tables.unsubscribed.set(email, "one_click")
}

/** A separate database: the same decisions as the functions of outreach in SQL. */
export const makeCampaignDatabase = (
  deferralOf: (key: string) => KnownDeferral = (key) => ({ key, state: "new", ended: undefined })
): CampaignDatabase => {
  let made = 0
  const tables: CampaignTables = {
    sends: new Map(),
    prospects: new Map(),
    unsubscribed: new Map(),
    booked: new Map(),
    deferralOf,
    newId: () => `00000000-0000-4000-8000-${String(++made).padStart(12, "0")}`
  }
  const key = Redacted.make(new Uint8Array(32).fill(7))
  const resubscribe = (email: string) => {
    tables.unsubscribed.delete(email)
    if (tables.prospects.has(email)) tables.prospects.set(email, "active")
  }
  return {
    preferences: makePreferences({
      has: (email) => tables.unsubscribed.has(email),
      add: (email) => void tables.unsubscribed.set(email, "manual"),
      lift: resubscribe,
      emails: () => [...tables.unsubscribed.keys()]
    }),
    book: CampaignBook.of({
      record: (event) => Effect.map(Clock.currentTimeMillis, (now) => recordEvent(tables, event, now)),
      begin: (entry) => Effect.map(Clock.currentTimeMillis, (now) => begin(tables, entry, now)),
      finish: (entry) => Effect.sync(() => finish(tables, entry)),
      settle: Effect.sync(() => [...tables.sends.values()].filter((row) => settle(tables, row)).length)
    }),
    unsubscribes: Unsubscribes.of({
      key: Effect.succeed(key),
      add: ({ email }) => Effect.sync(() => unsubscribe(tables, email))
    }),
    sends: () => [...tables.sends.values()],
    prospects: () => Object.fromEntries(tables.prospects),
    unsubscribed: () => Object.fromEntries(tables.unsubscribed),
    resubscribe
  }
}
