import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Result, Scope } from "effect"
import fc from "fast-check"
import { afterAll, beforeAll } from "vitest"

import type { EventEntry, LogRow } from "../../../../src/adapters/memory/mail/tables.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import type { ClaimDecision, ClaimState } from "../../../../src/domain/mail/claim.ts"
import type { Provider } from "../../../../src/domain/mail/failover.ts"
import type { SendStatus } from "../../../../src/domain/mail/send-result.ts"
import { isProviderFailure, statusRank } from "../../../../src/domain/mail/status.ts"
import type { RecordSend } from "../../../../src/ports/mail/mail-store.ts"
import { attempt, mail, resultOf } from "../../../contracts/mail-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { makeMemoryWorld, makePostgresWorld, type MailWorld } from "../../../support/mail-world.ts"
import { layerPostgres } from "../../../support/postgres.ts"

const LEASE_MS = 60_000
const BASE = 1_700_000_000_000
const EVENTS = [
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

const scope = Scope.makeUnsafe()
let postgres: MailWorld
let sql: WriteSql["Service"]
beforeAll(async () => {
  const build = Effect.gen(function* () {
    const context = yield* Layer.build(layer.pipe(Layer.provideMerge(layerPostgres)))
    return yield* Effect.all([makePostgresWorld, WriteSql]).pipe(Effect.provide(context))
  })
  ;[postgres, sql] = await Effect.runPromise(Scope.provide(build, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

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
  listed: fc.constantFrom(undefined, undefined, true)
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
  state: fc.constantFrom<ClaimState>("accepted", "deferred", "refused", "ambiguous"),
  settles: fc.constantFrom("call", "retry", "nothing")
})
const beginStep = fc.record({
  _tag: fc.constant("begin" as const),
  key: keyAt,
  owner: slot,
  provider,
  payload: fc.constantFrom("p", "p", "p", "q")
})
const retryStep = fc.record({ _tag: fc.constant("retry" as const), key: keyAt, slot, owner: slot, provider })
const step = fc.oneof(
  { weight: 5, arbitrary: eventStep },
  { weight: 5, arbitrary: recordStep },
  { weight: 3, arbitrary: beginStep },
  { weight: 2, arbitrary: retryStep },
  fc.record({ _tag: fc.constant("move" as const), key: keyAt, owner: slot, provider }),
  fc.record({ _tag: fc.constant("evidence" as const), key: keyAt, provider }),
  fc.record({ _tag: fc.constant("release" as const), message, provider }),
  fc.record({ _tag: fc.constant("unsuppress" as const), to: keyAt }),
  fc.record({
    _tag: fc.constant("advance" as const),
    ms: fc.constantFrom(1_000, LEASE_MS, 24 * 3_600_000)
  })
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type EventStep = Extract<Step, { readonly _tag: "event" }>

/** Names of one run: runs share a database. */
const names = (run: number) => ({
  key: (index: number) => anyId(`run-${run}-key-${index}`),
  hash: (index: number) => anyId(`run-${run}-hash-${index}`),
  message: (index: number) => `run-${run}-message-${index}`,
  address: (index: number) => `run-${run}-to-${index}@x.test`,
  id: (key: number, index: number) => uuid(run, key, index),
  owner: (index: number) => uuid(run, 100, index)
})
type Names = ReturnType<typeof names>

const toEvent = (name: Names, one: EventStep): EventEntry => ({
  provider: one.provider,
  providerMessageId: name.message(one.message),
  event: one.event,
  occurredAt: one.minute === undefined ? undefined : BASE + one.minute * 60_000,
  recipients: one.recipients?.map(name.address),
  reason: `reason of ${one.event}`,
  raw: { event: one.event, minute: one.minute ?? null },
  keyHash: one.key === undefined ? undefined : name.hash(one.key),
  bounceType: one.bounceType,
  suppress: one.suppress?.map(name.address),
  alertable: one.alertable,
  category: "notification",
  backfill: one.backfill,
  listed: one.listed
})

const toRecord = (name: Names, one: Extract<Step, { readonly _tag: "record" }>): RecordSend => {
  const details = mail({
    to: [name.address(0)],
    others: one.others ? [name.address(1)] : [],
    dropped: one.others ? [] : [name.address(2)],
    idempotencyKey: name.key(one.key),
    keyHash: name.hash(one.key)
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
          ? { owner, state: "deferred", ambiguous: true, result: undefined }
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

const canonicalDecision = (decision: ClaimDecision) => {
  switch (decision._tag) {
    case "Claimed":
      return { ...decision, firstAttemptAt: "some time" }
    case "Replay":
      return { ...decision, result: { ...decision.result, sendId: canonicalId(decision.result.sendId) } }
    default:
      return decision
  }
}

const canonicalTime = (at: number | null) => (at === null || at <= BASE + 3_600_000 ? at : "when observed")

const canonicalRows = (rows: ReadonlyArray<LogRow>, name: Names) =>
  rows
    .filter(
      ({ idempotencyKey, providerMessageId }) =>
        idempotencyKey === name.key(0) ||
        idempotencyKey === name.key(1) ||
        [0, 1, 2].some((index) => providerMessageId === name.message(index))
    )
    .map(({ accounts, alertedAt, id, lastEventAt, ...row }) => ({
      ...row,
      createdAt: "some time",
      id: canonicalId(id),
      suppressionMarks: [...row.suppressionMarks].sort(),
      alerted: alertedAt !== null,
      lastEventAt: canonicalTime(lastEventAt),
      accounts:
        accounts === null
          ? null
          : [accounts.received, accounts.listed].map((one) => one && { ...one, at: canonicalTime(one.at) })
    }))
    .sort((a, b) =>
      [a.id, a.provider, a.providerMessageId].join() < [b.id, b.provider, b.providerMessageId].join() ? -1 : 1
    )

const canonicalSuppressions = (all: Effect.Success<MailWorld["suppressions"]>, name: Names) =>
  all
    .filter(({ email }) => email === name.address(0) || email === name.address(1))
    .map(({ email, reason }) => `${reason}:${email}`)
    .sort()

const perform = (world: MailWorld, name: Names, one: Step): Effect.Effect<unknown> => {
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
            leaseMs: LEASE_MS
          }
        })
        .pipe(
          Effect.orDie,
          Effect.map(({ decision, evidence, suppressions }) => ({
            evidence,
            suppressions: suppressions.map(({ email, reason }) => email + reason).sort(),
            decision: canonicalDecision(decision)
          }))
        )
    case "retry":
      return world.store
        .beginRetry({
          keyHash: name.hash(one.key),
          provider: one.provider,
          rowId: anyId(name.id(one.key * 10 + one.slot, one.slot)),
          addresses: [],
          owner: name.owner(one.owner),
          leaseMs: LEASE_MS
        })
        .pipe(Effect.orDie)
    case "move":
      return Effect.orDie(
        world.store.moveClaim({
          keyHash: name.hash(one.key),
          owner: name.owner(one.owner),
          provider: one.provider
        })
      )
    case "evidence":
      return Effect.orDie(world.store.findEvidence({ keyHash: name.hash(one.key), provider: one.provider }))
    case "release":
      return Effect.flatMap(world.rows, (rows) => {
        const row = rows.find(
          (known) => known.provider === one.provider && known.providerMessageId === name.message(one.message)
        )
        return row === undefined ? Effect.succeed(false) : world.releaseAlert(row.id)
      })
    case "unsuppress":
      return Effect.asVoid(world.unsuppress(name.address(one.to)))
    case "advance":
      return Effect.asVoid(world.advance(one.ms))
  }
}

let runs = 0

describe("the in-memory model and the SQL functions", () => {
  it("agree on every sequence of sends, events, claims and retries", { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const name = names((runs += 1))
            const memory = yield* makeMemoryWorld
            // What earlier runs left has no part in this one, and the clock of all rows moves with each run.
            yield* Effect.orDie(sql`truncate email_log, email_suppressions, email_send_claims`)
            for (const one of steps) {
              const before = yield* memory.rows
              const [expected, actual] = [
                yield* Effect.result(perform(memory, name, one)),
                yield* Effect.result(perform(postgres, name, one))
              ]
              assert.deepStrictEqual(Result.getOrThrow(actual), Result.getOrThrow(expected))
              const rows = yield* memory.rows
              assert.deepStrictEqual(canonicalRows(yield* postgres.rows, name), canonicalRows(rows, name))
              assert.deepStrictEqual(
                canonicalSuppressions(yield* postgres.suppressions, name),
                canonicalSuppressions(yield* memory.suppressions, name)
              )
              forwardOnly(before, rows)
            }
          })
        )
      ),
      { numRuns: 150 }
    )
  )
})

