import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/delivery/alarm-board.ts"
import { layer as layerLog } from "../../../../src/adapters/postgres/delivery/delivery-log.ts"
import { EXPIRED, SET_ASIDE } from "../../../../src/domain/mail/queue.ts"
import { AlarmBoard } from "../../../../src/ports/delivery/alarm-board.ts"
import { DeliveryLog } from "../../../../src/ports/delivery/delivery-log.ts"
import { suite } from "../../../contracts/delivery/alarm-board.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const layerBoard = Layer.fresh(Layer.merge(layer, layerLog).pipe(Layer.provideMerge(layerPostgres)))

suite("PostgreSQL", layerBoard, (time) =>
  WriteSql.use(
    (sql) =>
      sql`update email_alarm_notices set due_at = due_at - ${Duration.toMillis(time)} * interval '1 millisecond'`
  ).pipe(Effect.orDie)
)

/** A row that is `minutes` old. */
const row = (minutes: number, values: Record<string, unknown> = {}) =>
  WriteSql.use(
    (sql) =>
      sql`insert into email_log ${sql.insert({
        category: "transactional",
        status: "sent",
        outcome: "sent",
        provider: "provider_b",
        idempotency_key: crypto.randomUUID(),
        provider_message_id: crypto.randomUUID(),
        created_at: new Date(Date.now() - minutes * 60_000),
        ...values
      })}`
  )

const NO_DOCUMENTS = {
  failed: 0,
  waitingMinutes: 0,
  batch: { pages: 0, fallback: 0 },
  mails: { ended: 0, unverified: 0 },
  mailWaitingMinutes: 0
}

const measured = AlarmBoard.use((board) => board.measure)

