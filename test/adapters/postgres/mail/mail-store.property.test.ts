import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Result, Scope } from "effect"
import fc from "fast-check"
import { afterAll, beforeAll, beforeEach } from "vitest"

import type { EventEntry, LogRow } from "../../../../src/adapters/memory/mail/tables.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { toEntry } from "../../../../src/adapters/postgres/mail/send-entry.ts"
import { isProviderFailure, statusRank } from "../../../../src/domain/mail/status.ts"
import { attempt, mail } from "../../../contracts/mail/mail-store/mails.ts"
import { anyId } from "../../../support/any-id.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import { makeMemoryWorld, makePostgresWorld, type MailWorld } from "../../../support/worlds/mail-world.ts"
import {
  BASE,
  canonicalRows,
  canonicalSuppressions,
  EVENTS,
  type Names,
  names,
  perform,
  step,
  toRecord
} from "./steps.ts"

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

/** What earlier runs left has no part in the next one: the clock of all rows moves with each, and every look reads all of them. */
const clean = () =>
  Effect.orDie(
    Effect.provideService(
      empty(
        "email_log, email_events, email_suppressions, email_send_claims, email_alerts, erased_suppressions"
      ),
      WriteSql,
      sql
    )
  )
beforeEach(() => Effect.runPromise(clean()))

let runs = 0

describe("the in-memory model and the SQL functions", () => {
  it("agree on every sequence of sends, events, claims and retries", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const name = names((runs += 1))
            const memory = yield* makeMemoryWorld
            yield* clean()
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
    ))
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
    minute: fc.integer({ min: 0, max: 3 }),
    bounceType: fc.constantFrom("Permanent", "Transient"),
    alertable: fc.constantFrom(true, true, false),
    listed: fc.constantFrom(false, false, true)
  })

  it("ends the same in any order, however often each comes (L3), before or after its row (L1, P1)", () =>
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
              yield* clean()
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
                        keyTag: name.tag(0),
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
    ))
})

