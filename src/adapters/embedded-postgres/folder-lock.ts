import { readFile, writeFile } from "node:fs/promises"
import type { DatabaseSync } from "node:sqlite"

import { Effect, type Scope } from "effect"

import type { DataFolder } from "./data-folder.ts"
import { causeText, EmbeddedPostgresError, fileWork } from "./error.ts"

const SQLITE_BUSY = 5

const isBusy = (cause: unknown): boolean =>
  cause instanceof Error && "errcode" in cause && cause.errcode === SQLITE_BUSY

/**
 * An exclusive SQLite transaction on an empty file is a lock that the operating system holds for the process (`fcntl`): it ends
 * with the process, however that dies, and a later process with the same id does not inherit it. Node has no `flock`.
 */
const lock = (path: string): DatabaseSync => {
  // No import: a Node without it could not load this file, and so could not say which Node is needed.
  const sqlite = process.getBuiltinModule("node:sqlite")
  const database = new sqlite.DatabaseSync(path, { timeout: 0 })
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

const holderOf = (folder: DataFolder): Effect.Effect<string> =>
  Effect.promise(() =>
    readFile(folder.holder, "utf8").then(
      (text) => (/^\d+$/.test(text) ? `process ${text}` : "its process id is not known"),
      () => "its process id is not known"
    )
  )

const refuse = Effect.fnUntraced(function* (folder: DataFolder, cause: unknown) {
  if (!isBusy(cause)) {
    return yield* new EmbeddedPostgresError({
      problem: "folder",
      message:
        `Cannot lock the data folder ${folder.root}: ${causeText(cause)}. ` +
        `Run as the user who owns it, or name another folder with POSTLANE_DATA_DIR.`
    })
  }
  return yield* new EmbeddedPostgresError({
    problem: "locked",
    message:
      `Another Postlane (${yield* holderOf(folder)}) already uses the data folder ${folder.root}. ` +
      `Stop that one first, or give this one a folder of its own with POSTLANE_DATA_DIR.`
  })
})

/** Holds the data folder for this process until the scope closes; a second holder fails with `locked`. */
export const holdFolder = (folder: DataFolder): Effect.Effect<void, EmbeddedPostgresError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({ try: () => lock(folder.lock), catch: (cause) => cause }).pipe(
      Effect.catch((cause) => refuse(folder, cause))
    ),
    (database) => Effect.sync(() => database.close())
  ).pipe(
    Effect.andThen(
      fileWork("write the process id into the data folder", () =>
        writeFile(folder.holder, String(process.pid))
      )
    )
  )
