import { spawnSync } from "node:child_process"
import { open, rename, rm, statfs } from "node:fs/promises"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"

import { EmbeddedPostgres } from "../../../src/adapters/embedded-postgres/embedded-postgres.ts"
import { patience, query, serverPid, temporaryFolder, untilStatus, withServer } from "./harness.ts"

/** A way to make the cluster unusable while its server runs and to keep it so, and usable again; and what the reason must then say. */
interface Breakage {
  readonly folder: string
  readonly breakIt: Effect.Effect<unknown, never, EmbeddedPostgres>
  readonly mendIt: Effect.Effect<unknown, never, EmbeddedPostgres>
  readonly reason: RegExp
}

const fill = async (folder: string) => {
  const file = await open(join(folder, "ballast"), "a")
  try {
    const { bavail, bsize } = await statfs(folder)
    const chunk = Buffer.alloc(1024 * 1024)
    for (let left = bavail * bsize; left > 0; left -= chunk.length) {
      await file.write(chunk, 0, Math.min(left, chunk.length))
    }
  } catch (cause) {
    // The server writes too: full is what we want.
    if (!(cause instanceof Error && "code" in cause && cause.code === "ENOSPC")) throw cause
  } finally {
    await file.close()
  }
}

/** Writes into ever new log segments, until the server cannot make another one and panics. */
const writeUntilPanic = query("select pg_logical_emit_message(true, 'a', 'b'), pg_switch_wal()").pipe(
  Effect.forever,
  Effect.exit
)

const fullDisk = (folder: string): Breakage => ({
  folder,
  // Again and again: a server that ends frees a little, which may let the next one start for a moment.
  breakIt: Effect.uninterruptible(Effect.promise(() => fill(folder))).pipe(
    Effect.andThen(writeUntilPanic),
    Effect.andThen(Effect.sleep("100 millis")),
    Effect.forever
  ),
  mendIt: Effect.promise(() => rm(join(folder, "ballast"))),
  reason: /disk of .+ is full \(\d+ MB free\): free some space/
})

const renameLogFolder = (from: string, to: string) =>
  Effect.flatMap(EmbeddedPostgres, ({ cluster }) =>
    Effect.promise(() => rename(join(cluster, from), join(cluster, to)))
  )

const kill = Effect.map(EmbeddedPostgres, ({ cluster }) => process.kill(serverPid(cluster), "SIGKILL"))

const lostFolder = (folder: string): Breakage => ({
  folder,
  breakIt: renameLogFolder("pg_wal", "elsewhere").pipe(Effect.andThen(kill), Effect.andThen(Effect.never)),
  mendIt: renameLogFolder("elsewhere", "pg_wal"),
  reason: /pg_wal/
})

/** A small disk that fills up where we may mount one, else a cluster that loses its log folder: both end every start. */
const breakage = (folder: string): Breakage => {
  const options = ["-t", "tmpfs", "-o", "size=100m,mode=755", "tmpfs"]
  return spawnSync("mount", [...options, folder]).status === 0 ? fullDisk(folder) : lostFolder(folder)
}

const mayMount = Effect.acquireRelease(Effect.map(temporaryFolder, breakage), ({ folder }) =>
  Effect.sync(() => void spawnSync("umount", [folder]))
)

describe("an embedded PostgreSQL on a broken disk", () => {
  it.live(
    "stays down with the reason, tries on, and is back with its data when the disk is well",
    () =>
      Effect.gen(function* () {
        const { breakIt, folder, mendIt, reason } = yield* mayMount
        yield* withServer(
          folder,
          Effect.gen(function* () {
            const { changes } = yield* EmbeddedPostgres
            yield* query("create table kept as select 7 as n")
            const threeTimesDown = changes.pipe(
              Stream.filter((state) => state.status === "down"),
              Stream.take(3),
              Stream.runCollect
            )
            const downs = yield* Effect.forkChild(threeTimesDown, { startImmediately: true })
            const breaking = yield* Effect.forkChild(breakIt, { startImmediately: true })
            for (const state of (yield* Fiber.join(downs)).slice(1)) {
              assert.match(state.status === "down" ? state.reason : "", reason)
            }
            yield* Fiber.interrupt(breaking)
            yield* mendIt
            yield* untilStatus("up")
            assert.deepStrictEqual(yield* query("select n from kept"), [{ n: 7 }])
          })
        )
      }).pipe(Effect.scoped),
    patience
  )
})
