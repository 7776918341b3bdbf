/** Tokens of a provider, and the order in which requests take them, at moments that the test chooses (QUEUE-4, QUEUE-5). */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { call, clear, enqueue, heldOf, claimOf, MAIL, PACE, stored, take } from "./rows.ts"

/** How many requests may leave `ms` after the pace was first asked for, and when the first of them. */
const tokens = (rate: number, ms: number) =>
  WriteSql.use(
    (sql) => sql<{ readonly count: number; readonly first: number }>`
      select t.count, (extract(epoch from t.first_at - timestamptz '2026-11-01') * 1000)::float8 as first
      from email_tokens('provider_a', ${rate}, 0, null,
        timestamptz '2026-11-01' + make_interval(secs => ${ms / 1000}::float8)) as t`
  )

/** The moment until which a row of the pace is held, a second from now or two: the row was written before now. */
const within = (column: string, seconds: number) =>
  WriteSql.use((sql) =>
    sql.unsafe<object>(
      `select ${column} <= clock_timestamp() + make_interval(secs => ${seconds}) as ok from email_pace`
    )
  )

layer(layerPostgres)("the pace of a provider", (it) => {
  it.effect("is silent for a second, then gives what fits into a quarter of one", () =>
    Effect.gen(function* () {
      yield* clear
      assert.deepStrictEqual(yield* tokens(1000, 0), [{ count: 0, first: 1000 }])
      assert.deepStrictEqual(yield* tokens(1000, 750), [{ count: 0, first: 1000 }])
      assert.deepStrictEqual(yield* tokens(1000, 750.5), [{ count: 1, first: 1000 }])
      assert.deepStrictEqual(yield* tokens(1000, 1000), [{ count: 250, first: 1000 }])
      assert.deepStrictEqual(yield* tokens(2, 1000), [{ count: 1, first: 1000 }])
    })
  )

  it.effect("keeps one token after that second, too, where direct sends took the others", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* tokens(1000, 0)
      yield* sql`update email_pace set free_at = free_at + interval '1 hour'`
      assert.deepStrictEqual(yield* tokens(1000, 1000), [{ count: 1, first: 1000 }])
      // The reserved one alone is left; the next ones are an hour away.
      yield* sql`update email_pace set reserved_at = reserved_at + interval '1 hour'`
      assert.deepStrictEqual(yield* tokens(1000, 1000), [{ count: 0, first: 3_601_000 }])
    })
  )

  it.effect("is not asked, and so not locked, where nothing is due", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const paced = [{ ...PACE, rate: 1, most: null }]
      yield* enqueue({ ...MAIL, sendAt: new Date(Date.now() + 3_600_000).toISOString() })
      assert.lengthOf(yield* take(10, paced), 0)
      assert.deepStrictEqual(yield* sql`select provider from email_pace`, [])
      yield* enqueue(MAIL)
      yield* take(10, paced)
      assert.lengthOf(yield* sql`select provider from email_pace`, 1)
    })
  )

  it.effect("is held back by direct sends for a second at most", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      const heard = sql`select hear_email_provider('provider_a', 1000, 1, 0, null, null, null)`
      yield* heard
      assert.deepStrictEqual(yield* within("greatest(free_at, reserved_at)", 1), [{ ok: true }])
      yield* heard
      assert.deepStrictEqual(yield* within("free_at", 1), [{ ok: true }])
      yield* enqueue(MAIL)
      yield* sql`update email_pace set free_at = now() + interval '1 hour', reserved_at = now()`
      assert.lengthOf(yield* take(10, [{ ...PACE, rate: 1, most: null }]), 1)
      assert.deepStrictEqual(yield* within("free_at", 2), [{ ok: true }])
      const isOver = (rate: number) =>
        sql`select next_ms is null as over from take_queued_emails(${JSON.stringify([{ ...PACE, rate, most: null }])}::jsonb, 1,
          interval '1 minute') where id is null`
      // The answer to who took a token says when the next one comes; without a pace there is nothing to wait for.
      yield* enqueue(MAIL, MAIL)
      yield* sql`update email_pace set free_at = now(), reserved_at = now()`
      assert.deepStrictEqual(yield* isOver(1), [{ over: false }])
      assert.deepStrictEqual(yield* isOver(0), [{ over: true }])
    })
  )

  it.effect(
    "gives its tokens by category, then by time, to those that name it and those that name none",
    () =>
      Effect.gen(function* () {
        yield* clear
        const sql = yield* WriteSql
        const ids = yield* enqueue(
          ...Array.from({ length: 12 }, (_, at) => ({
            ...MAIL,
            subject: `${at}`,
            ...(at % 2 === 0 && { provider: "provider_a" })
          })),
          { ...MAIL, category: "auth" }
        )
        const [auth, ...oldestFirst] = ids.toReversed()
        for (const [at, id] of oldestFirst.entries())
          yield* sql`update email_send_queue set due_at = now() - make_interval(mins => ${60 - at}) where id = ${id}::uuid`
        const picked = (count: number, oldest: number) =>
          sql`select pick_queued_emails(array['', 'provider_a'], array[1, 3]::smallint[], ${count}, ${oldest}, clock_timestamp()) as ids`
        assert.deepStrictEqual(yield* picked(5, 0), [{ ids: [auth, ...oldestFirst.slice(0, 4)] }])
        assert.deepStrictEqual(yield* picked(2, 2), [{ ids: oldestFirst.slice(0, 2) }])
        assert.deepStrictEqual(yield* picked(4, 1), [
          { ids: [oldestFirst[0], auth, ...oldestFirst.slice(1, 3)] }
        ])
        assert.deepStrictEqual(
          (yield* take(7)).map(({ id }) => id),
          [auth, ...oldestFirst.slice(0, 6)]
        )
      })
  )

  it.effect("is shown with what waits for it, and what is paused", () =>
    Effect.gen(function* () {
      yield* clear
      const sql = yield* WriteSql
      yield* enqueue(
        ...["marketing", "notification", "alert", "auth"].map((category) => ({ ...MAIL, category })),
        ...Array.from({ length: 8 }, () => MAIL)
      )
      // That of `auth` and `alert`, and four others; later those of two senders are silent.
      yield* take(6)
      yield* sql`with d as (select id from email_send_queue where state = 'sending' and lane = 3 limit 1)
        update email_send_queue q set due_at = now() - interval '2 hours' from d where q.id = d.id or q.lane = 2`
      yield* sql`with d as (select id from email_send_queue where state = 'sending' and lane = 3 and due_at > now() limit 1)
        update email_send_queue q set state = 'deferred', lease = null, due_at = now() + interval '1 hour' from d where q.id = d.id`
      yield* sql`with d as (select id from email_send_queue where state = 'queued' and lane = 3 limit 1)
        update email_send_queue q set due_at = now() + interval '1 hour' from d where q.id = d.id`
      yield* sql`with d as (select id from email_send_queue where state = 'queued' and lane = 3 and due_at < now() limit 1)
        update email_send_queue q set state = 'sent', due_at = null, request = null, ended_at = now() from d where q.id = d.id`
      yield* sql`insert into email_queue_pauses (scope, actor) values ('marketing', 'ann'), ('*', 'bob')`
      yield* sql`insert into email_pace (provider, free_at, reserved_at, held_until) values
        ('provider_b', now(), now(), now() - interval '1 minute'), ('provider_a', now(), now(), now() + interval '1 minute')`
      const [row] = yield* sql<{
        readonly o: Record<"categories" | "pace" | "paused", ReadonlyArray<Record<string, unknown>>>
      }>`select email_queue_overview() as o`
      const { categories, pace, paused } = row!.o
      assert.deepStrictEqual(
        categories.map(({ oldestDueAt, ...counts }): object => ({ ...counts, waits: oldestDueAt !== null })),
        [
          { category: "auth", lane: 1, due: 0, later: 0, sending: 1, deferred: 0, waits: false },
          { category: "alert", lane: 2, due: 0, later: 0, sending: 1, deferred: 0, waits: false },
          { category: "transactional", lane: 3, due: 2, later: 1, sending: 3, deferred: 1, waits: true },
          { category: "notification", lane: 4, due: 1, later: 0, sending: 0, deferred: 0, waits: true },
          { category: "marketing", lane: 5, due: 1, later: 0, sending: 0, deferred: 0, waits: true }
        ]
      )
      const [oldest] =
        yield* sql`select min(due_at) = ${String(categories[2]?.["oldestDueAt"])}::timestamptz as is_oldest
        from email_send_queue where state = 'queued' and lane = 3`
      assert.deepStrictEqual(oldest, { is_oldest: true })
      assert.deepStrictEqual(
        paused.map(({ actor, scope }) => [scope, actor]),
        [
          ["*", "bob"],
          ["marketing", "ann"]
        ]
      )
      assert.deepStrictEqual(
        pace.map(({ heldUntil, provider }) => [provider, heldUntil !== null]),
        [
          ["provider_a", true],
          ["provider_b", false]
        ]
      )
    })
  )
})

