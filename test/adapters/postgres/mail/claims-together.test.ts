import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import fc from "fast-check"
import { afterAll, beforeAll } from "vitest"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

/**
 * `begin_email_sends` claims what nobody has claimed, and `record_email_sends` writes acceptances that nothing is known of, in one
 * statement. However a batch is mixed, it has to end as its entries would one by one, and batches that meet may not lock each other
 * out.
 */

const scope = Scope.makeUnsafe()
let sql: WriteSql["Service"]
beforeAll(async () => {
  const context = await Effect.runPromise(Scope.provide(Layer.build(layerPostgres), scope))
  sql = await Effect.runPromise(Effect.provideContext(WriteSql, context))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

const call = (name: string, entries: ReadonlyArray<object>): Effect.Effect<Rows, unknown> =>
  Effect.orDie(sql.unsafe<Rows[number]>(`select * from ${name}($1::jsonb)`, [JSON.stringify(entries)]))

/** What happens in it never happened. */
const undone = <A>(run: Effect.Effect<A, unknown>): Effect.Effect<A> =>
  sql.withTransaction(Effect.flatMap(run, (seen) => Effect.fail({ seen }))).pipe(
    Effect.flip,
    Effect.flatMap((end) =>
      typeof end === "object" && end !== null && "seen" in end
        ? Effect.succeed(end.seen as A)
        : Effect.die(end)
    )
  )

/** As exact as two calls one after the other are: ten minutes. */
const roughly = (value: unknown): unknown => (typeof value === "number" ? Math.round(value / 600_000) : value)

interface World {
  readonly prepare: Effect.Effect<unknown, unknown>
  readonly name: string
  readonly state: string
  /** In the order in which the function takes them. */
  readonly inTurn: (left: number, right: number) => number
  readonly entries: ReadonlyArray<object>
}

/** Ids that the database made differ from run to run: the message says which row it is. */
const given = (id: unknown): unknown => (/^[1-3]0000000-0000-4000-/.test(String(id)) ? id : "made here")

/** Answers by ordinal, and the table after it. */
const ends = ({ state }: World, answers: Effect.Effect<Rows, unknown>) =>
  Effect.gen(function* () {
    const rows = yield* answers
    return {
      answers: rows
        .map((row): Rows[number] => ({
          ...row,
          send_id: given(row["send_id"]),
          first_attempt_at: roughly(row["first_attempt_at"]),
          last_attempt_at: roughly(row["last_attempt_at"])
        }))
        .toSorted((a, b) => Number(a["ordinal"]) - Number(b["ordinal"])),
      table: yield* sql.unsafe<object>(state)
    }
  })

const togetherAsInTurn = (world: World): Promise<void> => {
  const { entries, inTurn, name, prepare } = world
  const order = entries.map((_, index) => index).toSorted((a, b) => inTurn(a, b) || a - b)
  const inTurns = Effect.forEach(order, (index) =>
    Effect.map(call(name, [entries[index]!]), (rows) => rows.map((row) => ({ ...row, ordinal: index + 1 })))
  )
  const compare = Effect.gen(function* () {
    yield* prepare
    const alone = yield* undone(
      ends(
        world,
        Effect.map(inTurns, (all) => all.flat())
      )
    )
    const together = yield* undone(ends(world, call(name, entries)))
    assert.deepStrictEqual(together, alone)
  })
  return Effect.runPromise(undone(compare))
}

const byText = (left: string | null, right: string | null): number =>
  left === right ? 0 : left === null ? 1 : right === null ? -1 : left < right ? -1 : 1

const keyHash = (key: number) => String(key).repeat(64)
const tagOf = (key: number) => `tag-${key}`
const idOf = (id: number, outcome: string) => {
  const kind = outcome === "sent" ? 1 : outcome === "deferred" ? 3 : 2
  return `${kind}0000000-0000-4000-8000-00000000000${id}`
}

const sendEntry = fc
  .record({
    id: fc.integer({ min: 0, max: 8 }),
    misnamed: fc.boolean(),
    provider: fc.constantFrom("provider_a", "provider_a", "provider_b"),
    outcome: fc.oneof(
      { weight: 12, arbitrary: fc.constant("sent") },
      { weight: 2, arbitrary: fc.constantFrom("failed", "suppressed") },
      { weight: 1, arbitrary: fc.constant("deferred") }
    ),
    to: fc.constantFrom(["a@x.test"], ["B <b@x.test>", "c@x.test"]),
    key: fc.integer({ min: 0, max: 3 })
  })
  .map(({ id, key, misnamed, outcome, provider, to }) => ({
    // No send has two keys, or is deferred and ends in one batch: what is deferred is taken where its key's event stands.
    id: idOf(outcome === "deferred" ? key : id, outcome),
    category: "transactional",
    source: "test",
    from: "Postlane <noreply@postlane.test>",
    to,
    others: [],
    subject: "Subject",
    outcome,
    error: null,
    error_kind: null,
    failed_over: false,
    cost_usd: 0.0004,
    idempotency_key: `key-${key}`,
    key_hash: keyHash(key),
    key_tag: tagOf(key),
    // An id is of one attempt, and a deferred one may be recorded twice.
    provider: outcome === "deferred" ? "provider_b" : provider,
    // Ids that share a message, and an id that comes with another one.
    provider_message_id: outcome !== "sent" ? null : misnamed && id < 2 ? `m-9${id}` : `m-${id % 6}`
  }))

const eventEntry = fc
  .record({
    message: fc.integer({ min: 0, max: 5 }),
    event: fc.constantFrom("sent", "delivered", "bounced"),
    key: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined })
  })
  .map(({ event, key, message }) => ({
    provider: "provider_a",
    provider_message_id: `m-${message}`,
    event,
    occurred_at: "2026-11-01T00:00:00.000Z",
    recipients: [],
    bounce_type: event === "bounced" ? "Permanent" : undefined,
    key_tag: key === undefined ? undefined : tagOf(key),
    raw: {}
  }))