describe("races", () => {
  it.live("of an event with the retry that it makes needless: the retry waits for it (S4)", () =>
    Effect.gen(function* () {
      const name = names((runs += 1))
      const details = mail({ idempotencyKey: name.key(0), keyHash: name.hash(0), keyTag: name.tag(0) })
      yield* postgres.store.record(attempt(details, "deferred"))
      const event = [
        { provider: "provider_a", provider_message_id: "m", event: "sent", key_tag: name.tag(0) }
      ]
      const retry = postgres.store.beginRetry({
        keyHash: name.hash(0),
        tag: name.tag(0),
        firstAttemptAt: 0,
        ageMs: 0,
        provider: "provider_a" as const,
        rowId: anyId(name.id(0, 9)),
        addresses: [],
        owner: name.owner(0),
        leaseMs: 60_000
      })
      const began = yield* whileOpen(
        sql`select send_id from record_email_events(${JSON.stringify(event)}::jsonb)`,
        retry
      ).pipe(Effect.provideService(WriteSql, sql))
      assert.deepInclude(began, {
        _tag: "Settled",
        evidence: { provider: "provider_a", providerMessageId: "m" }
      })
    })
  )

  /** The first event of the message named no key; one that does is being recorded meanwhile. */
  const whileNamed = Effect.fnUntraced(function* <A, E>(name: Names, second: Effect.Effect<A, E>) {
    const [providerMessageId, provider] = [name.message(0), "provider_a" as const]
    yield* postgres.recordEvent({ provider, providerMessageId, event: "sent" })
    const event = [
      { provider, provider_message_id: providerMessageId, event: "delivered", key_tag: name.tag(0) }
    ]
    return yield* whileOpen(
      sql`select send_id from record_email_events(${JSON.stringify(event)}::jsonb)`,
      second
    ).pipe(Effect.provideService(WriteSql, sql))
  })

  it.live(
    "of an event that tells whose a known message is with the retry of its key: it waits, too (S4, R3)",
    () =>
      Effect.gen(function* () {
        const name = names((runs += 1))
        // The row of the deferral was lost.
        const began = yield* whileNamed(
          name,
          postgres.store.beginRetry({
            keyHash: name.hash(0),
            tag: name.tag(0),
            firstAttemptAt: undefined,
            ageMs: 0,
            provider: "provider_a",
            rowId: anyId(name.id(0, 9)),
            addresses: [],
            owner: name.owner(0),
            leaseMs: 60_000
          })
        )
        assert.deepInclude(began, {
          _tag: "Settled",
          evidence: { provider: "provider_a", providerMessageId: name.message(0) }
        })
        assert.deepStrictEqual(yield* postgres.openKey(name.key(0)), { key: name.key(0), state: "sent" })
      })
  )

  it.live("of an event with the erasure of its recipient: the row is the erased person's, too (P3)", () =>
    Effect.gen(function* () {
      const name = names((runs += 1))
      const email = `bounced-${runs}@x.test`
      const event = [
        {
          provider: "provider_a",
          provider_message_id: name.message(0),
          event: "bounced",
          bounce_type: "permanent",
          recipients: [email]
        }
      ]
      yield* whileOpen(
        sql`select send_id from record_email_events(${JSON.stringify(event)}::jsonb)`,
        sql`select erase_person(${email}, 'admin')`
      ).pipe(Effect.provideService(WriteSql, sql))
      const kept = yield* sql<{ readonly kept: boolean; readonly listed: boolean }>`select
        exists (select from email_log where ${email} = any (to_addresses)) as kept,
        exists (select from email_suppressions where email = ${email}) as listed`
      assert.deepStrictEqual(kept, [{ kept: false, listed: false }])
    })
  )

  it.live("of such an event with the deferral of its key: both end in one row (D1, L1)", () =>
    Effect.gen(function* () {
      const name = names((runs += 1))
      const details = mail({ idempotencyKey: name.key(0), keyHash: name.hash(0), keyTag: name.tag(0) })
      yield* whileNamed(name, postgres.store.record(attempt(details, "deferred")))
      const rows = (yield* postgres.rows).filter(({ keyTag }) => keyTag === name.tag(0))
      assert.lengthOf(rows, 1)
      assert.deepInclude(rows[0], { status: "delivered", outcome: "deferred", keyHash: name.hash(0) })
    })
  )

  it.live(
    "of two acceptances of one attempt whose messages events have named: both rows are completed (L1)",
    () =>
      Effect.gen(function* () {
        const name = names((runs += 1))
        const details = mail({ idempotencyKey: name.key(0), keyHash: name.hash(0), keyTag: name.tag(0) })
        const rowId = anyId(name.id(0, 9))
        const messages = [name.message(0), name.message(1)]
        const accepted = messages.map((providerMessageId) => {
          const provider = "provider_a" as const
          return { rowId, provider, providerMessageId }
        })
        for (const { provider, providerMessageId } of accepted)
          yield* postgres.recordEvent({ provider, providerMessageId, event: "delivered" })
        yield* whileOpen(
          sql`select send_id from record_email_sends(${JSON.stringify([toEntry(attempt(details, "sent", accepted[0]))])}::jsonb)`,
          postgres.store.record(attempt(details, "sent", accepted[1]))
        ).pipe(Effect.provideService(WriteSql, sql))
        const rows = (yield* postgres.rows).filter((row) => messages.includes(row.providerMessageId ?? ""))
        assert.deepStrictEqual(
          rows.map(({ outcome }) => outcome),
          ["sent", "sent"]
        )
      })
  )

  it.live("of an acceptance with the first event of its message: both are kept, in one row (L1, S4)", () =>
    Effect.gen(function* () {
      const name = names((runs += 1))
      const details = mail({ idempotencyKey: name.key(0), keyHash: name.hash(0), keyTag: name.tag(0) })
      const rowId = anyId(name.id(0, 9))
      yield* postgres.store.record(attempt(details, "failed", { rowId }))
      const [providerMessageId, provider] = [name.message(0), "provider_a" as const]
      const event = [{ provider, provider_message_id: providerMessageId, event: "delivered" }]
      yield* whileOpen(
        sql`select send_id from record_email_events(${JSON.stringify(event)}::jsonb)`,
        postgres.store.record(attempt(details, "sent", { rowId, provider, providerMessageId }))
      ).pipe(Effect.provideService(WriteSql, sql))
      const rows = (yield* postgres.rows).filter((row) => row.providerMessageId === providerMessageId)
      assert.lengthOf(rows, 1)
      assert.deepInclude(rows[0], { outcome: "sent", status: "delivered" })
    })
  )

  it.live("of a retry's outcome with the message that comes again: it is found recorded (MAIL-54)", () =>
    Effect.gen(function* () {
      const name = names((runs += 1))
      const retry = {
        keyHash: name.hash(0),
        tag: name.tag(0),
        firstAttemptAt: 0,
        ageMs: 0,
        provider: "provider_a" as const,
        rowId: anyId(name.id(0, 9)),
        addresses: [],
        leaseMs: 60_000
      }
      yield* postgres.store.beginRetry({ ...retry, owner: name.owner(0) })
      const details = mail({ idempotencyKey: name.key(0), keyHash: name.hash(0), keyTag: name.tag(0) })
      const settle = { owner: name.owner(0), state: "deferred" as const, ambiguous: true, result: undefined }
      const outcome = toEntry(attempt(details, "deferred", { rowId: retry.rowId, settle }))
      const again = yield* whileOpen(
        sql`select send_id from record_email_sends(${JSON.stringify([outcome])}::jsonb)`,
        postgres.store.beginRetry({ ...retry, owner: name.owner(1) })
      ).pipe(Effect.provideService(WriteSql, sql))
      assert.deepStrictEqual(again, { _tag: "Recorded" })
    })
  )

  it.live(
    "of an early event with the deferral of its key end in one row, in every interleaving (D1, L1)",
    () =>
      Effect.gen(function* () {
        for (let round = 0; round < 60; round += 1) {
          const name = names((runs += 1))
          const details = mail({ idempotencyKey: name.key(0), keyHash: name.hash(0), keyTag: name.tag(0) })
          const deferred = postgres.store.record(attempt(details, "deferred"))
          const delivered = postgres.recordEvent({
            provider: "provider_a",
            providerMessageId: name.message(0),
            event: "delivered",
            keyTag: name.tag(0)
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
            keyHash: anyId(`${name.hash(0)}-${index}`),
            keyTag: anyId(`${name.tag(0)}-${index}`)
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
          keyTag: anyId(`${name.tag(0)}-${index}`)
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
