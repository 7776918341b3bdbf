import { assert, describe, it } from "@effect/vitest"
import {
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Option,
  Queue,
  Redacted,
  Schedule,
  Schema,
  Scope
} from "effect"
import type { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"

import { layer as layerClients, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer, QueueName } from "../../../../src/adapters/postgres/mail/defer-queue.ts"
import { DeferQueue } from "../../../../src/ports/mail/defer-queue.ts"
import { deferredSend, suite } from "../../../contracts/mail/defer-queue.ts"
import { layerDatabase, TestDatabase } from "../../../support/postgres/postgres.ts"
import { killAfterFirstLine } from "../../../support/processes/killed-process.ts"
import { startTcpProxy } from "../../../support/processes/tcp-proxy.ts"

const scope = Scope.makeUnsafe()
let url = ""
let admin: SqlClient.SqlClient
let serial = 0

/** The application's client, with a pool of its own; parts of the database's address can differ. */
const connect = (parts: Partial<Pick<URL, "username" | "port">> = {}, database = url) => {
  const address = Object.assign(new URL(database), parts)
  return Layer.build(Layer.fresh(layerClients({ url: Redacted.make(address.href) }))).pipe(
    Effect.map(Context.get(WriteSql)),
    Effect.orDie
  )
}

const makeDatabase = Layer.build(Layer.fresh(layerDatabase)).pipe(
  Effect.map((context) => Context.get(context, TestDatabase).url)
)

beforeAll(async () => {
  url = await Effect.runPromise(Scope.provide(makeDatabase, scope))
  admin = await Effect.runPromise(Scope.provide(connect(), scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const freshName = () => QueueName.make(`test-${process.pid}-${++serial}`)

const open = (sql: SqlClient.SqlClient, name: QueueName, visibilitySeconds = 30) =>
  Layer.build(
    Layer.fresh(layer({ name, visibilitySeconds })).pipe(Layer.provide(Layer.succeed(WriteSql, sql)))
  ).pipe(Effect.map(Context.get(DeferQueue)))

suite(
  "PostgreSQL",
  ({ visibilitySeconds }) =>
    Effect.gen(function* () {
      const name = freshName()
      const sql = yield* connect()
      return {
        queue: yield* open(sql, name, visibilitySeconds),
        second: yield* open(yield* connect(), name, visibilitySeconds),
        inject: (body: string) =>
          sql`
            INSERT INTO email_defer_queue (id, queue_name, element, state, visible_at, created_at, updated_at)
            VALUES (gen_random_uuid()::text, ${name}, ${body}, 'pending', NOW(), NOW(), NOW())
          `.pipe(Effect.orDie, Effect.asVoid),
        killHolder: killAfterFirstLine("test/adapters/postgres/mail/defer-queue-holder.ts", {
          QUEUE_NAME: name,
          DATABASE_URL: url,
          VISIBILITY_SECONDS: String(visibilitySeconds)
        })
      }
    }),
  { dedupes: true, virtualTime: false, knowsConsumers: true }
)

describe.concurrent("DeferQueue (PostgreSQL), in trouble", () => {
  const quiet = Effect.provide(Logger.layer([]))

  /** A consumer that reports what it handled; started anew when it fails, as a supervisor does. */
  const supervised = (queue: DeferQueue["Service"]) =>
    Effect.gen(function* () {
      const handled = yield* Queue.unbounded<string>()
      let failures = 0
      yield* queue
        .consume((message) => Queue.offer(handled, message.rowId).pipe(Effect.asVoid), { concurrency: 2 })
        .pipe(
          Effect.tapError(() => Effect.sync(() => failures++)),
          Effect.retry(Schedule.spaced("100 millis")),
          Effect.forkScoped
        )
      return { next: Queue.take(handled), failures: () => failures }
    })

  it.live("runs for a role that may create nothing", () =>
    Effect.gen(function* () {
      const role = `queue_user_${process.pid}`
      yield* admin`CREATE ROLE ${admin(role)} LOGIN IN ROLE service_role BYPASSRLS`
      yield* Effect.addFinalizer(() => Effect.orDie(admin`DROP ROLE ${admin(role)}`))
      const sql = yield* connect({ username: role })
      const refused = yield* Effect.flip(sql`CREATE TABLE forbidden (id integer)`)
      assert.strictEqual(refused.reason._tag, "AuthorizationError")
      const queue = yield* open(sql, freshName())
      const consumer = yield* supervised(queue)
      yield* queue.enqueue(deferredSend("mine"), 0)
      assert.strictEqual(yield* consumer.next, "mine")
      assert.strictEqual(consumer.failures(), 0)
    }).pipe(quiet)
  )

  it.live("goes on after its connections were cut", () =>
    Effect.gen(function* () {
      const database = yield* makeDatabase
      const queue = yield* open(yield* connect({}, database), freshName())
      const consumer = yield* supervised(queue)
      yield* queue.enqueue(deferredSend("before"), 0)
      assert.strictEqual(yield* consumer.next, "before")
      const cut = yield* admin`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${new URL(database).pathname.slice(1)}
      `
      assert.isNotEmpty(cut)
      yield* queue.enqueue(deferredSend("after"), 0)
      assert.strictEqual(yield* consumer.next, "after")
    }).pipe(quiet)
  )

  it.live("goes on although its connections are half-open, at the latest when it is started anew", () =>
    Effect.gen(function* () {
      const proxy = yield* startTcpProxy(Number(new URL(url).port))
      const name = freshName()
      const queue = yield* open(yield* connect({ port: String(proxy.port) }), name)
      yield* Effect.addFinalizer(() => proxy.setRefusing(true))
      const consumer = yield* supervised(queue)
      yield* queue.enqueue(deferredSend("before"), 0)
      assert.strictEqual(yield* consumer.next, "before")
      yield* proxy.freeze
      yield* (yield* open(admin, name)).enqueue(deferredSend("after"), 0)
      assert.strictEqual(yield* consumer.next, "after")
    }).pipe(quiet)
  )

  it.live(
    "finishes what is under way before it fails, when the database goes away, without a line for each poll",
    () =>
      Effect.gen(function* () {
        const lines: Array<string> = []
        const collect = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
        const proxy = yield* startTcpProxy(Number(new URL(url).port))
        const queue = yield* open(yield* connect({ port: String(proxy.port) }), freshName(), 3)
        const started = yield* Deferred.make<void>()
        const finished = yield* Deferred.make<Exit.Exit<void>>()
        const consumer = yield* queue
          .consume(
            () =>
              Deferred.succeed(started, undefined).pipe(
                Effect.andThen(Effect.logInfo("at work")),
                Effect.andThen(Effect.sleep("12 seconds")),
                Effect.onExit((exit) => Deferred.succeed(finished, exit))
              ),
            { concurrency: 2 }
          )
          .pipe(Effect.provide(collect), Effect.forkScoped)
        yield* queue.enqueue(deferredSend("slow"), 0)
        yield* Deferred.await(started)
        yield* proxy.setRefusing(true)
        const outcome = yield* Fiber.await(consumer)
        assert.isTrue(Exit.isFailure(outcome))
        assert.deepStrictEqual(yield* Deferred.await(finished), Exit.void)
        assert.include(lines, "at work")
        assert.notInclude(lines, "")
      }).pipe(quiet)
  )

  it.live("fails to enqueue while the database is away, within its time limit, and nothing else", () =>
    Effect.gen(function* () {
      const proxy = yield* startTcpProxy(Number(new URL(url).port))
      yield* proxy.setRefusing(true)
      const queue = yield* open(yield* connect({ port: String(proxy.port) }), freshName())
      yield* Effect.addFinalizer(() => proxy.setRefusing(true))
      assert.strictEqual(
        (yield* Effect.flip(queue.enqueue(deferredSend("x"), 0))).reason,
        "The retry queue failed to enqueue"
      )
      assert.strictEqual((yield* Effect.flip(queue.check)).reason, "The retry queue failed to answer")
      yield* proxy.setRefusing(false)
      yield* queue.enqueue(deferredSend("x"), 0)
      yield* queue.check
      yield* proxy.freeze
      assert.strictEqual(
        (yield* Effect.flip(queue.enqueue(deferredSend("y"), 0))).reason,
        "The retry queue took too long to enqueue"
      )
    }).pipe(quiet)
  )

  it.live(
    "D1 D2: keeps its waits when the database's clock goes back: none is longer, and none is cut short",
    () =>
      Effect.gen(function* () {
        const name = freshName()
        const queue = yield* open(yield* connect(), name, 1)
        const from = Date.now()
        yield* queue.enqueue(deferredSend("soon"), 3)
        yield* queue.enqueue(deferredSend("late"), 900)
        yield* queue.enqueue(deferredSend("held"), 0)
        yield* queue.enqueue(deferredSend("old"), 3)
        // To the messages, a clock that goes back an hour is as if they had been written an hour later.
        const hour = admin`INTERVAL '1 hour'`
        yield* admin`UPDATE email_defer_queue SET created_at = created_at + ${hour}, updated_at = updated_at + ${hour},
          visible_at = visible_at + ${hour} WHERE queue_name = ${name} AND id <> 'old'`
        yield* admin`UPDATE email_defer_queue SET acquired_at = NOW() + ${hour}, acquired_by = gen_random_uuid(), attempts = 1
          WHERE queue_name = ${name} AND id = 'held'`
        const consumer = yield* supervised(queue)
        const seen = [yield* consumer.next, yield* consumer.next, yield* consumer.next]
        assert.sameMembers(seen, ["soon", "held", "old"])
        assert.isAtLeast(Date.now() - from, 2_990)
        const [late] = yield* admin<{ readonly seconds: number }>`
          SELECT extract(epoch FROM visible_at - NOW())::float8 AS seconds FROM email_defer_queue
          WHERE queue_name = ${name} AND id = 'late'`
        assert.isAtMost(late!.seconds, 900)
        assert.isAbove(late!.seconds, 800)
      }).pipe(quiet)
  )

  it.live("forgets finished messages after a day, dead letters never", () =>
    Effect.gen(function* () {
      const name = freshName()
      for (const [state, age] of [
        ["completed", 25],
        ["completed", 23],
        ["failed", 1_000]
      ] as const) {
        yield* admin`
          INSERT INTO email_defer_queue (id, queue_name, element, state, visible_at, created_at, updated_at)
          SELECT ${`${state}-${age}`}, ${name}, '{}', ${state}, t, t, t FROM (SELECT NOW() - ${age}::int * INTERVAL '1 hour' AS t) AS aged
        `
      }
      const queue = yield* open(yield* connect(), name)
      yield* supervised(queue)
      const left = yield* admin<{ id: string }>`
        SELECT id FROM email_defer_queue WHERE queue_name = ${name} ORDER BY id
      `.pipe(Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (rows) => rows.length < 3 }))
      assert.deepStrictEqual(
        left.map(({ id }) => id),
        ["completed-23", "failed-1000"]
      )
    }).pipe(quiet)
  )

  it("knows a queue's name from anything else", () => {
    const decode = Schema.decodeUnknownOption(QueueName)
    for (const name of ["email-defer", "a", "A.b_c-9", "x".repeat(100)])
      assert.isTrue(Option.isSome(decode(name)), name)
    for (const name of ["", "-a", "a b", "a;b", "é", "a\n", "x".repeat(101)])
      assert.isTrue(Option.isNone(decode(name)), name)
  })
})
