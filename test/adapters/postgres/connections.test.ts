import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import { isSqlError } from "effect/sql/SqlError"

import {
  SlowSql,
  layer as layerClients,
  layerSingle,
  ReadSql,
  SendSql,
  WriteSql
} from "../../../src/adapters/postgres/client.ts"
import * as MailStores from "../../../src/adapters/postgres/mail/mail-store.ts"
import { sqlState } from "../../../src/adapters/postgres/statement.ts"
import { KeyHash } from "../../../src/domain/ids.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"

/** More than any pool has connections. */
const STATEMENTS = 40

const READERS = 6
const READS = 600

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

/** Every connection of the other clients: two of shared reads, three of slow ones, six of writes. */
const CONNECTIONS = 11

/** Waits until the server works on a slow statement for each of them. */
const untilSlow = Effect.gen(function* () {
  const { url } = yield* TestDatabase
  const aside = yield* Layer.build(Layer.fresh(layerSingle({ url: Redacted.make(url) })))
  const slow = WriteSql.use(
    (sql) =>
      sql<{
        readonly found: number
      }>`select count(*)::int as found from pg_stat_activity where state = 'active' and query like 'select pg_sleep(30)%'`
  )
  yield* slow.pipe(
    Effect.repeat({
      until: ([row]) => row?.found === CONNECTIONS,
      schedule: Schedule.spaced("20 millis")
    }),
    Effect.provide(aside)
  )
})

layer(Layer.provideMerge(MailStores.layer, layerPostgres), { excludeTestServices: true })(
  "connections",
  (it) => {
    it.effect("what a send waits for is answered while all others are taken (P2, S7)", () =>
      Effect.gen(function* () {
        const mails = yield* MailStore
        const write = yield* WriteSql
        yield* write`insert into email_suppressions (email, reason) values ('gone@x.test', 'manual')`
        const taken = []
        for (const sql of [yield* ReadSql, yield* SlowSql, write])
          for (let at = 0; at < STATEMENTS; at += 1)
            taken.push(yield* Effect.forkChild(sql`select pg_sleep(30)`.pipe(Effect.exit)))
        yield* untilSlow
        const { suppressions } = yield* mails.begin({
          keyHash: KeyHash.make("00".repeat(32)),
          addresses: ["gone@x.test"],
          claim: undefined
        })
        assert.deepStrictEqual(
          suppressions.map(({ email }) => email),
          ["gone@x.test"]
        )
        for (const fiber of taken) assert.isUndefined(fiber.pollUnsafe())
        yield* Fiber.interruptAll(taken)
      })
    )
  }
)

layer(Layer.fresh(layerPostgres), { excludeTestServices: true })("shared connections", (it) => {
  it.effect("reads that overlap without a pause hold no answers", () =>
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const answers: Array<WeakRef<object>> = []
      let held = READS
      // While the answer of one comes, the server works on the other: the shared connection is never idle.
      const reader = Effect.gen(function* () {
        while (answers.length < READS) {
          const [row] = yield* sql`select pg_sleep(0.001)`
          answers.push(new WeakRef(row!))
          if (answers.length !== READS) continue
          // The others are still reading.
          collectGarbage()
          held = answers.filter((answer) => answer.deref() !== undefined).length
        }
      })
      yield* Effect.all(
        Array.from({ length: READERS }, () => reader),
        { concurrency: "unbounded" }
      )
      assert.isBelow(held, 10 * READERS)
    })
  )
})

layer(Layer.fresh(layerPostgres), { excludeTestServices: true })("a database that takes no writes", (it) => {
  it.effect("its sessions are replaced: they would stay so after a fail-over, or once it takes writes", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const admin = yield* WriteSql
      const database = admin.literal(new URL(url).pathname.slice(1))
      yield* admin`alter database ${database} set default_transaction_read_only = on`
      const clients = yield* Layer.build(Layer.fresh(layerClients({ url: Redacted.make(url) })))
      const all = [
        Context.get(clients, SendSql),
        Context.get(clients, ReadSql),
        Context.get(clients, SlowSql),
        Context.get(clients, WriteSql)
      ]
      const writes = all.flatMap((sql) => {
        const write = sql`create table if not exists written (at int)`
        return [write, sql.withTransaction(write)]
      })
      for (const write of writes) {
        const error = yield* Effect.flip(write)
        assert.strictEqual(isSqlError(error) ? sqlState(error) : error, "25006")
      }
      yield* admin`alter database ${database} reset default_transaction_read_only`
      // The first statement may still be of a session from before.
      for (const write of writes)
        yield* Effect.retry(write, Schedule.spaced("20 millis").pipe(Schedule.upTo({ times: 100 })))
      for (const write of writes) yield* write
    })
  )
})
