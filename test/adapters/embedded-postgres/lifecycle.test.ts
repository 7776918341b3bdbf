import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, statSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"

import { EmbeddedPostgres } from "../../../src/adapters/embedded-postgres/embedded-postgres.ts"
import {
  isAlive,
  isRoot,
  patience,
  query,
  serverPid,
  temporaryFolder,
  untilStatus,
  withServer,
  signalAndWait,
  startProgram
} from "./harness.ts"

/** Takes a port on loopback for as long as the scope is open. */
const listenOn = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const listener = createServer().listen(port, "127.0.0.1", () => resume(Effect.succeed(listener)))
    }),
    (listener) => Effect.sync(() => void listener.close())
  )

/** A program that only has a server's name, run by the cluster's owner; its process id. Killed with the scope. */
const otherProgram = (cluster: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const { gid, uid } = statSync(cluster)
        const child = spawn("sleep", ["60"], {
          argv0: "postgres",
          stdio: "ignore",
          ...(isRoot ? { gid, uid } : {})
        })
        await once(child, "spawn")
        return child
      }),
      (child) => Effect.sync(() => void child.kill("SIGKILL"))
    ),
    ({ pid }) => pid ?? assert.fail("no process id")
  )

const useOnce = Effect.gen(function* () {
  const { cluster, url } = yield* EmbeddedPostgres
  return { cluster, pid: serverPid(cluster), url: Redacted.value(url) }
})

const checkpointerPid = Effect.map(
  query("select pid from pg_stat_activity where backend_type = 'checkpointer'"),
  ([row]) => Number(row?.["pid"])
)

