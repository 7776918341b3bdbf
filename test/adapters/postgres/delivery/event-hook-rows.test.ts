/** What the rows of event hooks hold beside what their port shows. */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import {
  call,
  clearHooks,
  deliveryStates,
  idOf,
  inMinutes,
  LEASE,
  NUMBERS,
  putDelivery,
  putHook
} from "./hook-rows.ts"

const event = (name: string, second = 0) => ({
  provider: "provider_a",
  provider_message_id: "m-1",
  event: name,
  occurred_at: new Date(Date.parse("2026-11-28T10:00:00Z") + second * 1000).toISOString(),
  recipients: ["ann@x.test"],
  key_tag: "t".repeat(64)
})

const send = sendEntry({
  id: idOf(99),
  provider_message_id: "m-1",
  idempotency_key: "order-17",
  key_tag: "t".repeat(64)
})

const claimed = (limit: number) =>
  WriteSql.use((sql) =>
    Effect.map(
      sql<{ readonly id: string; readonly hook: string }>`select id, hook_id as hook
        from claim_event_hook_deliveries(${LEASE}::uuid, '1 minute', ${limit}::int, 100)`,
      (rows) => rows
    )
  )

suiteLayer(layerPostgres)("rows of event hooks", (it) => {
  it.effect("say what the alarms are about: what is off by itself, to be sent, dead of late, and late", () =>
    Effect.gen(function* () {
      yield* clearHooks
      const sql = yield* WriteSql
      const health = Effect.map(
        sql<{
          readonly off: number
          readonly pending: number
          readonly dead: number
          readonly oldest: number
        }>`
          select off, pending, dead, round(oldest_s / 60)::int as oldest from event_hook_health('1 hour')`,
        ([row]) => row
      )
      yield* putHook()
      yield* putDelivery(1, { state: "delivered", tried_at: inMinutes(-1) })
      yield* putDelivery(2, { state: "dead", tried_at: inMinutes(-62), ended_at: inMinutes(-61) })
      yield* putDelivery(3, { state: "dead" })
      assert.deepStrictEqual(yield* health, { off: 0, pending: 0, dead: 0, oldest: 0 })
      yield* putDelivery(4, { state: "dead", tried_at: inMinutes(-59), ended_at: inMinutes(-59) })
      yield* putDelivery(5, { next_at: inMinutes(-20) })
      yield* putDelivery(6, { next_at: inMinutes(-30) })
      yield* putDelivery(7, { next_at: inMinutes(-40), lease: LEASE })
      for (const [number, offBy] of [
        [8, "person"],
        [9, "itself"]
      ] as const) {
        yield* putHook({ id: idOf(number), off_by: offBy })
        yield* putDelivery(number, { hook_id: idOf(number), next_at: inMinutes(-50) })
      }
      // What a process took and never ended is late from the end of its lease.
      assert.deepStrictEqual(yield* health, { off: 1, pending: 5, dead: 1, oldest: 40 })
    })
  )

  it.effect("are made due by upkeep where no event before holds them back (EVENT-81)", () =>
    Effect.gen(function* () {
      yield* clearHooks
      yield* putHook()
      const later = { next_at: inMinutes(60) }
      yield* putDelivery(1, { subject: "held", next_at: inMinutes(60), tries: 1 })
      yield* putDelivery(2, { ...later, subject: "held" })
      yield* putDelivery(3, { subject: "free", state: "delivered" })
      yield* putDelivery(4, { subject: "free", next_at: inMinutes(1.75) })
      yield* putDelivery(5, { ...later, subject: "free" })
      yield* putDelivery(6, { subject: "again", again: true, tries: 1, next_at: inMinutes(60) })
      yield* putDelivery(7, { ...later, subject: "again" })
      yield* WriteSql.use((sql) => sql`select tend_event_hooks()`)
      assert.deepStrictEqual(yield* deliveryStates, [
        "waits",
        "waits",
        "delivered",
        "due",
        "waits",
        "waits",
        "due"
      ])
    })
  )

  it.effect("are claimed by how long they have been due, of a hook and among hooks, in their order", () =>
    Effect.gen(function* () {
      yield* clearHooks
      // In two halves, so that a claim begins at either.
      const hooks = ["7", "f"].map((first) => `${first}fffffff-0000-4000-8000-000000000000`)
      yield* Effect.forEach(hooks, (id) => putHook({ id }))
      for (const number of NUMBERS)
        for (const [index, hook_id] of hooks.entries())
          yield* putDelivery(number + 20 * index, { hook_id, next_at: inMinutes(-60 + number) })
      for (let round = 0; round < 5; round++) {
        const ids = (yield* claimed(8)).map(({ id }) => id)
        const oldest = [4, 3, 2, 1].map((number) => number + 4 * round)
        assert.deepStrictEqual(
          ids,
          oldest.flatMap((number) => [number, number + 20].map(idOf))
        )
      }
    })
  )

  const rings = [
    ["in the upper half", "ffffffff", "7fffffff"],
    ["in the lower half", "7fffffff", "00000000"]
  ] as const
  it.effect.each(rings)(
    "of each of many hooks have their turn, also %s of their ids (EVENT-82)",
    ([, ...hooks]) =>
      Effect.gen(function* () {
        yield* clearHooks
        const ids = hooks.map((first) => `${first}-0000-4000-8000-000000000000`)
        const turns = new Set<string>()
        for (const id of ids) yield* putHook({ id })
        for (let number = 1; number <= 40; number++)
          for (const [index, hook_id] of ids.entries()) yield* putDelivery(number + 40 * index, { hook_id })
        // Where a claim begins is chance: that forty begin at the same hook happens once in a million million times.
        for (let round = 0; round < 40; round++) for (const { hook } of yield* claimed(1)) turns.add(hook)
        assert.sameMembers([...turns], ids)
      })
  )

  it.effect(
    "of a mail's events that came before it follow it in their order, a minute later at most (EVENT-80)",
    () =>
      Effect.gen(function* () {
        yield* clearHooks
        const sql = yield* WriteSql
        yield* putHook()
        const names = ["delivered", "opened", "clicked", "complained"]
        yield* call("record_email_events", ...names.map(event))
        const soon = sql`select count(*)::int as n from event_hook_deliveries
        where type like 'email.%' and wait_until <= clock_timestamp() + interval '1 minute' and next_at = wait_until`
        assert.deepStrictEqual(yield* soon, [{ n: names.length }])
        // Its row moves to the end of the table.
        yield* sql`update event_hook_deliveries set next_at = next_at - interval '1 second' where type = 'email.delivered'`
        yield* call("record_email_sends", send)
        assert.deepStrictEqual(
          yield* sql`select type from event_hook_deliveries where type like 'email.%' order by sequence`,
          ["sent", ...names].map((name) => ({ type: `email.${name}` }))
        )
      })
  )

  it.effect("of events that are dead stay as they were written when the mail's row comes", () =>
    Effect.gen(function* () {
      yield* clearHooks
      const sql = yield* WriteSql
      yield* putHook({ off_by: "itself" })
      yield* call("record_email_events", event("sent"), event("delivered", 1))
      const rows = sql`select * from event_hook_deliveries order by sequence`
      const before = yield* rows
      assert.deepStrictEqual(
        before.map(({ error, state, type }) => [type, state, error]),
        ["email.sent", "email.delivered"].map((type) => [type, "dead", "the hook was switched off"])
      )
      yield* call("record_email_sends", send)
      assert.deepStrictEqual((yield* rows).slice(0, 2), before)
    })
  )
})
