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
import { CampaignBook, type CampaignEvent, Unsubscribes } from "../../../ports/outreach/campaign-book.ts"

/** A row of `email_sends`; times in milliseconds since the epoch. */
export interface EmailSendRow {
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

/** A database of its own: the same decisions as the functions of `0037_callers_learn_the_end.sql`. */
export const makeCampaignDatabase = (
  deferralOf: (key: string) => KnownDeferral = (key) => ({ key, state: "new", ended: undefined })
): CampaignDatabase => {
  const sends = new Map<string, EmailSendRow>()
  const prospects = new Map<string, ProspectStatus>()
  const unsubscribed = new Map<string, "one_click" | "complaint" | "manual">()
  const booked = new Map<string, Map<string, Booked>>()
  let made = 0

  const nextId = () => `00000000-0000-4000-8000-${String(++made).padStart(12, "0")}`
  const find = (wanted: (row: EmailSendRow) => boolean) => [...sends.values()].find(wanted)
  const mark = (email: string, status: ProspectStatus) =>
    void prospects.set(email, furtherProspect(prospects.get(email) ?? "active", status))

  const put = (row: Partial<EmailSendRow> & { readonly id: string; readonly attemptedAt: number }) =>
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
  const refresh = (id: string) => {
    const row = sends.get(id)
    if (row?.providerMessageId === undefined) return
    const events = [...(booked.get(row.providerMessageId)?.values() ?? [])]
    const times = (wanted: CampaignEventName) =>
      events.flatMap(({ at, event }) => (event === wanted ? [at] : []))
    const first = (wanted: CampaignEventName) =>
      times(wanted).length === 0 ? undefined : least(times(wanted))
    put({
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
  const settle = (row: EmailSendRow): boolean => {
    if (row.status !== "deferred" || row.idempotencyKey === undefined) return false
    const { ended, state } = deferralOf(row.idempotencyKey)
    const end = state === "sent" ? state : state === "new" ? ended : undefined
    if (end === undefined) return false
    put({ ...row, status: end, errorKind: end === "failed" ? "ambiguous" : undefined })
    return true
  }

  const record = (event: CampaignEvent, now: number): boolean => {
    const { event: name, providerMessageId } = event
    if (!isCampaignEventName(name)) return false
    let row = find((one) => one.providerMessageId === providerMessageId)
    if (row === undefined && event.sendId !== undefined) {
      row = sends.get(event.sendId)
      if (row?.providerMessageId !== undefined) row = undefined
      if (row !== undefined) put({ ...row, providerMessageId })
    }
    const events = booked.get(providerMessageId) ?? new Map<string, Booked>()
    booked.set(providerMessageId, events)
    const identity = `${name}|${event.occurredAt ?? event.eventId ?? ""}`
    if (events.has(identity)) return false
    events.set(identity, { event: name, at: event.occurredAt ?? now })
    const id = row?.id ?? nextId()
    if (row === undefined) {
      const recipients = new Set(event.recipients)
      const email = recipients.size === 1 ? event.recipients[0] : undefined
      if (email !== undefined) mark(email, "active")
      put({ id, email, campaign: event.campaign, providerMessageId, attemptedAt: now })
    }
    refresh(id)
    for (const email of event.affected) {
      if (name === "bounced" || name === "complained") mark(email, name)
      if (name === "complained" && !unsubscribed.has(email)) unsubscribed.set(email, "complaint")
    }
    return true
  }

  const book = CampaignBook.of({
    record: (event) => Effect.map(Clock.currentTimeMillis, (now) => record(event, now)),
    begin: ({ campaign, email, idempotencyKey }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (unsubscribed.has(email)) return { _tag: "Unsubscribed" }
        mark(email, "active")
        if (isOffLimits(prospects.get(email) ?? "active")) return { _tag: "Unsubscribed" }
        const found = find((one) => one.idempotencyKey === idempotencyKey)
        if (found === undefined) {
          const id = nextId()
          put({ id, email, campaign, idempotencyKey, attemptedAt: now })
          return { _tag: "Begun", id, mailKey: idempotencyKey }
        }
        settle(found)
        const row = sends.get(found.id) ?? found
        const open = deferralOf(idempotencyKey)
        const wasLost = open.state === "new" && open.ended !== undefined
        const free =
          row.providerMessageId === undefined &&
          (row.status === "suppressed" ||
            (row.status === "failed" &&
              (wasLost || row.errorKind === "rejected" || row.errorKind === "unavailable")))
        const unknown =
          (row.status === "queued" || row.status === "failed") && row.attemptedAt > now - RELAY_MEMORY_MS
        if (free) put({ ...row, status: "queued", errorKind: undefined, attemptedAt: now })
        return free || unknown
          ? { _tag: "Begun", id: row.id, mailKey: open.key }
          : {
              _tag: "Settled",
              id: row.id,
              status: row.status,
              providerMessageId: row.providerMessageId ?? null
            }
      }),
    finish: ({ errorKind, id, outcome, providerMessageId }) =>
      Effect.sync(() => {
        const row = sends.get(id)
        if (row === undefined) return
        if (providerMessageId !== null) {
          const early = find(
            (one) =>
              one.providerMessageId === providerMessageId && one.id !== id && one.idempotencyKey === undefined
          )
          if (early !== undefined) sends.delete(early.id)
        }
        put({
          ...row,
          status: furtherSend(row.status, outcome),
          errorKind: errorKind ?? undefined,
          providerMessageId: row.providerMessageId ?? providerMessageId ?? undefined
        })
        refresh(id)
      }),
    settle: Effect.sync(() => [...sends.values()].filter(settle).length)
  })

  const key = Redacted.make(new Uint8Array(32).fill(7))
  return {
    book,
    unsubscribes: Unsubscribes.of({
      key: Effect.succeed(key),
      add: ({ email }) =>
        Effect.sync(() => {
          if (prospects.has(email)) mark(email, "unsubscribed")
          if (!unsubscribed.has(email)) unsubscribed.set(email, "one_click")
        })
    }),
    sends: () => [...sends.values()],
    prospects: () => Object.fromEntries(prospects),
    unsubscribed: () => Object.fromEntries(unsubscribed),
    resubscribe: (email) => {
      unsubscribed.delete(email)
      prospects.set(email, "active")
    }
  }
}
