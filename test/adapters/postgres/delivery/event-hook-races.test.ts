/** What two that write the rows of event hooks at once make of each other. */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import {
  call,
  clearHooks,
  deliveryStates,
  endTries,
  failureOf,
  HOOK,
  idOf,
  inMinutes,
  LEASE,
  NUMBERS,
  OTHER,
  putDeliveries,
  putDelivery,
  putHook,
  receiptOf
} from "./hook-rows.ts"

const lockDelivery = (comparison: "=" | ">") =>
  WriteSql.use((sql) =>
    sql.unsafe(`select from event_hook_deliveries where id ${comparison} $1::uuid for update`, [idOf(1)])
  )
const lockHook = (comparison: "=" | ">") =>
  WriteSql.use((sql) =>
    sql.unsafe(`select from event_hooks where id ${comparison} $1::uuid for no key update`, [idOf(1)])
  )

const claim = WriteSql.use((sql) =>
  Effect.map(
    sql<{ readonly type: string }>`select body::jsonb ->> 'type' as type
      from claim_event_hook_deliveries(${OTHER}::uuid, '1 minute', 100, 100)`,
    (rows) => rows.map(({ type }) => type)
  )
)
const redeliverAll = WriteSql.use((sql) =>
  Effect.map(
    sql<{ readonly count: number }>`select redeliver_event_hook(${HOOK}::uuid, null, '1960-01-01') as count`,
    ([row]) => row?.count
  )
)
const tend = WriteSql.use((sql) => sql`select tend_event_hooks()`)
suiteLayer(layerPostgres)("rows of event hooks", (it) => {
  /** With the plans of a table of many rows, which is not read in the order of an index. */
  const asOfMany = <A, E, R>(write: Effect.Effect<A, E, R>) =>
    WriteSql.use((sql) =>
      sql.withTransaction(
        Effect.andThen(
          sql`select set_config('enable_mergejoin', 'off', true), set_config('enable_hashjoin', 'off', true)`,
          write
        )
      )
    )
  const ofPerson = { body: '{"type":"email.sent","data":{"to":["ann@x.test"]}}' }
  const inOneOrder = [
    ["ends of tries", { lease: LEASE, tries: 1 }, Effect.asVoid(endTries(...NUMBERS.map(receiptOf)))],
    [
      "events that are sent once more",
      { state: "dead", created_at: inMinutes(-5) },
      Effect.asVoid(redeliverAll)
    ],
    [
      "events of a person who is erased",
      ofPerson,
      Effect.asVoid(WriteSql.use((sql) => sql`select erase_hook_person('ann@x.test')`))
    ]
  ] as const
  it.effect.each(inOneOrder)(
    "are locked by id, so that no two wait for each other: %s",
    ([, values, write]) =>
      Effect.gen(function* () {
        yield* clearHooks
        yield* putHook()
        yield* putDeliveries(values)
        // It waits for the first one; had it locked another one before, this one's holder would wait for it in turn.
        yield* whileOpen(lockDelivery("="), asOfMany(write), lockDelivery(">"))
      })
  )

  it.effect("of hooks are locked by id, whichever of them answered", () =>
    Effect.gen(function* () {
      yield* clearHooks
      for (const number of NUMBERS) {
        yield* putHook({ id: idOf(number) })
        yield* putDelivery(number, { hook_id: idOf(number), lease: LEASE, tries: 1 })
      }
      const ends = NUMBERS.map((number) => (number === 1 ? failureOf(1) : receiptOf(number)))
      yield* whileOpen(lockHook("="), endTries(...ends), lockHook(">"))
    })
  )

  it.effect("a try that is given to another process is not ended by the one that was too late", () =>
    Effect.gen(function* () {
      yield* clearHooks
      const sql = yield* WriteSql
      yield* putHook()
      yield* putDelivery(1, { lease: LEASE, tries: 1 })
      yield* whileOpen(claim, endTries(failureOf(1)))
      assert.deepStrictEqual(yield* sql`select lease, tries from event_hook_deliveries`, [
        { lease: OTHER, tries: 2 }
      ])
    })
  )

  it.effect("a dead event that is received just now is not sent once more", () =>
    Effect.gen(function* () {
      yield* clearHooks
      yield* putHook()
      yield* putDelivery(1, { state: "dead" })
      assert.strictEqual(yield* whileOpen(endTries(receiptOf(1)), redeliverAll), 0)
      assert.deepStrictEqual(yield* deliveryStates, ["delivered"])
    })
  )

  it.effect("an end waits for nobody who has the event after it: when that is due is a hint", () =>
    Effect.gen(function* () {
      yield* clearHooks
      yield* putHook()
      yield* putDelivery(2, { lease: LEASE, tries: 1, subject: "key" })
      yield* putDelivery(1, { subject: "key", next_at: inMinutes(60) })
      yield* whileOpen(lockDelivery("="), endTries(receiptOf(2)), lockDelivery(">"))
      assert.deepStrictEqual(yield* deliveryStates, ["waits", "delivered"])
    })
  )

  it.effect("an event behind one that is received just now waits for no lease", () =>
    Effect.gen(function* () {
      yield* clearHooks
      const sql = yield* WriteSql
      yield* putHook()
      yield* putDelivery(1, { lease: LEASE, tries: 1, subject: "key", next_at: inMinutes(0.5) })
      const write = sql`select write_hook_deliveries(
        array[row('email.delivered', 'key', clock_timestamp(), '{}', null, null)::hook_event]
      )`
      yield* whileOpen(write, endTries(receiptOf(1)))
      const [next] = yield* sql<{ readonly seconds: number }>`
        select extract(epoch from next_at - created_at)::float8 as seconds
        from event_hook_deliveries where type = 'email.delivered'`
      assert.isAtMost(next?.seconds ?? Infinity, 1)
    })
  )

  it.effect("upkeep waits for nobody who has an event, and finds it the next time", () =>
    Effect.gen(function* () {
      yield* clearHooks
      const sql = yield* WriteSql
      yield* putHook()
      yield* putHook({ id: idOf(9), off_by: "itself" })
      yield* putDelivery(1, { hook_id: idOf(9) })
      yield* putDelivery(2, { next_at: inMinutes(60) })
      yield* putDelivery(3, { state: "delivered", ended_at: inMinutes(-31 * 24 * 60) })
      yield* whileOpen(sql`select from event_hook_deliveries for update`, tend)
      assert.deepStrictEqual(yield* deliveryStates, ["due", "waits", "delivered"])
      yield* tend
      assert.deepStrictEqual(yield* deliveryStates, ["dead", "due"])
    })
  )

  it.effect("are for two processes that claim at once: each event is one's", () =>
    Effect.gen(function* () {
      yield* clearHooks
      yield* putHook()
      yield* putDelivery(1)
      yield* putDelivery(2, { next_at: inMinutes(60) })
      assert.deepStrictEqual(yield* whileOpen(claim, claim), [])
    })
  )

  const SUBJECTS = NUMBERS.map((number) => `key:${number}`)
  it.effect("subjects are locked by number, in whatever order they are named", () =>
    Effect.gen(function* () {
      yield* clearHooks
      const sql = yield* WriteSql
      const lock = (subjects: ReadonlyArray<string>) => sql`select lock_hook_subjects(${subjects})`
      const [row] = yield* sql<{ readonly subjects: ReadonlyArray<string> }>`
        select array_agg(x order by hashtextextended('postlane.hook_subject ' || x, 0)) as subjects
        from unnest(${SUBJECTS}::text[]) as x`
      const [first = "", ...others] = row!.subjects
      yield* whileOpen(lock([first]), lock(SUBJECTS), lock(others))
    })
  )

  const event = (message: string, name: string) => ({
    provider: "provider_a",
    provider_message_id: message,
    event: name,
    recipients: ["ann@x.test"]
  })
  const send = (message: string, outcome = "sent") =>
    sendEntry({ outcome, provider_message_id: message, idempotency_key: "order-17" })
  const tell = (type: string) => WriteSql.use((sql) => sql`select tell_hooks(${type}, 'key:1', now(), '{}')`)
  const ofOneSubject = [
    ["one event alone", tell("email.opened"), tell("email.clicked"), "email.opened"],
    [
      "events of two mails of one key",
      call("record_email_events", event("m-1", "opened")),
      call("record_email_events", event("m-2", "clicked")),
      "email.opened"
    ],
    [
      "ends of two attempts of one key",
      call("record_email_sends", send("m-3", "failed")),
      call("record_email_sends", send("m-4")),
      "email.failed"
    ]
  ] as const
  it.effect.each(ofOneSubject)(
    "of one subject appear in their order: %s (EVENT-81)",
    ([, first, second, type]) =>
      Effect.gen(function* () {
        yield* clearHooks
        yield* call("record_email_sends", send("m-1"), send("m-2"))
        yield* putHook()
        assert.deepStrictEqual(yield* whileOpen(first, Effect.andThen(second, claim)), [type])
      })
  )
})
