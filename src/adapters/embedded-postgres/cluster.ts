import { chown, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

import { Effect, Option } from "effect"

import type { Binaries } from "./binaries.ts"
import type { ClusterPlace } from "./cluster-place.ts"
import { readIfThere, ROLE } from "./data-folder.ts"
import { EmbeddedPostgresError, fileWork } from "./error.ts"
import { runProgram, type ProgramResult } from "./run-program.ts"

/** Only Postlane's role, only over loopback, only with the password. */
const HOST_RULES = `host all all 127.0.0.1/32 scram-sha-256\n`

const mustSucceed = (doing: string, result: ProgramResult) =>
  result.code === 0 && !/\b(?:ERROR|FATAL|PANIC):/.test(result.output)
    ? Effect.void
    : Effect.fail(
        new EmbeddedPostgresError({
          problem: "start",
          message:
            `PostgreSQL could not ${doing}: ${result.output}. ` +
            `If the disk is full, free some space; then start again. To use another database, set DB_URL.`
        })
      )

/** Runs statements, one per line, on a cluster without a running server; `options` are further options of the server. */
const runAlone = (
  binaries: Binaries,
  place: ClusterPlace,
  database: string,
  statements: ReadonlyArray<string>,
  options: ReadonlyArray<string>
) =>
  runProgram(binaries.postgres, ["--single", ...options, "-D", place.cluster, database], {
    account: place.account,
    input: statements.map((statement) => `${statement}\n`).join("")
  })

const passwordStatement = (password: string): string => `ALTER ROLE ${ROLE} PASSWORD '${password}'`

const syncFolder = async (path: string) => {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * Makes a cluster in a temporary folder and moves it to its place once it is complete and on the disk: a start that was cut off
 * leaves nothing that looks like a database. Nothing is forced to the disk before the one pass at the end.
 *
 * The built-in locale is the same on every machine, and `lower()` knows all of Unicode in it (plain `C`: ASCII only).
 */
const create = Effect.fnUntraced(function* (binaries: Binaries, place: ClusterPlace, password: string) {
  const { account, cluster } = place
  const unfinished = `${cluster}.new`
  yield* fileWork(`make room for a new database in ${dirname(cluster)}`, async () => {
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished, { mode: 0o700 })
    if (account !== undefined) await chown(unfinished, account.uid, account.gid)
  })
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
  const quick = ["--no-sync", "--no-instructions", "--auth=trust"]
  const args = ["-D", unfinished, "-U", ROLE, ...locale, ...quick]
  yield* mustSucceed("make a new database", yield* runProgram(binaries.initdb, args, { account }))
  yield* fileWork(`write pg_hba.conf`, () => writeFile(join(unfinished, "pg_hba.conf"), HOST_RULES))
  const statements = [`CREATE DATABASE ${ROLE}`, passwordStatement(password)]
  const prepared = yield* runAlone(binaries, { account, cluster: unfinished }, "postgres", statements, ["-F"])
  yield* mustSucceed("prepare the new database", prepared)
  const synced = yield* runProgram(binaries.initdb, ["--sync-only", "-D", unfinished], { account })
  yield* mustSucceed("write the new database to the disk", synced)
  yield* fileWork(`move the new database to ${cluster}`, async () => {
    await rename(unfinished, cluster)
    await syncFolder(dirname(cluster))
  })
})

const isEmpty = (cluster: string) =>
  fileWork(`read ${cluster}`, () =>
    readdir(cluster).then(
      (entries) => entries.length === 0,
      (cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return true
        throw cause
      }
    )
  )

/** Makes a missing cluster, else checks that these programs can run it. */
export const ensureCluster = Effect.fnUntraced(function* (
  binaries: Binaries,
  place: ClusterPlace,
  password: string
) {
  const { cluster } = place
  if (yield* isEmpty(cluster)) {
    yield* create(binaries, place, password)
    return { isNew: true }
  }
  const version = Option.map(yield* readIfThere(join(cluster, "PG_VERSION")), (text) => text.trim())
  if (Option.isNone(version)) {
    return yield* new EmbeddedPostgresError({
      problem: "folder",
      message:
        `${cluster} holds files but no PostgreSQL database. ` +
        `Move them away, or name another folder with POSTLANE_DATA_DIR.`
    })
  }
  if (version.value !== binaries.major) {
    return yield* new EmbeddedPostgresError({
      problem: "version",
      message:
        `The database in ${cluster} was made by PostgreSQL ${version.value}; this Postlane brings PostgreSQL ${binaries.major}, ` +
        `which cannot open it. To keep the data, dump it with PostgreSQL ${version.value} (pg_dumpall), move the folder away, ` +
        `start Postlane and load the dump; to start afresh, move the folder away. Or set DB_URL to a PostgreSQL of your own.`
    })
  }
  return { isNew: false }
})

/** Gives the role a new password after the cluster's connection file was lost. The server must be down. */
export const resetPassword = Effect.fnUntraced(function* (
  binaries: Binaries,
  place: ClusterPlace,
  password: string
) {
  yield* Effect.logWarning(
    "The file with the database's password is missing or damaged: setting a new password"
  )
  const result = yield* runAlone(binaries, place, "postgres", [passwordStatement(password)], [])
  yield* mustSucceed("set a new password", result)
})
