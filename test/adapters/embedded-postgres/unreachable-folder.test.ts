import { chmod, rm } from "node:fs/promises"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"

import { EmbeddedPostgres } from "../../../src/adapters/embedded-postgres/embedded-postgres.ts"
import { isRoot, patience, query, temporaryFolder, withServer } from "./harness.ts"

const remove = (path: string) => Effect.promise(() => rm(path, { recursive: true, force: true }))

/** Root's PostgreSQL runs as a system user, who cannot pass through a folder of root's own. */
const movesAway = Effect.gen(function* () {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
  const outer = yield* temporaryFolder
  const folder = join(outer, ".postlane")
  yield* Effect.promise(() => chmod(outer, 0o700))
  const { cluster } = yield* withServer(
    folder,
    Effect.andThen(query("create table kept as select 7 as n"), EmbeddedPostgres)
  ).pipe(Effect.provide(logger))
  yield* Effect.addFinalizer(() => remove(cluster))
  assert.isFalse(cluster.startsWith(outer))
  const warnings = lines.filter((line) => line.includes("cannot enter"))
  assert.lengthOf(warnings, 1)
  assert.include(warnings[0], `the database is kept in ${cluster} instead`)

  // Remembered: the data is found again also when the folder could be entered by now.
  yield* Effect.promise(() => chmod(outer, 0o755))
  const again = yield* withServer(
    folder,
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* query("select n from kept"), [{ n: 7 }])
      return yield* EmbeddedPostgres
    })
  )
  assert.strictEqual(again.cluster, cluster)
})

/** An ordinary user runs PostgreSQL as that user: without write access there is no fallback, only an error with a remedy. */
const isRefused = Effect.gen(function* () {
  const outer = yield* temporaryFolder
  yield* Effect.promise(() => chmod(outer, 0o500))
  const error = yield* Effect.flip(withServer(join(outer, ".postlane"), Effect.void))
  assert.strictEqual(error.problem, "folder")
  assert.include(error.message, `Cannot use the data folder ${outer}/.postlane`)
  assert.include(error.message, "POSTLANE_DATA_DIR")
})

describe("a data folder that cannot be reached", () => {
  it.live(
    isRoot
      ? "moves the database to one that the system user can reach, and says so"
      : "is refused with what to do",
    () => Effect.scoped(isRoot ? movesAway : isRefused),
    patience
  )
})
