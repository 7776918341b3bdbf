import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerClients, layerPostgres } from "../../../support/postgres/postgres.ts"
import { untilFound } from "../../../support/until.ts"
import { makeQueueWorld } from "../../../support/worlds/queue-world.ts"

const request = (change: object = {}) => ({
  to: "a@x.test",
  subject: "Hello",
  text: "t",
  category: "transactional",
  source: "api:test",
  ...change
})

/** A second process on the same database. */
const beside = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, Layer.fresh(layerClients()))

const ended = (count: number) =>
  Effect.flatMap(WriteSql, (sql) =>
    untilFound(
      `${count} requests have ended`,
      Effect.map(
        sql<{
          readonly n: number
        }>`select count(*)::int as n from email_send_queue where ended_at is not null`,
        ([row]) => row?.n === count
      )
    )
  )

describe("the send queue under races", () => {
  it.live("Q1: two senders work off one queue, each mail once", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const one = yield* makeQueueWorld()
        const two = yield* beside(makeQueueWorld())
        for (const { scripts } of [one, two])
          scripts.provider_a.push("ambiguous-accepted", "unavailable", "ok", "ok", "unavailable")
        yield* one.enqueue.all(
          Array.from({ length: 300 }, (_, n) => request({ idempotencyKey: `order-${n}`, subject: `${n}` }))
        )
        yield* one.start
        yield* two.start
        const hurry = one.sql`update email_send_queue set due_at = now() where state in ('queued', 'deferred')`
        const hurrying = yield* Effect.forkScoped(Effect.forever(Effect.andThen(hurry, Effect.sleep(50))))
        yield* ended(300)
        yield* Fiber.interrupt(hurrying)
        const copies = [
          ...(yield* one.providers.provider_a.copies),
          ...(yield* two.providers.provider_a.copies)
        ]
        const byKey = Map.groupBy(copies, ({ body }) => body.subject)
        assert.strictEqual(byKey.size, 300)
        // Each world has a provider of its own: only the ambiguous attempts may have left both.
        assert.isAtMost(copies.length, 302)
        const states = yield* one.sql`select state, count(*)::int as n from email_send_queue group by state`
        assert.deepStrictEqual([...states], [{ state: "sent", n: 300 }])
        const rows =
          yield* one.sql`select count(*)::int as n, count(distinct key_hash)::int as keys from email_log`
        assert.deepStrictEqual(rows[0]?.["keys"], 300)
      })
    ).pipe(Effect.provide(layerPostgres))
  )

  it.live("Q2: a cancel that races the sender is answered cancelled, and the mail not sent, or neither", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const world = yield* makeQueueWorld()
        const queued = yield* world.enqueue.all(
          Array.from({ length: 200 }, (_, n) => request({ subject: `${n}`, idempotencyKey: `order-${n}` }))
        )
        yield* world.start
        const states = yield* Effect.forEach(queued.toReversed(), ({ id }) => world.queue.cancel(id), {
          concurrency: 8
        })
        yield* ended(200)
        const cancelled = states.filter((state) => state === "cancelled").length
        assert.lengthOf(yield* world.providers.provider_a.copies, 200 - cancelled)
        assert.isAbove(cancelled, 0)
      })
    ).pipe(Effect.provide(layerPostgres))
  )

  it.live(
    "Q2, Q3: who queues a key while its request is being cancelled gets one that the cancel does not end",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { enqueue, queue, sql } = yield* makeQueueWorld()
          const mail = request({ idempotencyKey: "order" })
          const first = yield* enqueue.one(mail)
          yield* sql`insert into email_send_claims
          (key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at)
          select key_hash, '', 'held', 'provider_a', false, true, 'direct', now() + interval '1 minute', now(), now() from email_send_queue`
          const waiting = (count: number) =>
            untilFound(
              `${count} statements wait`,
              // Else a transaction sees what it saw first.
              Effect.andThen(
                sql`select pg_stat_clear_snapshot()`,
                Effect.map(
                  sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
                  ({ length }) => length === count
                )
              )
            )
          // The cancel waits for what becomes of a direct send, whose refusal frees the key.
          const [cancelling, queueing] = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`update email_send_claims set state = 'refused', lease_until = null`
              const cancel = yield* Effect.forkScoped(
                beside(Effect.flatMap(makeQueueWorld(), (other) => other.queue.cancel(first.id)))
              )
              yield* waiting(1)
              const again = yield* Effect.forkScoped(
                beside(Effect.flatMap(makeQueueWorld(), (other) => other.enqueue.one(mail)))
              )
              yield* Effect.raceFirst(waiting(2), Fiber.await(again))
              return [cancel, again] as const
            })
          )
          assert.strictEqual(yield* Fiber.join(cancelling), "cancelled")
          const second = yield* Fiber.join(queueing)
          assert.notStrictEqual(second.id, first.id)
          assert.strictEqual((yield* queue.find(second.id))?.state, "queued")
        })
      ).pipe(Effect.provide(layerPostgres))
  )

  it.live(
    "of several batches under one key at once one is queued, and the others are conflicts (FRONT-8)",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeQueueWorld()
          const batchKeys = ["b/0", "b/1", "b/2"]
          const put = (size: number) => {
            const mails = batchKeys.slice(0, size).map((idempotencyKey) => request({ idempotencyKey }))
            return Effect.result(
              world.enqueue.all(mails, { allow: () => Effect.void, sender: undefined, batchKeys })
            )
          }
          const free = world.sql`update email_send_queue set state = 'cancelled', ended_at = now(), due_at = null,
          request = null, held_key = null where idempotency_key = 'b/0'`
          for (const isFirstFree of [false, true]) {
            const sizes = Array.from({ length: 24 }, (_, at) => (at % 3) + 1)
            const answers = yield* Effect.forEach(sizes, put, { concurrency: 12 })
            const taken = answers.flatMap((answer) => (Result.isSuccess(answer) ? [answer.success] : []))
            const [first = []] = taken
            assert.isNotEmpty(first)
            for (const one of taken) assert.deepStrictEqual(one, first)
            for (const [at, answer] of answers.entries())
              if (Result.isFailure(answer)) {
                assert.deepInclude(answer.failure, { _tag: "QueueRefused", why: "conflict" })
                assert.notStrictEqual(sizes[at], first.length)
              }
            const live = yield* world.sql`select from email_send_queue where held_key is not null`
            assert.lengthOf(live, first.length)
            // The second time the key of the first mail is free: a mail alone held the whole key, and any batch may take it.
            if (!isFirstFree) yield* free
          }
        })
      ).pipe(Effect.provide(layerPostgres))
  )

  it.live("one of many callers at once makes a key's request, and the others find it", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const world = yield* makeQueueWorld()
        const all = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => world.enqueue.one(request({ idempotencyKey: "one" })),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(all.map(({ id }) => id)).size, 1)
      })
    ).pipe(Effect.provide(layerPostgres))
  )

  it.live(
    "what a transaction queued that was open while others were sent is sent after its commit; a rolled-back one never",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeQueueWorld()
          const { sql } = world
          const mail = (subject: string) => JSON.stringify(request({ subject }))
          yield* Effect.ignore(
            sql.withTransaction(
              Effect.andThen(
                sql`select enqueue_email(${mail("rolled back")}::jsonb)`,
                Effect.fail("rolled back" as const)
              )
            )
          )
          yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`select enqueue_email(${mail("open")}::jsonb)`
              yield* beside(
                Effect.flatMap(makeQueueWorld(), (other) =>
                  Effect.gen(function* () {
                    yield* other.enqueue.all(
                      Array.from({ length: 500 }, (_, n) => request({ subject: `${n}` }))
                    )
                    yield* other.start
                    yield* ended(500)
                  })
                )
              )
            })
          )
          yield* world.start
          yield* ended(501)
          const copies = yield* world.providers.provider_a.copies
          assert.deepStrictEqual(
            copies.map(({ body }) => body.subject),
            ["open"]
          )
        })
      ).pipe(Effect.provide(layerPostgres))
  )

  it.live(
    "Q6: a claim reads as much of the index with 20,000 requests that wait for later as with none",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeQueueWorld()
          const { sql } = world
          const paces = JSON.stringify([
            { provider: "provider_a", rate: 0, least: 0, most: 0, primary: true }
          ])
          /** Pages that a claim of 20 requests reads, those of its functions included. */
          const reads = Effect.gen(function* () {
            yield* world.enqueue.all(Array.from({ length: 20 }, () => request()))
            const [row] = yield* sql<{
              readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Record<string, number> }>
            }>`
            explain (analyze, buffers, format json) select * from take_queued_emails(${paces}::jsonb, 20, interval '1 minute')`
            const plan = row?.["QUERY PLAN"][0]?.Plan ?? {}
            assert.strictEqual(plan["Actual Rows"], 21)
            return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0)
          })
          yield* reads
          const few = yield* reads
          yield* sql`insert into email_send_queue (idempotency_key, key_hash, request_hash, category, lane, send_at, due_at, request)
          select 'later ' || n, 'later ' || n, '', 'auth', 1, now() + interval '1 day', now() + interval '1 day', '{}'
          from generate_series(1, 20000) as n`
          const many = yield* reads
          assert.isAtMost(many, few * 1.5)
        })
      ).pipe(Effect.provide(layerPostgres))
  )
})
