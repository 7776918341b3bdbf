import { createHash } from "node:crypto"

import { Effect } from "effect"
import fc from "fast-check"

import type { EventEntry, LogRow } from "../../../../src/adapters/memory/mail/tables.ts"
import type { ClaimDecision, ClaimState } from "../../../../src/domain/mail/claim.ts"
import type { Provider } from "../../../../src/domain/mail/provider.ts"
import type { SendStatus } from "../../../../src/domain/mail/send-result.ts"
import type { RecordSend } from "../../../../src/ports/mail/mail-store.ts"
import { attempt, mail, resultOf } from "../../../contracts/mail/mail-store/mails.ts"
import { anyId } from "../../../support/any-id.ts"
import type { MailWorld } from "../../../support/worlds/mail-world.ts"

const LEASE_MS = 60_000
export const BASE = 1_700_000_000_000
export const EVENTS = [
  "sent",
  "delivery_delayed",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "complained",
  "failed",
  "suppressed",
  "bounce_transient",
  "scheduled",
  "deferred"
]

const uuid = (run: number, slot: number, serial: number) =>
  `10000000-${slot.toString(16).padStart(4, "0")}-4000-8000-${(run * 10_000 + serial).toString(16).padStart(12, "0")}`

/** Small worlds: few keys, messages and owners, so that steps meet each other. */
const keyAt = fc.constantFrom(0, 1)
const message = fc.constantFrom(0, 1, 2)
const provider = fc.constantFrom<Provider>("provider_a", "provider_b")
const slot = fc.constantFrom(0, 1, 2)
const recipients = fc.constantFrom([0], [0, 1], [] as Array<number>)

const eventStep = fc.record({
  _tag: fc.constant("event" as const),
  message,
  provider,
  event: fc.constantFrom(...EVENTS),
  minute: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
  key: fc.option(keyAt, { nil: undefined }),
  recipients: fc.option(recipients, { nil: undefined }),
  bounceType: fc.constantFrom("Permanent", "Transient", undefined),
  suppress: fc.option(recipients, { nil: undefined, freq: 5 }),
  alertable: fc.constantFrom(undefined, true, false),
  backfill: fc.constantFrom(undefined, undefined, true),
  listed: fc.constantFrom(undefined, undefined, true),
  part: fc.constantFrom(undefined, undefined, 1)
})
const recordStep = fc.record({
  _tag: fc.constant("record" as const),
  key: keyAt,
  slot,
  provider,
  outcome: fc.constantFrom<SendStatus>("sent", "deferred", "deferred", "suppressed", "failed"),
  message,
  again: fc.boolean(),
  others: fc.boolean(),
  owner: slot,
  state: fc.constantFrom<ClaimState>("accepted", "deferred", "refused", "ambiguous", "ended"),
  settles: fc.constantFrom("call", "retry", "nothing")
})
const beginStep = fc.record({
  _tag: fc.constant("begin" as const),
  key: keyAt,
  owner: slot,
  provider,
  payload: fc.constantFrom("p", "p", "p", "q"),
  /** What the calling process remembers, and since when. */
  known: fc.constantFrom(undefined, undefined, { hours: 1 }, { hours: 25 })
})
const retryStep = fc.record({ _tag: fc.constant("retry" as const), key: keyAt, slot, owner: slot, provider })
export const step = fc.oneof(
  { weight: 5, arbitrary: eventStep },
  { weight: 5, arbitrary: recordStep },
  { weight: 3, arbitrary: beginStep },
  { weight: 2, arbitrary: retryStep },
  fc.record({ _tag: fc.constant("move" as const), key: keyAt, owner: slot, provider }),
  fc.record({ _tag: fc.constant("evidence" as const), key: keyAt }),
  fc.record({ _tag: fc.constantFrom("release" as const, "confirm" as const), message, provider }),
  fc.record({ _tag: fc.constant("due" as const) }),
  fc.record({ _tag: fc.constant("open" as const), key: keyAt }),
  fc.record({ _tag: fc.constantFrom("suppress" as const, "erase" as const), to: keyAt }),
  fc.record({ _tag: fc.constant("unsuppress" as const), to: keyAt }),
  fc.record({
    _tag: fc.constant("advance" as const),
    ms: fc.constantFrom(1_000, LEASE_MS, 24 * 3_600_000)
  })
)
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type EventStep = Extract<Step, { readonly _tag: "event" }>