describe("what the alarms measure", () => {
  it.live("nothing in an empty log", () =>
    Effect.gen(function* () {
      const { at, ...counts } = yield* measured
      assert.isAbove(at, Date.parse("2026-01-01"))
      assert.deepStrictEqual(counts, {
        failovers: 0,
        providerB: { sends: 0, bounced: 0, complained: 0 },
        accepted: { byFallback: 0, byPrimary: 0 },
        unsettled: { deferred: 0, failed: 0 },
        unclaimed: 0,
        overdue: 0,
        clocks: { processOffMs: 0, databaseBackMs: 0 },
        silent: { provider_a: 0, provider_b: 0, postmark: 0 },
        unanswered: 0,
        documents: NO_DOCUMENTS,
        hooks: { off: 0, pending: 0, dead: 0, oldestSeconds: 0 },
        queue: { oldestDueMs: 0, setAside: 0, givenUp: 0 }
      })
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("since when the send queue owes a mail, and what it gave up lately", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const queue = Effect.map(measured, (counts) => counts.queue)
      const waits = (category: string, seconds: number, state = "queued") =>
        sql`insert into email_send_queue
            (idempotency_key, key_hash, request_hash, category, lane, state, send_at, due_at, request)
          values ('k', 'k', 'r', ${category}, array_position(email_queue_lanes(), ${category}), ${state}, now(), now() - make_interval(secs => ${seconds}), '{}')`
      const ended = (minutes: number, error: string, kind: string) =>
        sql`insert into email_send_queue
            (idempotency_key, key_hash, request_hash, category, lane, state, send_at, ended_at, error, result)
          values ('k', 'k', 'r', 'auth', 1, 'failed', now(), now() - make_interval(mins => ${minutes}), ${error},
            jsonb_build_object('kind', ${kind}::text))`
      yield* waits("auth", -60)
      yield* waits("auth", -10, "sending")
      assert.deepStrictEqual(yield* queue, { oldestDueMs: 0, setAside: 0, givenUp: 0 })
      yield* waits("auth", 100)
      yield* waits("marketing", 4000)
      assert.isAtLeast((yield* queue).oldestDueMs, 4_000_000)
      yield* sql`select pause_email_queue('marketing', 'ann', true)`
      const { oldestDueMs } = yield* queue
      assert.isAtLeast(oldestDueMs, 100_000)
      assert.isBelow(oldestDueMs, 4_000_000)
      yield* ended(5, SET_ASIDE, "rejected")
      yield* ended(5, EXPIRED, "rejected")
      yield* ended(29, "no capacity", "unavailable")
      yield* ended(31, "no capacity", "unavailable")
      yield* ended(5, "no such box", "rejected")
      assert.deepInclude(yield* queue, { setAside: 1, givenUp: 2 })
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("since when a provider refuses a mail of the send queue, and how many wait for a retry there", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const waits = (state: string, refusals: number, sinceMinutes: number, sendAtMinutes = sinceMinutes) =>
        sql`insert into email_send_queue (idempotency_key, key_hash, request_hash, category, lane, state, refusals,
            send_at, first_taken_at, due_at, request)
          values ('k', 'k', 'r', 'marketing', array_position(email_queue_lanes(), 'marketing'), ${state}, ${refusals},
            now() - make_interval(mins => ${sendAtMinutes}), now() - make_interval(mins => ${sinceMinutes}),
            now() + interval '10 minutes', '{}')`
      const owed = Effect.map(measured, ({ queue, unsettled }) => [
        Math.round(queue.oldestDueMs / 60_000),
        unsettled.deferred
      ])
      yield* waits("queued", 0, 90)
      yield* waits("queued", 2, 90, -60)
      assert.deepStrictEqual(yield* owed, [0, 0])
      yield* waits("deferred", 0, 90)
      yield* waits("queued", 3, 20)
      yield* waits("sending", 4, 30)
      yield* waits("deferred", 1, 40)
      assert.deepStrictEqual(yield* owed, [40, 2])
      yield* sql`select pause_email_queue('marketing', 'ann', true)`
      assert.deepStrictEqual(yield* owed, [0, 2])
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("conversions of every kind that failed, and what waits while nobody works", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const documents = Effect.map(measured, (counts) => counts.documents)
      yield* sql`insert into customers (id, email) values ('00000000-0000-0000-0000-0000000000c1', 'docs@x.test')`
      const file = (kind: string, status: string, minutes: number) =>
        Effect.map(
          sql<{
            readonly id: string
          }>`insert into files (customer_id, name, kind, size_bytes, pages, object_key, status, job_id, updated_at)
            values ('00000000-0000-0000-0000-0000000000c1', 'a', ${kind}, 1, 1, 'k', ${status}, gen_random_uuid(),
              now() - make_interval(mins => ${minutes})) returning id`,
          (rows) => rows[0]!.id
        )
      yield* file("docx", "failed", 1)
      yield* file("docx", "failed", 31)
      const pdf = yield* file("pdf", "uploaded", 1)
      yield* sql`insert into large_conversion_jobs (id, file_id, status, finished_at)
        values (gen_random_uuid(), ${pdf}::uuid, 'failed', now()), (gen_random_uuid(), ${pdf}::uuid, 'failed', now() - interval '1 hour')`
      yield* sql`insert into flyer_jobs (file_id, customer_id, status, error)
        values (${pdf}::uuid, '00000000-0000-0000-0000-0000000000c1', 'failed', 'broken'),
          (${pdf}::uuid, '00000000-0000-0000-0000-0000000000c1', 'failed', 'The user stopped the conversion')`
      yield* sql`insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, turn, step, outcome, reason, ended_at)
        values (gen_random_uuid(), 'a', 1, 'e@x.test', true, 't', 'ended', 'error', 'r', now()),
          (gen_random_uuid(), 'b', 1, 'e@x.test', true, 't', 'ended', 'unverified', 'r', now())`
      assert.deepStrictEqual(yield* documents, {
        ...NO_DOCUMENTS,
        failed: 4,
        mails: { ended: 2, unverified: 1 }
      })
      const waiting = yield* file("png", "processing", 40)
      // A row that comes with this status is taken for another program's work.
      yield* sql`update files set lease = null, heartbeat_at = null where id = ${waiting}::uuid`
      yield* sql`insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, turn, not_before)
        values (gen_random_uuid(), 'c', 1, 'e@x.test', true, 't', now() - interval '50 minutes')`
      const late = yield* documents
      assert.deepStrictEqual([late.waitingMinutes, late.mailWaitingMinutes], [40, 50])
      // Each failure of a part that is away moves the mail's time on.
      yield* sql`update intake_mails set not_before = now() + interval '10 minutes', failing_since = now() - interval '45 minutes'
        where raw_key = 'c'`
      assert.strictEqual((yield* documents).mailWaitingMinutes, 45)
      yield* sql`update files set lease = gen_random_uuid(), heartbeat_at = now() where id = ${waiting}::uuid`
      assert.strictEqual((yield* documents).waitingMinutes, 0)
      yield* sql`delete from files where id = ${waiting}::uuid`
      const job = Effect.fnUntraced(function* (status: string, minutes: number, beatMinutes: number | null) {
        yield* sql`insert into large_conversion_jobs (id, file_id, status) values (${pdf}::uuid, ${pdf}::uuid, ${status})
          on conflict (id) do update set status = excluded.status`
        yield* sql`update large_conversion_jobs set updated_at = now() - make_interval(mins => ${minutes}),
          heartbeat_at = now() - make_interval(mins => ${beatMinutes}::int) where id = ${pdf}::uuid`
        return (yield* documents).waitingMinutes
      })
      assert.deepStrictEqual(
        [
          yield* job("assembling", 45, null),
          yield* job("assembling", 45, 3),
          yield* job("completed", 45, null)
        ],
        [45, 45, 0]
      )
      // A worker that assembles, and one that is between two chunks, hold none.
      yield* sql`insert into convert_queue (job_id, file_id, customer_id, options, created_at)
        values (gen_random_uuid(), ${pdf}::uuid, '00000000-0000-0000-0000-0000000000c1', '{}', now() - interval '55 minutes')`
      assert.deepStrictEqual(
        [
          yield* job("completed", 0, null),
          yield* job("assembling", 45, 1),
          yield* job("processing", 1, null)
        ],
        [55, 0, 0]
      )
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("fail-overs of a quarter of an hour, each send once, notices of alarms never", () =>
    Effect.gen(function* () {
      yield* row(1, { failed_over: true })
      yield* row(2, {
        failed_over: true,
        idempotency_key: "deferred",
        outcome: "deferred",
        status: "deferred"
      })
      yield* row(1, { failed_over: true, idempotency_key: "deferred" })
      yield* row(3, { failed_over: true, outcome: "failed", status: "failed", provider_message_id: null })
      yield* row(14, { failed_over: true })
      yield* row(16, { failed_over: true })
      yield* row(1, { failed_over: true, source: "api:email-alarm" })
      yield* row(1)
      assert.strictEqual((yield* measured).failovers, 4)
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("what the fallback took, and what the provider before it took", () =>
    Effect.gen(function* () {
      for (const minutes of [1, 20, 31]) yield* row(minutes, { failed_over: true })
      yield* row(1)
      yield* row(2, { outcome: "failed", status: "failed", provider: "provider_a" })
      yield* row(2, { outcome: "deferred", status: "deferred", provider: "provider_a" })
      assert.deepStrictEqual((yield* measured).accepted, { byFallback: 2, byPrimary: 0 })
      yield* row(2, { provider: "provider_a" })
      assert.deepStrictEqual((yield* measured).accepted, { byFallback: 2, byPrimary: 1 })
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("what waits for a retry, and what failed without having been refused, each send once", () =>
    Effect.gen(function* () {
      const failed = { outcome: "failed", status: "failed", provider_message_id: null }
      const deferred = { outcome: "deferred", status: "deferred", provider_message_id: null }
      for (const minutes of [2, 14, 27]) yield* row(minutes, { ...deferred, idempotency_key: "k-1" })
      yield* row(3, { ...deferred, idempotency_key: "k-2" })
      // Moved on by an event: it was deferred nevertheless.
      yield* row(4, { ...deferred, idempotency_key: "k-3", status: "delivered" })
      yield* row(31, deferred)
      yield* row(1, { ...failed, error_kind: "ambiguous", idempotency_key: "k-1" })
      yield* row(5, { ...failed, error_kind: "unavailable" })
      yield* row(5, { ...failed, error_kind: "rejected" })
      yield* row(31, { ...failed, error_kind: "ambiguous" })
      yield* row(1, { ...failed, error_kind: "unavailable", source: "api:email-alarm" })
      assert.deepStrictEqual((yield* measured).unsettled, { deferred: 3, failed: 2 })
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("sends without look-up and claim, as their processes reported in the last half hour", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* sql`select note_unclaimed_email_sends(3)`
      yield* sql`update email_unclaimed_sends set noted_at = now() - interval '31 minutes'`
      assert.strictEqual((yield* measured).unclaimed, 0)
      for (const count of [1, 4]) yield* sql`select note_unclaimed_email_sends(${count}::int)`
      assert.strictEqual((yield* measured).unclaimed, 5)
      yield* sql`update email_unclaimed_sends set noted_at = now() - interval '25 hours'`
      yield* sql`select note_unclaimed_email_sends(1)`
      assert.deepStrictEqual(yield* sql`select count(*)::int as n from email_unclaimed_sends`, [{ n: 1 }])
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("the deferrals whose retry is overdue, and nothing that was tried again", () =>
    Effect.gen(function* () {
      const deferred = (minutes: number, key: string, dueMinutesAgo: number, more = {}) =>
        row(minutes, {
          outcome: "deferred",
          status: "deferred",
          provider_message_id: null,
          key_hash: key,
          retry_at: new Date(Date.now() - dueMinutesAgo * 60_000),
          ...more
        })
      yield* deferred(18, "overdue", 16)
      yield* deferred(40, "overdue-since", 38)
      yield* deferred(28, "overdue-since", 18)
      yield* deferred(16, "soon", 14)
      yield* deferred(18, "moved-on", 16, { status: "delivered" })
      yield* deferred(49 * 60, "forgotten", 49 * 60 - 2)
      for (const outcome of ["sent", "failed", "suppressed", "deferred"]) {
        yield* deferred(18, outcome, 16)
        const again = { outcome, status: outcome, key_hash: outcome, retry_at: new Date() }
        yield* row(15, { provider_message_id: null, ...again })
      }
      // Of two calls that found no claim store, one was accepted: the other one's retry ends by that.
      yield* deferred(18, "accepted-first", 16)
      yield* row(19, { key_hash: "accepted-first" })
      // An earlier use's is no end of this one.
      yield* deferred(18, "used-again", 16)
      yield* row(24 * 60 + 19, { key_hash: "used-again" })
      // An event alone is no retry.
      yield* deferred(18, "told", 16)
      yield* row(15, { outcome: null, category: "unknown", key_hash: "told" })
      assert.strictEqual((yield* measured).overdue, 4)
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("clocks that are apart: a process's, as it noted, and the database's own, as its rows tell", () =>
    Effect.gen(function* () {
      const board = yield* AlarmBoard
      assert.closeTo(yield* board.clock, Date.now(), 60_000)
      yield* board.noteClock({ process: "one", differenceMs: -86_400_000 })
      yield* board.noteClock({ process: "two", differenceMs: 70_000 })
      assert.strictEqual((yield* measured).clocks.processOffMs, 86_400_000)
      const sql = yield* WriteSql
      yield* sql`update clock_differences set noted_at = noted_at - interval '4 minutes' where process = 'one'`
      assert.strictEqual((yield* measured).clocks.processOffMs, 70_000)
      // What is noted again replaces what was noted before, and what nobody notes any more goes.
      yield* sql`update clock_differences set noted_at = noted_at - interval '25 hours' where process = 'one'`
      yield* board.noteClock({ process: "two", differenceMs: 65_000 })
      assert.deepStrictEqual((yield* sql`select process, difference_ms from clock_differences`)[0], {
        process: "two",
        difference_ms: 65_000
      })
      yield* row(-60)
      assert.closeTo((yield* measured).clocks.databaseBackMs, 3_600_000, 60_000)
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("what became of a day's mail of provider_b", () =>
    Effect.gen(function* () {
      for (const status of ["sent", "delivered", "bounced", "bounced", "complained"])
        yield* row(60, { status })
      for (const status of ["failed", "deferred", "suppressed"]) yield* row(60, { status })
      yield* row(60, { status: "bounced", provider: "provider_a" })
      yield* row(25 * 60, { status: "bounced" })
      assert.deepStrictEqual((yield* measured).providerB, { sends: 5, bounced: 2, complained: 1 })
    }).pipe(Effect.provide(layerBoard))
  )

  it.live("the mails that no event is about since the newest one that has any", () =>
    Effect.gen(function* () {
      for (const minutes of [25 * 60, 90, 80, 40, 20]) yield* row(minutes)
      for (const minutes of [90, 80]) yield* row(minutes, { provider: "provider_a" })
      yield* row(70, { outcome: "failed", status: "failed" })
      assert.deepStrictEqual((yield* measured).silent, { provider_a: 2, provider_b: 3, postmark: 0 })
      yield* row(85, { last_event: "delivered", status: "delivered" })
      assert.deepStrictEqual((yield* measured).silent, { provider_a: 2, provider_b: 2, postmark: 0 })
      yield* row(5, { last_event: "sent", outcome: null, category: "unknown" })
      assert.deepStrictEqual((yield* measured).silent, { provider_a: 2, provider_b: 0, postmark: 0 })
    }).pipe(Effect.provide(layerBoard))
  )

  it.live.each(["provider_a", "postmark"] as const)(
    "the mails of %s since its webhook brought an event, whatever the poll found of them",
    (provider) =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const log = yield* DeliveryLog
        const silent = Effect.map(measured, (counts) => counts.silent[provider])
        for (const minutes of [90, 80, 40, 20]) {
          yield* row(minutes, { provider, last_event: "delivered", status: "delivered" })
        }
        assert.strictEqual(yield* silent, 3)
        yield* log.heard("provider_b")
        assert.strictEqual(yield* silent, 3)
        yield* log.heard(provider)
        assert.strictEqual(yield* silent, 0)
        yield* sql`update event_intakes set heard_at = now() - interval '85 minutes'`
        assert.strictEqual(yield* silent, 2)
        yield* sql`update event_intakes set heard_at = now() - interval '90 seconds'`
        yield* log.heard(provider)
        const late =
          yield* sql`select from event_intakes where provider = ${provider} and heard_at < now() - interval '60 seconds'`
        assert.lengthOf(late, 0, "noted each minute")
        yield* sql`update event_intakes set heard_at = now() - interval '85 minutes'`
        yield* Effect.all(
          Array.from({ length: 20 }, () => log.heard(provider)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* silent, 0)
      }).pipe(Effect.provide(layerBoard))
  )
})