/** L2: rank never goes down, a terminal status never changes. */
const forwardOnly = (before: ReadonlyArray<LogRow>, after: ReadonlyArray<LogRow>) => {
  for (const { id, status } of before) {
    const row = after.find((one) => one.id === id)
    assert.isDefined(row)
    assert.isTrue(row.status === status || statusRank(row.status) > statusRank(status))
  }
}

describe("a set of events", () => {
  const timed = fc.record({
    event: fc.constantFrom(...EVENTS),
    minute: fc.integer({ min: 0, max: 9 }),
    bounceType: fc.constantFrom("Permanent", "Transient"),
    alertable: fc.constantFrom(true, true, false),
    listed: fc.constantFrom(false, false, true)
  })

  it(
    "ends the same in any order, however often each comes (L3), before or after its row (L1, P1)",
    { timeout: 120_000 },
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(timed, {
            maxLength: 7,
            comparator: (a, b) => a.event === b.event && a.minute === b.minute && a.listed === b.listed
          }),
          fc.boolean(),
          fc.boolean(),
          fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
          (set, twice, others, chance) =>
            Effect.runPromise(
              Effect.gen(function* () {
                const ends = []
                const shuffled = <A>(items: ReadonlyArray<A>) =>
                  items
                    .map((item) => ({ item, at: chance.next().value as number }))
                    .sort((a, b) => a.at - b.at)
                    .map(({ item }) => item)
                for (const order of [0, 1, 2]) {
                  const run = (runs += 1)
                  const name = names(run)
                  const record = postgres.store.record(
                    toRecord(name, {
                      _tag: "record",
                      key: 0,
                      slot: 0,
                      provider: "provider_a",
                      outcome: "sent",
                      message: 0,
                      again: false,
                      others,
                      owner: 0,
                      state: "accepted",
                      settles: "nothing"
                    })
                  )
                  const entries = set.map(({ alertable, bounceType, event, listed, minute }): EventEntry => ({
                    provider: "provider_a",
                    providerMessageId: name.message(0),
                    event,
                    alertable,
                    listed,
                    occurredAt: BASE + minute * 60_000,
                    raw: { event, minute, listed },
                    // A webhook names the key and the To recipients, the list all recipients and no reason.
                    ...(listed
                      ? { recipients: others ? [name.address(0), name.address(1)] : [name.address(0)] }
                      : {
                          bounceType,
                          keyHash: name.hash(0),
                          reason: `reason of ${event}`,
                          recipients: [name.address(0)]
                        })
                  }))
                  const observed = twice ? [...entries, ...entries] : entries
                  const all = [undefined, ...observed]
                  let alerts = 0
                  for (const entry of order === 0 ? all : shuffled(all)) {
                    if (entry === undefined) yield* Effect.orDie(record)
                    else alerts += (yield* postgres.recordEvent(entry)).alert ? 1 : 0
                  }
                  const row = (yield* postgres.rows).find(
                    ({ providerMessageId }) => providerMessageId === name.message(0)
                  )
                  assert.isDefined(row)
                  const terminal = new Set(
                    set.filter(({ event }) => isProviderFailure(event)).map(({ event }) => event)
                  )
                  ends.push({
                    alerts,
                    suppressions: canonicalSuppressions(yield* postgres.suppressions, name).map((mark) =>
                      mark.slice(0, mark.indexOf(":"))
                    ),
                    status: terminal.size > 1 ? "terminal" : row.status,
                    lastEvent: row.lastEvent,
                    lastEventAt: row.lastEventAt,
                    raw: row.raw,
                    error: terminal.size > 1 ? "of the first" : row.error,
                    category: row.category,
                    outcome: row.outcome
                  })
                }
                assert.deepStrictEqual(ends[1], ends[0])
                assert.deepStrictEqual(ends[2], ends[0])
              })
            )
        ),
        { numRuns: 60 }
      )
  )
})

