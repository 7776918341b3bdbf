import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"

import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Option, Stream } from "effect"

import {
  EmbeddedPostgres,
  layer,
  type ServerState
} from "../../../src/adapters/embedded-postgres/embedded-postgres.ts"
import { programOf } from "../../support/processes/child.ts"
import { TEMPORARY } from "../../support/temporary.ts"

export const isRoot = process.getuid?.() === 0

/** A new folder that is removed with the scope. PostgreSQL's system user can enter it where we are root. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(TEMPORARY, "postlane-embedded-"))
    await chmod(folder, 0o755)
    return folder
  }),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Runs `use` with the embedded PostgreSQL on `folder`, then stops it. */
export const withServer = <A, E, R>(folder: string, use: Effect.Effect<A, E, R>) =>
  Effect.provide(use, layer(folder), { local: true })

/** One statement on a connection of its own. */
export const query = (statement: string) =>
  Effect.gen(function* () {
    const { url } = yield* EmbeddedPostgres
    const rows = PgClient.PgClient.use((sql) => sql.unsafe<Record<string, unknown>>(statement))
    return yield* Effect.provide(rows, PgClient.layer({ url, maxConnections: 1 }), { local: true })
  })

/** Waits for the first state, from now on, of this status. */
export const untilStatus = (status: ServerState["status"]) =>
  Effect.gen(function* () {
    const { changes } = yield* EmbeddedPostgres
    const found = yield* changes.pipe(
      Stream.filter((state) => state.status === status),
      Stream.runHead
    )
    return Option.getOrThrow(found)
  })

export const serverPid = (cluster: string): number =>
  Number(readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[0])

/** Whether a process runs. One that has ended counts as gone also where nobody has collected its exit code. */
export const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" })
  return stdout.trim() !== "" && !stdout.startsWith("Z")
}

/** Starts the whole program in a process of its own; it is up when this ends. Killed with the scope. */
export const startProgram = (folder: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const path = programOf("test/adapters/embedded-postgres/program.ts")
      const child = spawn(process.execPath, [path, folder], { stdio: ["ignore", "pipe", "inherit"] })
      let seen = ""
      for await (const text of child.stdout.setEncoding("utf8")) {
        seen += String(text)
        if (/^up$/m.test(seen)) break
      }
      return child
    }),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

/** Sends signals, and waits for the program's end. */
export const signalAndWait = (
  child: Effect.Success<ReturnType<typeof startProgram>>,
  ...signals: ReadonlyArray<NodeJS.Signals>
) =>
  Effect.promise(async () => {
    const exit = once(child, "exit")
    for (const signal of signals) child.kill(signal)
    await exit
  })

/** Many times what a test takes on a quiet machine. */
export const patience = Duration.toMillis("2 minutes")
