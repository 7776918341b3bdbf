import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"

import { connectionsOf, layerSingle, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { requireMigrated } from "../../../src/runtime/compose/database/database-start.ts"
import { layerDatabase, layerEmptyDatabase, TestDatabase } from "../../support/postgres/postgres.ts"
import { startTransactionPooler } from "../../support/postgres/transaction-pooler.ts"
import { type Child, makeFolder, runChild } from "../../support/processes/child.ts"
import { until } from "../../support/until.ts"

/** A command in a process of its own, which is killed with the scope. */
const command = (
  name: "start" | "serve" | "migrate",
  env: Readonly<Record<string, string>>,
  folder = "src/runtime/entries"
) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      runChild(`${folder}/${name}.ts`, [], { PORT: "0", SMTP_PORT: "0", SUBMISSION_PORT: "0", ...env })
    ),
    ({ destroy }) => Effect.promise(destroy)
  )

const folder = Effect.map(
  Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) => Effect.promise(remove)),
  ({ path }) => path
)

/** What a command that cannot start tells, and that it ends with code 1. */
const refusalOf = (child: Child) =>
  Effect.map(
    Effect.promise(() => child.ended),
    (ended) => {
      assert.deepStrictEqual(ended, { code: 1, signal: null }, child.errors())
      assert.notInclude(child.errors(), "    at ", "a stack does not help the operator")
      return child.errors()
    }
  )

const COMPLETE = { PROVIDERA_API_KEY: "re_start", PROXY_SHARED_SECRET: "secret", DB_SECRET_KEY: "db-secret" }

const listening = async (server: Server, port = 0) => {
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  return server
}