const claimEntry = fc
  .record({
    key: fc.integer({ min: 0, max: 4 }),
    addresses: fc.constantFrom([], ["a@x.test"], ["A <blocked@x.test>"], ["a@x.test", "blocked@x.test"]),
    owner: fc.constantFrom("first", "second", "third"),
    payload: fc.constantFrom("p", "p", "q"),
    provider: fc.constantFrom("provider_a", "provider_b")
  })
  .map(({ addresses, key, owner, payload, provider }) => ({
    key_hash: keyHash(key),
    addresses,
    payload_hash: payload,
    provider,
    owner,
    lease_ms: 60_000,
    tag: tagOf(key)
  }))

const claimState = fc.record({
  key: fc.integer({ min: 0, max: 4 }),
  state: fc.constantFrom("held", "accepted", "deferred", "refused", "ambiguous", "ended"),
  leased: fc.boolean(),
  hours: fc.constantFrom(1, 1, 25)
})

const some = { numRuns: 60 }

describe("batches end as their entries would one by one", () => {
  it("rows of the library", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(sendEntry, { minLength: 2, maxLength: 8 }),
        fc.array(sendEntry, { maxLength: 2 }),
        fc.array(eventEntry, { maxLength: 4 }),
        (entries, earlier, events) =>
          togetherAsInTurn({
            name: "record_email_sends",
            state: `select to_jsonb(l) - '{created_at,updated_at}'::text[]
                || jsonb_build_object('id', coalesce(substring(l.id::text from '^[1-3]0000000-0000-4000-.*'), 'made here')) as row
                from email_log l order by l.provider, l.provider_message_id, l.id`,
            prepare: Effect.andThen(
              call("record_email_events", events),
              Effect.forEach(earlier, (entry) => call("record_email_sends", [entry]))
            ),
            inTurn: (a, b) =>
              byText(entries[a]!.provider, entries[b]!.provider) ||
              byText(entries[a]!.provider_message_id, entries[b]!.provider_message_id) ||
              byText(entries[a]!.id, entries[b]!.id),
            entries
          })
      ),
      some
    ))

  it("claims", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(claimEntry, { minLength: 2, maxLength: 8 }),
        fc.array(claimState, { maxLength: 2 }),
        fc.array(sendEntry, { maxLength: 1 }),
        (entries, claims, rows) =>
          togetherAsInTurn({
            name: "begin_email_sends",
            state: `select to_jsonb(c) - '{lease_until,first_attempt_at,last_attempt_at,updated_at}'::text[] as row,
              c.lease_until > now() as leased, c.first_attempt_at < now() - interval '10 minutes' as old
              from email_send_claims c order by c.key_hash`,
            prepare: Effect.gen(function* () {
              yield* sql`insert into email_suppressions (email, reason) values ('blocked@x.test', 'manual')
                on conflict do nothing`
              yield* Effect.forEach(rows, (row) => call("record_email_sends", [row]))
              for (const { hours, key, leased, state } of claims) {
                const result = state === "held" ? null : JSON.stringify({ answer: state })
                yield* sql`insert into email_send_claims
                  (key_hash, payload_hash, state, provider, ambiguous, owner, lease_until, first_attempt_at, last_attempt_at, tag, result)
                  values (${keyHash(key)}, 'p', ${state}, 'provider_b', ${state === "ambiguous"}, 'first',
                    ${leased ? sql`now() + interval '1 minute'` : sql`null`},
                    now() - make_interval(hours => ${hours}::int), now() - make_interval(hours => ${hours}::int),
                    ${tagOf(key)}, ${result}::jsonb)
                  on conflict do nothing`
              }
            }),
            inTurn: (a, b) => byText(entries[a]!.key_hash, entries[b]!.key_hash),
            entries
          })
      ),
      some
    ))
})

