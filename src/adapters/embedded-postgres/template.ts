import { cpSync, constants } from "node:fs"
import { access, appendFile, rm } from "node:fs/promises"
import { join } from "node:path"

import { Effect, Option } from "effect"

import { placesIn, readConnection, writeConnection } from "./data-folder.ts"
import { fileWork } from "./error.ts"
import { newPort } from "./port.ts"

/** What a database that is thrown away need not do: nothing waits for the disk. */
const FORGETFUL = "\nfsync = off\nsynchronous_commit = off\nfull_page_writes = off\n"

/**
 * Makes the stopped database of a data folder one to copy; false where it is kept in another place than the folder, which a copy would
 * share.
 */
export const makeTemplate = (root: string) =>
  fileWork(`prepare ${root}`, async () => {
    const { cluster, holder, location, lock, log } = placesIn(root)
    const isElsewhere = await access(location).then(
      () => true,
      () => false
    )
    if (isElsewhere) return false
    await appendFile(join(cluster, "postgresql.conf"), FORGETFUL)
    for (const path of [holder, lock, log]) await rm(path, { force: true })
    return true
  })

/** Copies a template to a data folder, which gets its own port, so that copies can start at once. */
export const copyTemplate = Effect.fnUntraced(function* (template: string, root: string) {
  const folder = placesIn(root)
  yield* fileWork(`copy ${template} to ${root}`, async () =>
    cpSync(placesIn(template).folder, folder.folder, { recursive: true, mode: constants.COPYFILE_FICLONE })
  )
  const kept = Option.getOrUndefined(yield* readConnection(folder))
  if (kept !== undefined) yield* writeConnection(folder, { ...kept, port: newPort() })
})