/** Names of one run: runs share a database. */
export const names = (run: number) => ({
  key: (index: number) => anyId(`run-${run}-key-${index}`),
  hash: (index: number) => anyId(createHash("sha256").update(`run-${run}-key-${index}`).digest("hex")),
  tag: (index: number) => anyId(createHash("sha256").update(`tag of run-${run}-key-${index}`).digest("hex")),
  message: (index: number) => `run-${run}-message-${index}`,
  address: (index: number) => `run-${run}-to-${index}@x.test`,
  id: (key: number, index: number) => uuid(run, key, index),
  owner: (index: number) => uuid(run, 100, index)
})
export type Names = ReturnType<typeof names>

const toEvent = (name: Names, one: EventStep): EventEntry => ({
  provider: one.provider,
  providerMessageId: name.message(one.message),
  event: one.event,
  occurredAt: one.minute === undefined ? undefined : BASE + one.minute * 60_000,
  recipients: one.recipients?.map(name.address),
  reason: `reason of ${one.event}`,
  raw: { event: one.event, minute: one.minute ?? null, part: one.part ?? null },
  keyTag: one.key === undefined ? undefined : name.tag(one.key),
  bounceType: one.bounceType,
  suppress: one.suppress?.map(name.address),
  alertable: one.alertable,
  category: "notification",
  backfill: one.backfill,
  listed: one.listed
})

export const toRecord = (name: Names, one: Extract<Step, { readonly _tag: "record" }>): RecordSend => {
  const details = mail({
    to: [name.address(0)],
    others: one.others ? [name.address(1)] : [],
    dropped: one.others ? [] : [name.address(2)],
    idempotencyKey: name.key(one.key),
    keyHash: name.hash(one.key),
    keyTag: name.tag(one.key)
  })
  const owner = name.owner(one.owner)
  return attempt(details, one.outcome, {
    // An attempt that is made again, since nobody heard how it ended, asks for its row with another end or another message.
    rowId: anyId(
      one.again
        ? name.id(one.key * 10 + 4, one.slot)
        : name.id(
            one.key * 10 + ["sent", "deferred", "suppressed", "failed"].indexOf(one.outcome),
            one.slot +
              (one.outcome === "sent" ? 10 * (one.message + (one.provider === "provider_a" ? 1 : 4)) : 0)
          )
    ),
    provider: one.provider,
    providerMessageId: one.outcome === "sent" ? name.message(one.message) : null,
    costUsd: one.outcome === "sent" || one.outcome === "deferred" ? 0.0004 : null,
    settle:
      one.settles === "nothing"
        ? undefined
        : one.settles === "retry"
          ? {
              owner,
              state: one.state,
              ambiguous: true,
              result: one.state === "deferred" ? undefined : resultOf(one.outcome, name.key(one.key)),
              isRetry: true
            }
          : {
              owner,
              state: one.state,
              ambiguous: one.state === "ambiguous" || one.state === "deferred",
              result: resultOf(one.outcome, name.key(one.key))
            }
  })
}

/** Ids that the stores chose for themselves, and times of observation, are not compared. */
const EVENT_ROW = "a row that an event made"
const canonicalId = (id: string) => (id.startsWith("10000000-") ? id : EVENT_ROW)

const canonicalDecision = (decision: ClaimDecision, first: string) => {
  switch (decision._tag) {
    case "Claimed":
      return {
        ...decision,
        ...(decision.after !== undefined && { after: anyId(canonicalId(decision.after)) }),
        firstAttemptAt: "some time",
        lastAttemptAt: "some time",
        tag: decision.tag === undefined ? "none" : decision.tag === first ? "first" : "later"
      }
    case "Replay":
      return {
        ...decision,
        firstAttemptAt: "some time",
        lastAttemptAt: "some time",
        result: { ...decision.result, sendId: canonicalId(decision.result.sendId) }
      }
    default:
      return decision
  }
}

const canonicalAlert = (due: object | undefined) =>
  due && {
    ...Object.fromEntries(Object.entries(due).filter(([, value]) => value !== null && value !== undefined)),
    sendId: "sendId" in due ? canonicalId(String(due.sendId)) : ""
  }

/** PostgreSQL keeps the hash of the address of an erased person, the model the address. */
const canonicalAddress =
  (name: Names) =>
  (text: string): string =>
    [0, 1, 2].reduce((known, index) => {
      const address = name.address(index)
      return known.replace(createHash("sha256").update(address).digest("hex"), address)
    }, text)

const canonicalTime = (at: number | null) => (at === null || at <= BASE + 3_600_000 ? at : "when observed")