const freePort = async () => {
  const server = await listening(createServer())
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** Hands connections on to another port. */
const forward = (from: number, to: number) =>
  listening(
    createServer((socket) => {
      const onward = connect(to, "127.0.0.1")
      for (const one of [socket, onward])
        one.on("error", () => void [socket, onward].map((end) => end.destroy()))
      socket.pipe(onward).pipe(socket)
    }),
    from
  )

/** PostgreSQL's answer to a wrong password. */
const REFUSED = (() => {
  const fields = Buffer.from("SFATAL\0VFATAL\0C28P01\0Mno such password\0\0")
  const head = Buffer.from("E\0\0\0\0")
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
})()

/** Credentials for an object store that nobody runs. */
const NO_STORE = {
  CLOUD_ACCESS_KEY_ID: "AK",
  CLOUD_SECRET_ACCESS_KEY: "cloud-secret",
  S3_ENDPOINT: "http://127.0.0.1:1"
}

describe.concurrent("the start", () => {
  it.live("npm run serve names every setting that is wrong or missing, at once", () =>
    Effect.gen(function* () {
      const child = yield* command("serve", { SMTP_PORT: "many" })
      const refusal = yield* refusalOf(child)
      for (const name of ["SMTP_PORT", "DB_URL", "PROVIDERA_API_KEY", "PROXY_SHARED_SECRET"]) {
        assert.strictEqual(refusal.split(`\n  ${name} `).length, 2, `${name} in ${refusal}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "npm run serve waits for a database that is down, alive and not ready, and says where it looked",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const real = Number(new URL(url).port)
        const port = yield* Effect.promise(freePort)
        const DB_URL = Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href
        const child = yield* command("serve", { ...COMPLETE, ...NO_STORE, DB_URL })
        const met = yield* Effect.promise(() =>
          child.line((line) => /cannot be reached: [^"]*/.exec(line)?.[0])
        )
        assert.include(met, `cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`)
        assert.notInclude(met, COMPLETE.DB_SECRET_KEY)
        const base = /http:[^ ]*(?=\/ready)/.exec(met)?.[0] ?? ""
        const statusOf = (path: string) => Effect.promise(async () => (await fetch(base + path)).status)
        assert.deepStrictEqual(yield* Effect.all([statusOf("/health"), statusOf("/ready")]), [200, 503])
        yield* Effect.acquireRelease(
          Effect.promise(() => forward(port, real)),
          (server) => Effect.sync(() => server.close())
        )
        const started = yield* Effect.promise(() => child.line((line) => /"url":"([^"]+)"/.exec(line)?.[1]))
        assert.strictEqual(started, base)
        assert.strictEqual(yield* statusOf("/health"), 200)
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live("npm run serve ends where the database refuses its password", () =>
    Effect.gen(function* () {
      const refusing = yield* Effect.acquireRelease(
        Effect.promise(() =>
          listening(createServer((socket) => socket.once("data", () => socket.end(REFUSED))))
        ),
        (server) => Effect.sync(() => server.close())
      )
      const { port } = refusing.address() as AddressInfo
      const DB_URL = `postgres://postgres@127.0.0.1:${port}/mail`
      const child = yield* command("serve", { ...COMPLETE, DB_URL })
      assert.include(yield* refusalOf(child), `127.0.0.1:${port}/mail cannot be reached: no such password`)
    }).pipe(Effect.scoped)
  )

  for (const [title, mode, servers, refusal] of [
    ["in statement mode", "statement", 20, "The pooler at 127.0.0.1:PORT/DB does not keep transactions"],
    [
      "with three connections",
      "session",
      3,
      `127.0.0.1:PORT/DB gives this process 3 connections at once, and it uses up to ${connectionsOf({ url: Redacted.make("") })}`
    ]
  ] as const) {
    it.live(`npm run serve behind a pooler ${title} says so in one line`, () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const pooler = yield* Effect.acquireRelease(
          Effect.promise(() => startTransactionPooler(Number(new URL(url).port), servers, mode)),
          ({ close }) => Effect.promise(close)
        )
        const behind = Object.assign(new URL(url), { port: String(pooler.port) })
        const child = yield* command("serve", { ...COMPLETE, ...NO_STORE, DB_URL: behind.href })
        const said = refusal.replace("PORT", String(pooler.port)).replace("/DB", behind.pathname)
        const told = (yield* refusalOf(child)).trim().split("\n")
        assert.lengthOf(told, 1)
        assert.include(told[0], said)
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
    )
  }

  it.live("npm start and npm run serve on a read-only database say so in one line", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const name = new URL(url).pathname.slice(1)
      yield* WriteSql.use(
        (sql) => sql.unsafe(`alter database ${name} set default_transaction_read_only = on`).unprepared
      ).pipe(Effect.provide(layerSingle({ url: Redacted.make(url) })))
      const dataDir = yield* folder
      const serve = yield* command("serve", { ...COMPLETE, ...NO_STORE, DB_URL: url })
      const start = yield* command("start", { DB_URL: url, POSTLANE_DATA_DIR: dataDir })
      for (const child of [serve, start]) {
        const told = (yield* refusalOf(child)).trim().split("\n")
        assert.lengthOf(told, 1)
        assert.include(told[0], `/${name} is read-only (default_transaction_read_only is on)`)
      }
    }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  for (const [setting, value, needed] of [
    ["default_transaction_isolation", "serializable", "read committed"],
    ["default_transaction_isolation", "repeatable read", "read committed"],
    ["standard_conforming_strings", "off", "on"]
  ] as const)
    it.live(
      `npm run serve and the library refuse sessions with ${setting} = ${value}, and say what helps`,
      () =>
        Effect.gen(function* () {
          const { url } = yield* TestDatabase
          const name = new URL(url).pathname.slice(1)
          const admin = (text: string) =>
            WriteSql.use((sql) => sql.unsafe(text).unprepared).pipe(
              Effect.provide(Layer.fresh(layerSingle({ url: Redacted.make(url) })))
            )
          yield* admin(`alter database ${name} set ${setting} = '${value}'`)
          const serve = yield* command("serve", { ...COMPLETE, ...NO_STORE, DB_URL: url })
          const [told = "", ...more] = (yield* refusalOf(serve)).trim().split("\n")
          assert.deepStrictEqual(more, [])
          assert.include(told, `${setting} = ${value}, and its functions need ${needed}`)
          const remedy = /alter role .+? = '[^']+'/.exec(told)?.[0] ?? ""
          // A function on AWS, too, asks this first.
          const look = requireMigrated({ url: Redacted.make(url) })
          assert.include((yield* Effect.flip(look)).message, remedy)
          yield* admin(remedy)
          yield* look
        }).pipe(Effect.scoped, Effect.provide(layerDatabase))
    )

  it.live("a look at the migrations that the server breaks off may be repeated", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const admin = Layer.fresh(layerSingle({ url: Redacted.make(url) }))
      const error = yield* WriteSql.use((sql) =>
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`lock table postlane_migrations in access exclusive mode`
            const looking = yield* Effect.forkScoped(
              Effect.flip(requireMigrated({ url: Redacted.make(url) }))
            )
            yield* Effect.promise(() =>
              until("the look waits, and is broken off", async () => {
                const rows = await Effect.runPromise(
                  WriteSql.use(
                    (own) => own`select pg_terminate_backend(pid) from pg_locks
                      where relation = 'postlane_migrations'::regclass and not granted`
                  ).pipe(Effect.provide(Layer.fresh(layerSingle({ url: Redacted.make(url) }))))
                )
                return rows.length > 0
              })
            )
            return yield* Fiber.join(looking)
          })
        )
      ).pipe(Effect.provide(admin))
      assert.strictEqual(error.mayPass, true, error.message)
      yield* requireMigrated({ url: Redacted.make(url) })
    }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live("npm run serve is not ready while the database has no room for a row", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const child = yield* command("serve", { ...COMPLETE, ...NO_STORE, DB_URL: url })
      const base = yield* Effect.promise(() => child.line((line) => /"url":"([^"]+)"/.exec(line)?.[1]))
      const answers = (wanted: number) =>
        Effect.promise(() =>
          until(`/ready answers ${wanted}`, async () => (await fetch(`${base}/ready`)).status === wanted)
        )
      yield* answers(200)
      const sql = (text: string) =>
        WriteSql.use((client) => client.unsafe(text).unprepared).pipe(
          Effect.provide(Layer.fresh(layerSingle({ url: Redacted.make(url) })))
        )
      yield* sql(`create function no_room() returns trigger language plpgsql as
          $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`)
      for (const table of ["email_send_claims", "email_log", "readiness_checks"]) {
        yield* sql(
          `create trigger full_disk before insert on ${table} for each row execute function no_room()`
        )
        yield* answers(503)
        yield* sql(`drop trigger full_disk on ${table}`)
        yield* answers(200)
      }
      const left = yield* sql("select from email_log union all select from email_send_claims")
      assert.lengthOf(left, 0)
    }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live(
    "npm start and npm run serve on a database that is not migrated name the command, and neither migrates it",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const dataDir = yield* folder
        const serve = yield* command("serve", { ...COMPLETE, DB_URL: url }, "./src/runtime/entries")
        const start = yield* command(
          "start",
          { DB_URL: url, POSTLANE_DATA_DIR: dataDir },
          "./src/runtime/entries"
        )
        for (const child of [serve, start]) {
          assert.match(
            yield* refusalOf(child),
            /lacks \d+ migration\(s\)\. Apply them with: npm run migrate\n/
          )
        }
        const migrate = yield* command("migrate", { DB_URL: url })
        assert.deepStrictEqual(yield* Effect.promise(() => migrate.ended), { code: 0, signal: null })
        assert.match(migrate.lines.join("\n"), /: applied /)
        const again = yield* command("serve", { ...COMPLETE, ...NO_STORE, DB_URL: url })
        const base = yield* Effect.promise(() => again.line((line) => /"url":"([^"]+)"/.exec(line)?.[1]))
        yield* Effect.promise(() =>
          until("/ready answers 200", async () => (await fetch(`${base}/ready`)).status === 200)
        )
        // Who takes no mails in may have no store for them: it is not asked.
        assert.notMatch(again.lines.join("\n"), /store of mails/)
      }).pipe(Effect.scoped, Effect.provide(layerEmptyDatabase))
  )

  it.live(
    "npm start twice on one data folder: the second names the folder and the first, which goes on",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* folder
        const first = yield* command("start", { POSTLANE_DATA_DIR: dataDir })
        const url = yield* Effect.promise(() => first.line((line) => /API +(http:\S+)/.exec(line)?.[1]))
        const second = yield* command("start", { POSTLANE_DATA_DIR: dataDir })
        const refusal = yield* refusalOf(second)
        assert.include(refusal, `already uses the data folder ${dataDir}`)
        assert.include(refusal, "POSTLANE_DATA_DIR")
        const ready = yield* Effect.promise(() => fetch(`${url}/ready`))
        assert.strictEqual(ready.status, 200)
        // The system chose the port, and links in mails lead to it.
        const claim = {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: '{"email":"ann@x.test"}'
        }
        yield* Effect.promise(() => fetch(`${url}/api/promo/welcome/claim`, claim))
        const outbox = yield* Effect.promise(async () => (await fetch(`${url}/dev/outbox`)).text())
        const id = /"id":"([^"]+)"/.exec(outbox)?.[1]
        const mail = yield* Effect.promise(async () => (await fetch(`${url}/dev/outbox/${id}`)).text())
        assert.include(mail, `${url}/auth/magic`)
        first.signal("SIGTERM")
        assert.deepStrictEqual(yield* Effect.promise(() => first.ended), { code: 0, signal: null })
      }).pipe(Effect.scoped)
  )
})