layer(layerPostgres)("requests that are begun and ended together", (it) => {
  /** Ten, in the order that is not that of their ids; the fourth has passed to another sender. */
  const ten = Effect.gen(function* () {
    yield* clear
    const sql = yield* WriteSql
    yield* enqueue(...Array.from({ length: 10 }, (_, at) => ({ ...MAIL, subject: `${at}` })))
    const all = (yield* take()).toSorted((one, other) => (one.id < other.id ? 1 : -1))
    yield* sql`update email_send_queue set lease = gen_random_uuid() where id = ${all[3]!.id}::uuid`
    return all
  })

  it.effect("are answered each in its own place (Q1)", () =>
    Effect.gen(function* () {
      const all = yield* ten
      const began = yield* call("begin_queued_emails", all.map(claimOf))
      const answers = began.toSorted((one, other) => Number(one["ordinal"]) - Number(other["ordinal"]))
      assert.deepStrictEqual(
        answers.map(({ tag }) => tag),
        all.map(({ id }, at) => (at === 3 ? null : `tag-${id}`))
      )
      assert.strictEqual(answers[3]?.["decision"], "InProgress")
    })
  )

  it.effect("write each its own end, row and claim; of one that has passed on nothing (QUEUE-7)", () =>
    Effect.gen(function* () {
      const all = yield* ten
      const sql = yield* WriteSql
      yield* call("begin_queued_emails", all.map(claimOf))
      // The fifth goes back, its claim is settled without a row; the sixth waits for evidence.
      const entries = all.map((one, at) => ({
        ...heldOf(one),
        state: at === 4 ? "queued" : at === 5 ? "deferred" : "sent",
        due_ms: at === 4 || at === 5 ? 60_000 : undefined,
        attempts: 1,
        tried: at === 4 || at === 5 ? [] : undefined,
        result: at === 4 || at === 5 ? null : { ok: true, sendId: one.id },
        settle:
          at === 4 || at === 5
            ? {
                key_hash: claimOf(one).key_hash,
                settle: { owner: one.lease, state: "refused", ambiguous: false, result: { ok: false } }
              }
            : undefined
      }))
      const rows = all.flatMap((one, at) =>
        at === 4 || at === 5
          ? []
          : [
              sendEntry({
                place: at + 1,
                id: one.id,
                // Rows are written in the order of their messages.
                provider_message_id: `m-${9 - at}`,
                key_hash: claimOf(one).key_hash,
                settle: { owner: one.lease, state: "accepted", ambiguous: false, result: { ok: true } }
              })
            ]
      )
      // An event of the last one's message has made its row already.
      const [early] = yield* sql<{ readonly id: string }>`
        insert into email_log (id, status, provider, provider_message_id, from_address)
        values (gen_random_uuid(), 'delivered', 'provider_a', 'm-0', 'noreply@postlane.test') returning id`
      const rowIds = all.map(({ id }, at) => (at === 9 ? early!.id : id))
      const ends = yield* sql<{ readonly held: boolean; readonly send_id: string; readonly message: string }>`
        select held, send_id, provider_message_id as message
        from end_queued_emails(${JSON.stringify(entries)}::jsonb, ${JSON.stringify(rows)}::jsonb) order by ordinal`
      assert.deepStrictEqual(
        ends,
        rowIds.map((id, at) => ({
          held: at !== 3,
          send_id: [3, 4, 5].includes(at) ? null : id,
          message: [3, 4, 5].includes(at) ? null : `m-${9 - at}`
        })) as never
      )
      const queue = new Map((yield* stored("email_send_queue")).map((row) => [row["id"], row]))
      assert.deepStrictEqual(
        all.map(({ id }) => queue.get(id)?.["state"]),
        all.map((_, at) => ["sending", "queued", "deferred"][at - 3] ?? "sent")
      )
      assert.deepStrictEqual(
        all.map(({ id }) => queue.get(id)?.["due_at"] !== null),
        all.map((_, at) => [3, 4, 5].includes(at))
      )
      assert.deepStrictEqual(
        all.map(({ id }) => (queue.get(id)?.["result"] as { readonly sendId?: string } | null)?.sendId),
        rowIds.map((id, at) => ([3, 4, 5].includes(at) ? undefined : id))
      )
      const claims = new Map(
        (yield* stored("email_send_claims")).map((row) => [row["key_hash"], row["state"]])
      )
      assert.deepStrictEqual(
        all.map((one) => claims.get(claimOf(one).key_hash)),
        all.map((_, at) => [undefined, "refused", "refused"][at - 3] ?? (at === 3 ? undefined : "accepted"))
      )
    })
  )

  it.effect("are prolonged with the claims that their senders hold, and no other (QUEUE-3)", () =>
    Effect.gen(function* () {
      const all = yield* ten
      const sql = yield* WriteSql
      yield* call("begin_queued_emails", all.map(claimOf))
      const keys = all.map((one) => claimOf(one).key_hash)
      yield* sql`update email_send_claims set owner = 'another' where key_hash = ${keys[0]!}`
      yield* sql`update email_send_claims set lease_until = null where key_hash = ${keys[1]!}`
      const held =
        yield* sql`select renew_queued_emails(${JSON.stringify(all.map(heldOf))}::jsonb, interval '1 hour') as id`
      assert.strictEqual(held.length, 9)
      assert.isFalse(held.some(({ id }) => id === all[3]!.id))
      const long = yield* sql<{ readonly key: string }>`select key_hash as key from email_send_claims
        where lease_until > now() + interval '30 minutes' and last_attempt_at = lease_until`
      assert.deepStrictEqual(
        long.map(({ key }) => key).toSorted(),
        keys.filter((_, at) => ![0, 1, 3].includes(at)).toSorted()
      )
      const due = yield* sql`select id from email_send_queue where due_at > now() + interval '30 minutes'`
      assert.lengthOf(due, 9)
    })
  )
})