export const canonicalRows = (rows: ReadonlyArray<LogRow>, name: Names) =>
  rows
    .filter(
      ({ idempotencyKey, providerMessageId }) =>
        idempotencyKey === name.key(0) ||
        idempotencyKey === name.key(1) ||
        [0, 1, 2].some((index) => providerMessageId === name.message(index))
    )
    .map(({ accounts, alertedAt, events, id, lastEventAt, ...row }) => ({
      ...row,
      to: row.to.map(canonicalAddress(name)),
      others: row.others.map(canonicalAddress(name)),
      dropped: row.dropped.map(canonicalAddress(name)),
      createdAt: "some time",
      id: canonicalId(id),
      suppressionMarks: row.suppressionMarks.map(canonicalAddress(name)).sort(),
      alerted: alertedAt !== null,
      lastEventAt: canonicalTime(lastEventAt),
      events: events.map(({ at, ...event }) => ({ ...event, at: canonicalTime(at) })),
      accounts:
        accounts === null
          ? null
          : [accounts.received, accounts.listed].map((one) => one && { ...one, at: canonicalTime(one.at) })
    }))
    .sort((a, b) =>
      [a.id, a.provider, a.providerMessageId].join() < [b.id, b.provider, b.providerMessageId].join() ? -1 : 1
    )

export const canonicalSuppressions = (all: Effect.Success<MailWorld["suppressions"]>, name: Names) =>
  all
    .filter(({ email }) => email === name.address(0) || email === name.address(1))
    .map(({ email, reason }) => `${reason}:${email}`)
    .sort()

export const perform = (world: MailWorld, name: Names, one: Step): Effect.Effect<unknown> => {
  switch (one._tag) {
    case "event":
      return Effect.map(world.recordEvent(toEvent(name, one)), (recorded) => ({
        ...recorded,
        sendId: canonicalId(recorded.sendId)
      }))
    case "record":
      return Effect.map(Effect.orDie(world.store.record(toRecord(name, one))), (recorded) => ({
        ...recorded,
        sendId: canonicalId(recorded.sendId)
      }))
    case "begin":
      return world.store
        .begin({
          keyHash: name.hash(one.key),
          addresses: [name.address(0), name.address(1)],
          claim: {
            payloadHash: one.payload,
            provider: one.provider,
            owner: name.owner(one.owner),
            leaseMs: LEASE_MS,
            tag: name.tag(one.key),
            known: one.known && {
              provider: "provider_b",
              tag: name.tag(one.key),
              ageMs: one.known.hours * 3_600_000,
              lastAgeMs: one.known.hours * 3_600_000,
              isSettled: false
            }
          }
        })
        .pipe(
          Effect.orDie,
          Effect.map(({ decision, evidence, leaving, suppressions }) => ({
            evidence,
            leaving,
            suppressions: suppressions.map(({ email, reason }) => email + reason).sort(),
            decision: canonicalDecision(decision, name.tag(one.key))
          }))
        )
    case "retry":
      return world.store
        .beginRetry({
          keyHash: name.hash(one.key),
          tag: name.tag(one.key),
          firstAttemptAt: undefined,
          ageMs: 0,
          provider: one.provider,
          rowId: anyId(name.id(one.key * 10 + one.slot, one.slot)),
          addresses: [],
          owner: name.owner(one.owner),
          leaseMs: LEASE_MS
        })
        .pipe(
          Effect.orDie,
          Effect.map((began) =>
            began._tag === "Settled"
              ? {
                  ...began,
                  at: "now",
                  firstAttemptAt: Math.round((began.at - began.firstAttemptAt) / 60_000),
                  lastAttemptAt: Math.round((began.at - began.lastAttemptAt) / 60_000)
                }
              : began._tag === "Go"
                ? {
                    ...began,
                    at: "now",
                    firstAttemptAt: Math.round((began.at - began.firstAttemptAt) / 60_000)
                  }
                : began
          )
        )
    case "move":
      return Effect.orDie(
        world.store.moveClaim({
          keyHash: name.hash(one.key),
          owner: name.owner(one.owner),
          provider: one.provider
        })
      )
    case "evidence":
      return Effect.orDie(
        world.store.findEvidence({ keyHash: name.hash(one.key), tag: name.tag(one.key), ageMs: 0 })
      )
    case "release":
    case "confirm":
      return Effect.flatMap(world.rows, (rows) => {
        const row = rows.find(
          (known) => known.provider === one.provider && known.providerMessageId === name.message(one.message)
        )
        if (row === undefined) return Effect.succeed(false)
        return one._tag === "release" ? world.releaseAlert(row.id) : world.confirmAlert(row.id)
      })
    case "due":
      return Effect.map(world.claimDueAlert, canonicalAlert)
    case "open":
      return world.openKey(name.key(one.key))
    case "suppress":
      return Effect.asVoid(world.suppress({ email: name.address(one.to), reason: "manual" }))
    case "erase":
      return Effect.asVoid(world.erase(name.address(one.to)))
    case "unsuppress":
      return Effect.asVoid(world.unsuppress(name.address(one.to)))
    case "advance":
      return Effect.asVoid(world.advance(one.ms))
  }
}