describe("an embedded PostgreSQL", () => {
  it.live(
    "starts on a new folder with safe settings, stops with its scope, and keeps data and URL for the next start",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const first = yield* withServer(
          folder,
          Effect.gen(function* () {
            const names = [
              "fsync",
              "synchronous_commit",
              "max_connections",
              "listen_addresses",
              "server_encoding"
            ]
            const settings = names.map((name) => `current_setting('${name}') as ${name}`).join(", ")
            assert.deepStrictEqual(yield* query(`select ${settings}, lower('É') as lower`), [
              {
                fsync: "on",
                synchronous_commit: "on",
                max_connections: "100",
                listen_addresses: "127.0.0.1",
                server_encoding: "UTF8",
                lower: "é"
              }
            ])
            yield* query("create table kept as select 7 as n")
            return yield* useOnce
          })
        )
        assert.isFalse(isAlive(first.pid))
        assert.match(first.url, /^postgres:\/\/postlane:[0-9a-f]{64}@127\.0\.0\.1:\d+\/postlane$/)
        assert.strictEqual(statSync(join(folder, "postgres", "connection.json")).mode & 0o777, 0o600)
        const second = yield* withServer(
          folder,
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* query("select n from kept"), [{ n: 7 }])
            return yield* useOnce
          })
        )
        assert.strictEqual(second.url, first.url)
        assert.match(
          readFileSync(join(folder, "postgres", "postgres.log"), "utf8"),
          /database system is shut down/
        )
      }).pipe(Effect.scoped),
    patience
  )

  it.live.each([
    ["it is killed", Effect.map(useOnce, ({ pid }) => pid), "it was ended by SIGKILL"],
    // It does not recover by itself: what fails there (on a full disk) it may never tell.
    ["one of its processes is killed", checkpointerPid, "it ended with code 1"]
  ] as const)(
    "is started again when %s, on the same port, and says that it is down meanwhile",
    ([, pid, how]) =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        yield* withServer(
          folder,
          Effect.gen(function* () {
            yield* query("create table kept as select 7 as n")
            const before = yield* useOnce
            const down = yield* Effect.forkChild(untilStatus("down"), { startImmediately: true })
            process.kill(yield* pid, "SIGKILL")
            const { cluster, state } = yield* EmbeddedPostgres
            const seen = yield* Fiber.join(down)
            assert.include(JSON.stringify(seen), how)
            yield* untilStatus("up")
            assert.deepStrictEqual(yield* state, { status: "up" })
            assert.notStrictEqual(serverPid(cluster), before.pid)
            assert.deepStrictEqual(yield* query("select n from kept"), [{ n: 7 }])
          })
        )
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "takes over from a program that was killed, and from the server that it left behind",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const cluster = join(folder, "postgres", "data")
        const program = yield* startProgram(folder)
        const left = serverPid(cluster)
        yield* signalAndWait(program, "SIGKILL")
        assert.isTrue(isAlive(left))
        yield* withServer(
          folder,
          Effect.gen(function* () {
            assert.isFalse(isAlive(left))
            assert.deepStrictEqual(yield* query("select 1 as n"), [{ n: 1 }])
          })
        )
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "is stopped with its program by SIGTERM, also when that comes twice; a second start meanwhile is refused",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const cluster = join(folder, "postgres", "data")
        const program = yield* startProgram(folder)
        const server = serverPid(cluster)
        const refused = yield* Effect.flip(withServer(folder, Effect.void))
        assert.strictEqual(refused.problem, "locked")
        assert.include(refused.message, `(process ${program.pid}) already uses the data folder ${folder}.`)
        assert.include(refused.message, "Stop that one first")
        assert.isTrue(isAlive(server))
        yield* signalAndWait(program, "SIGTERM", "SIGTERM")
        assert.isFalse(isAlive(server))
        assert.isFalse(existsSync(join(cluster, "postmaster.pid")))
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "starts beside a stale postmaster.pid, a lost password, a taken port and an unfinished new database",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const cluster = join(folder, "postgres", "data")
        yield* Effect.promise(() => mkdir(`${cluster}.new/base`, { recursive: true }))
        const first = yield* withServer(folder, useOnce)

        // The server's own id, and one that another program of the same user has by now: PostgreSQL alone would refuse.
        const other = yield* otherProgram(cluster)
        for (const pid of [first.pid, other]) {
          const stale = `${pid}\n${cluster}\n1700000000\n5432\n\n127.0.0.1\n  5432001  1\nready   \n`
          yield* Effect.promise(() => writeFile(join(cluster, "postmaster.pid"), stale))
          yield* withServer(folder, query("select 1"))
        }
        assert.isTrue(isAlive(other))

        yield* Effect.promise(() => rm(join(folder, "postgres", "connection.json")))
        const second = yield* withServer(folder, Effect.andThen(query("select 1"), useOnce))
        assert.notStrictEqual(new URL(second.url).password, new URL(first.url).password)

        yield* listenOn(Number(new URL(second.url).port))
        const third = yield* withServer(folder, Effect.andThen(query("select 1"), useOnce))
        assert.strictEqual(new URL(third.url).password, new URL(second.url).password)
        assert.notStrictEqual(new URL(third.url).port, new URL(second.url).port)
      }).pipe(Effect.scoped),
    patience
  )
})

describe("an embedded PostgreSQL that cannot start", () => {
  it.live("says what to do about a database of another version, and about files that are none", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const cluster = join(folder, "postgres", "data")
      yield* Effect.promise(async () => {
        await mkdir(cluster, { recursive: true })
        await writeFile(join(cluster, "something"), "")
      })
      const none = yield* Effect.flip(withServer(folder, Effect.void))
      assert.strictEqual(none.problem, "folder")
      assert.include(none.message, `${cluster} holds files but no PostgreSQL database. Move them away`)

      yield* Effect.promise(() => writeFile(join(cluster, "PG_VERSION"), "17\n"))
      const other = yield* Effect.flip(withServer(folder, Effect.void))
      assert.strictEqual(other.problem, "version")
      assert.include(
        other.message,
        `${cluster} was made by PostgreSQL 17; this Postlane brings PostgreSQL 18`
      )
      assert.include(other.message, "pg_dumpall")
    }).pipe(Effect.scoped)
  )

  it.live(
    "gives up with PostgreSQL's own complaint and the log's place",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const { cluster } = yield* withServer(folder, useOnce)
        yield* Effect.promise(() => rm(join(cluster, "global", "pg_control")))
        const error = yield* Effect.flip(withServer(folder, Effect.void))
        assert.strictEqual(error.problem, "start")
        assert.include(error.message, "pg_control")
        assert.include(error.message, join(folder, "postgres", "postgres.log"))
      }).pipe(Effect.scoped),
    patience
  )
})