describe("batches that meet", () => {
  const CALLERS = 8
  const SIZE = 30

  /** The numbers from 0, in an order of the caller's own, a third of them left out. */
  const shuffled = (caller: number): ReadonlyArray<number> =>
    Array.from({ length: SIZE }, (_, index) => (index * 7 + caller * 11) % SIZE).slice(0, (SIZE * 2) / 3)

  const atOnce = <A>(each: (caller: number) => Effect.Effect<A, unknown>) =>
    Effect.runPromise(
      Effect.forEach(
        Array.from({ length: CALLERS }, (_, caller) => caller),
        each,
        { concurrency: CALLERS }
      )
    )

  it("claim each key once, whatever order they name them in (S9)", async () => {
    for (let round = 0; round < 6; round++) {
      const answers = await atOnce((caller) => {
        const keys = shuffled(caller).map((key) => `meet-${round}-${key}`)
        return Effect.map(
          call(
            "begin_email_sends",
            keys.map((key) => ({
              key_hash: key,
              addresses: [],
              payload_hash: "p",
              provider: "provider_a",
              owner: `caller-${caller}`,
              lease_ms: 60_000
            }))
          ),
          (rows) => rows.map((row) => ({ key: keys[Number(row["ordinal"]) - 1], decision: row["decision"] }))
        )
      })
      const claimed = answers.flat().filter(({ decision }) => decision === "Claimed")
      assert.strictEqual(claimed.length, SIZE)
      assert.strictEqual(new Set(claimed.map(({ key }) => key)).size, SIZE)
      assert.strictEqual(answers.flat().length, CALLERS * ((SIZE * 2) / 3))
    }
  })

  it("write one row a message, beside its events (L1)", async () => {
    for (let round = 0; round < 6; round++) {
      const messageOf = (n: number) => `meet-${round}-${n}`
      const deliver = (numbers: ReadonlyArray<number>) =>
        call(
          "record_email_events",
          numbers.map((n) => ({
            provider: "provider_a",
            provider_message_id: messageOf(n),
            event: "delivered",
            occurred_at: "2026-11-01T00:00:00.000Z",
            recipients: ["a@x.test"],
            raw: {}
          }))
        )
      // Half of the rows are there: who wrote the other half first and locked these then would meet who takes turns.
      await Effect.runPromise(deliver(shuffled(0).filter((n) => n % 2 === 0)))
      await atOnce((caller) =>
        caller % 2 === 0
          ? deliver(shuffled(caller))
          : call(
              "record_email_sends",
              shuffled(caller).map((n) => ({
                id: crypto.randomUUID(),
                category: "transactional",
                source: "test",
                from: "noreply@postlane.test",
                to: ["a@x.test"],
                others: [],
                subject: "Subject",
                outcome: "sent",
                key_hash: "k",
                provider: "provider_a",
                provider_message_id: messageOf(n)
              }))
            )
      )
      const rows = await Effect.runPromise(
        sql<{ readonly outcome: string; readonly status: string }>`select outcome, status from email_log
          where provider_message_id like ${`meet-${round}-%`}`
      )
      assert.strictEqual(rows.length, SIZE)
      assert.isTrue(rows.every(({ outcome, status }) => outcome === "sent" && status === "delivered"))
    }
  })
})