describe("races", () => {
  it.live(
    "of an early event with the deferral of its key end in one row, in every interleaving (D1, L1)",
    () =>
      Effect.gen(function* () {
        for (let round = 0; round < 60; round += 1) {
          const name = names((runs += 1))
          const details = mail({ idempotencyKey: name.key(0), keyHash: name.hash(0) })
          const deferred = postgres.store.record(attempt(details, "deferred"))
          const delivered = postgres.recordEvent({
            provider: "provider_a",
            providerMessageId: name.message(0),
            event: "delivered",
            keyHash: name.hash(0)
          })
          const both = [deferred, delivered] as ReadonlyArray<Effect.Effect<unknown, unknown>>
          yield* Effect.all(round % 2 === 0 ? both : both.toReversed(), { concurrency: "unbounded" })
          const rows = (yield* postgres.rows).filter(({ keyHash }) => keyHash === name.hash(0))
          assert.lengthOf(rows, 1)
          assert.deepInclude(rows[0], { status: "delivered", outcome: "deferred", category: "transactional" })
        }
      })
  )

  it.live("of overlapping batches of sends, deferrals and events neither deadlock nor lose a row", () =>
    Effect.gen(function* () {
      yield* Effect.orDie(sql`create table if not exists deadlocks_before as
        select deadlocks from pg_stat_database where datname = current_database()`)
      for (let round = 0; round < 12; round += 1) {
        const name = names((runs += 1))
        const spread = Array.from({ length: 40 }, (_, index) => index)
        const details = (index: number) =>
          mail({
            idempotencyKey: anyId(`${name.key(0)}-${index}`),
            keyHash: anyId(`${name.hash(0)}-${index}`)
          })
        const sends = spread.map((index) =>
          index % 3 === 0
            ? attempt(details(index), "deferred")
            : attempt(details(index), "sent", { providerMessageId: `${name.message(0)}-${index}` })
        )
        const events = spread.map((index): EventEntry => ({
          provider: "provider_a",
          providerMessageId: `${name.message(0)}-${index}`,
          event: "complained",
          recipients: [`${index % 5}@overlap.test`],
          keyHash: anyId(`${name.hash(0)}-${index}`)
        }))
        const batches: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          Effect.forEach(sends, (entry) => postgres.store.record(entry), { concurrency: "unbounded" }),
          Effect.forEach(sends.toReversed(), (entry) => postgres.store.record(entry), {
            concurrency: "unbounded"
          }),
          postgres.recordEvents(events),
          postgres.recordEvents(events.toReversed()),
          postgres.recordEvents(events.filter((_, index) => index % 2 === 0))
        ]
        yield* Effect.all(batches, { concurrency: "unbounded" })
        const rows = (yield* postgres.rows).filter(({ keyHash }) => keyHash?.startsWith(`${name.hash(0)}-`))
        assert.lengthOf(rows, spread.length)
        assert.isTrue(
          rows.every(({ category, status }) => status === "complained" && category === "transactional")
        )
      }
      const [found] = yield* Effect.orDie(sql`select
        (select deadlocks from pg_stat_database where datname = current_database()) - deadlocks as deadlocks
        from deadlocks_before`)
      assert.strictEqual(Number(found?.["deadlocks"]), 0)
    })
  )

  it.live("of batches with the same messages in opposite orders do not deadlock", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 8; round += 1) {
        const name = names((runs += 1))
        const spread = Array.from({ length: 150 }, (_, index) => `${name.message(0)}-${index}`)
        const entries = spread.map((messageId) => ({
          id: crypto.randomUUID(),
          category: "transactional",
          to: ["overlap@x.test"],
          outcome: "sent",
          provider: "provider_a",
          provider_message_id: messageId
        }))
        const write = (batch: typeof entries) =>
          Effect.orDie(sql`select send_id from record_email_sends(${JSON.stringify(batch)}::jsonb)`)
        yield* Effect.all([write(entries), write(entries.toReversed()), write(entries)], {
          concurrency: "unbounded"
        })
        for (const event of ["delivered", "opened", "clicked"]) {
          const events = spread.map((providerMessageId): EventEntry => ({
            provider: "provider_a",
            providerMessageId,
            event
          }))
          yield* Effect.all(
            [events, events.toReversed(), events, events.toReversed()].map((batch) =>
              postgres.recordEvents(batch)
            ),
            { concurrency: "unbounded" }
          )
        }
        const rows = (yield* postgres.rows).filter(({ providerMessageId }) =>
          providerMessageId?.startsWith(`${name.message(0)}-`)
        )
        assert.lengthOf(rows, spread.length)
        assert.isTrue(rows.every(({ status }) => status === "clicked"))
      }
    })
  )
})
