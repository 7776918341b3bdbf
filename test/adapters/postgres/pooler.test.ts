import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"

import {
  layer,
  layerSingle,
  layerSqlClient,
  ReadSql,
  WriteSql
} from "../../../src/adapters/postgres/client.ts"
import { migrate } from "../../../src/adapters/postgres/migrator.ts"
import { MIGRATIONS } from "../../../src/runtime/process/package.ts"
import { layerEmptyDatabase, TestDatabase } from "../../support/postgres/postgres.ts"
import { startTransactionPooler } from "../../support/postgres/transaction-pooler.ts"
import { runChild } from "../../support/processes/child.ts"

/** Fewer than there are clients, so that everybody shares them. */
const SERVER_CONNECTIONS = 3

/** An empty database behind a pooler, migrated through it. */
const pooled = Effect.gen(function* () {
  const { url: direct } = yield* TestDatabase
  const pooler = yield* Effect.acquireRelease(
    Effect.promise(() => startTransactionPooler(Number(new URL(direct).port), SERVER_CONNECTIONS)),
    ({ close }) => Effect.promise(close)
  )
  const url = new URL(direct)
  url.port = String(pooler.port)
  const options = { url: Redacted.make(url.href), prepare: false }
  yield* Effect.provide(
    migrate(MIGRATIONS),
    Layer.provideMerge(Layer.provideMerge(layerSqlClient, layerSingle(options)), NodeServices.layer)
  )
  return { pooler, direct, url: url.href, options }
})

const LIMITS = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "jit"]

describe("behind a pooler in transaction mode", () => {
  it.live("the limits are the role's, and those that an operator chose stay", () =>
    Effect.gen(function* () {
      const { direct, options } = yield* pooled
      // Each in a session that began after the limits were set.
      const limits = Effect.gen(function* () {
        const sql = yield* WriteSql
        const rows = yield* sql`select current_setting(name) as value from unnest(${LIMITS}::text[]) as name`
        return rows.map(({ value }) => value)
      }).pipe(Effect.provide(Layer.fresh(layerSingle({ url: Redacted.make(direct) }))))
      assert.deepStrictEqual(yield* limits, ["15s", "5s", "30s", "off"])
      const again = Effect.gen(function* () {
        const sql = yield* WriteSql
        const [row] = yield* sql`select current_database() as name`
        yield* sql.unsafe(
          `alter role session_user in database "${String(row?.["name"])}" set lock_timeout = '9s'`
        )
        yield* migrate(MIGRATIONS)
      })
      yield* Effect.provide(
        again,
        Layer.provideMerge(Layer.provideMerge(layerSqlClient, layerSingle(options)), NodeServices.layer)
      )
      assert.deepStrictEqual(yield* limits, ["15s", "9s", "30s", "off"])
    }).pipe(Effect.scoped, Effect.provide(layerEmptyDatabase))
  )

  it.live("transactions, statements of many fibers and interrupted ones get their own answers", () =>
    Effect.gen(function* () {
      const { options } = yield* pooled
      const client = Effect.gen(function* () {
        const [read, write] = [yield* ReadSql, yield* WriteSql]
        const transfer = (n: number) =>
          write.withTransaction(
            Effect.gen(function* () {
              yield* write`select set_config('postlane.mine', ${String(n)}, true)`
              yield* write`select pg_sleep(0.002)`
              return yield* write`select current_setting('postlane.mine') as mine`
            })
          )
        yield* Effect.forEach(
          Array.from({ length: 30 }, (_, n) => n),
          (n) =>
            Effect.gen(function* () {
              assert.deepStrictEqual(yield* transfer(n), [{ mine: String(n) }])
              assert.deepStrictEqual(yield* read`select ${n}::int as n`, [{ n }])
              if (n % 10 === 0) yield* Effect.timeoutOption(write`select pg_sleep(30)`, "20 millis")
            }),
          { concurrency: 20, discard: true }
        )
      }).pipe(Effect.provide(Layer.fresh(layer(options))))
      yield* Effect.all([client, client, client], { concurrency: 3 })
    }).pipe(Effect.scoped, Effect.provide(layerEmptyDatabase))
  )

  it.live("npm run serve starts, leads and is ready, and warns of a session without limits", () =>
    Effect.gen(function* () {
      const { url } = yield* pooled
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          runChild("src/runtime/entries/serve.ts", [], {
            PORT: "0",
            POSTLANE_ROLES: "api,leader,retry",
            PROVIDERA_API_KEY: "re_pooled",
            PROXY_SHARED_SECRET: "secret",
            EMAIL_DEFER_QUEUE_URL: "postgres:email-defer",
            DB_URL: url,
            DB_SECRET_KEY: "unused",
            DB_PREPARE: "0"
          })
        ),
        ({ destroy }) => Effect.promise(destroy)
      )
      const base = yield* Effect.promise(() => child.line((line) => /"url":"([^"]+)"/.exec(line)?.[1]))
      yield* Effect.promise(() => child.line((line) => /this process leads/.exec(line)?.[0]))
      // The pooler's session is older than the limits, as one of a role that they were not set for would be.
      assert.include(child.lines.join("\n"), "the role of DB_URL has no statement_timeout")
      const ready = yield* Effect.promise(async () => (await fetch(`${base}/ready`)).text())
      assert.match(ready, /"database":\s*"?\{?[^}]*ok/)
    }).pipe(Effect.scoped, Effect.provide(layerEmptyDatabase))
  )
})
