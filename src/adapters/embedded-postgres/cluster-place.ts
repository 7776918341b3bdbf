import { createHash } from "node:crypto"
import { access, chmod, lchown, lstat, readdir } from "node:fs/promises"
import { resolve, join } from "node:path"

import { Effect, Option, type Redacted } from "effect"

import { sharedFolders } from "./binaries.ts"
import {
  connectionUrl,
  placesIn,
  readConnection,
  readIfThere,
  writeWhole,
  type DataFolder
} from "./data-folder.ts"
import { EmbeddedPostgresError, fileWork } from "./error.ts"
import { acceptsConnections } from "./port.ts"
import { isRoot, type Account, canPass, systemAccount } from "./run-program.ts"

/** Whether an embedded server has run on a data folder, and runs now. */
export type LocalInstance =
  | { readonly _tag: "None" }
  | { readonly _tag: "Stopped" }
  | { readonly _tag: "Running"; readonly url: Redacted.Redacted }

/** Looks at a data folder without making or changing anything in it. */
export const findLocalInstance = Effect.fnUntraced(function* (
  dataDir: string
): Effect.fn.Return<LocalInstance, EmbeddedPostgresError> {
  const folder = placesIn(resolve(dataDir))
  const connection = yield* readConnection(folder)
  if (Option.isNone(connection)) {
    const ran = yield* Effect.promise(() =>
      access(folder.folder).then(
        () => true,
        () => false
      )
    )
    return ran ? { _tag: "Stopped" } : { _tag: "None" }
  }
  return (yield* acceptsConnections(connection.value.port))
    ? { _tag: "Running", url: connectionUrl(connection.value) }
    : { _tag: "Stopped" }
})

/** The cluster's folder, existing or planned, and the account that runs it; `account` is undefined for this process's user. */
export interface ClusterPlace {
  readonly cluster: string
  readonly account: Account | undefined
}

const ownerOf = (path: string) =>
  fileWork(`look at ${path}`, () =>
    lstat(path).then(
      ({ gid, mode, uid }) => Option.some({ gid, mode, uid }),
      (cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return Option.none()
        throw cause
      }
    )
  )

const giveTo = async (path: string, account: Account): Promise<void> => {
  await lchown(path, account.uid, account.gid)
  if (!(await lstat(path)).isDirectory()) return
  for (const entry of await readdir(path)) await giveTo(join(path, entry), account)
}

/** The account for an existing cluster is its owner, so that root and that user can take turns. */
const accountFor = Effect.fnUntraced(function* (cluster: string) {
  const owner = Option.getOrUndefined(yield* ownerOf(cluster))
  if (owner === undefined || owner.uid === 0) return yield* systemAccount
  return { name: `user ${owner.uid}`, uid: owner.uid, gid: owner.gid } satisfies Account
})

const hashOf = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, 16)

/** A place that `account` can reach, the same one every time, remembered in the data folder. */
const placeElsewhere = Effect.fnUntraced(function* (folder: DataFolder, account: Account) {
  for (const cluster of yield* sharedFolders(hashOf(folder.cluster), account)) {
    yield* writeWhole(folder.location, cluster, 0o644)
    yield* Effect.logWarning(
      `The system user ${account.name}, which runs PostgreSQL, cannot enter ${folder.folder}: ` +
        `the database is kept in ${cluster} instead (noted in ${folder.location})`
    )
    return cluster
  }
  return yield* new EmbeddedPostgresError({
    problem: "folder",
    message:
      `The system user ${account.name}, which runs PostgreSQL, can enter neither ${folder.folder} nor /var/lib/postlane. ` +
      `Name a folder that every user may enter with POSTLANE_DATA_DIR, or run as a normal user.`
  })
})

const placeForRoot = Effect.fnUntraced(function* (folder: DataFolder) {
  const remembered = yield* readIfThere(folder.location)
  if (Option.isSome(remembered)) {
    return { cluster: remembered.value, account: yield* accountFor(remembered.value) }
  }
  const account = yield* accountFor(folder.cluster)
  if (yield* canPass(account, folder.folder)) return { cluster: folder.cluster, account }
  return { cluster: yield* placeElsewhere(folder, account), account }
})

const placeForUser = Effect.fnUntraced(function* (folder: DataFolder) {
  const remembered = yield* readIfThere(folder.location)
  const cluster = Option.getOrElse(remembered, () => folder.cluster)
  const owner = Option.getOrUndefined(yield* ownerOf(cluster))
  if (owner !== undefined && process.getuid !== undefined && owner.uid !== process.getuid()) {
    return yield* new EmbeddedPostgresError({
      problem: "folder",
      message:
        `The database in ${cluster} belongs to another user (id ${owner.uid}). ` +
        `Run as that user or as root, or name another folder with POSTLANE_DATA_DIR.`
    })
  }
  return { cluster, account: undefined }
})

/** Decides on the cluster's folder and account, and corrects owner and mode of an existing one. */
export const findClusterPlace = Effect.fnUntraced(function* (folder: DataFolder) {
  const place: ClusterPlace = yield* isRoot() ? placeForRoot(folder) : placeForUser(folder)
  const { account, cluster } = place
  const found = Option.getOrUndefined(yield* ownerOf(cluster))
  if (found === undefined) return place
  yield* fileWork(`set the owner and mode of ${cluster}`, async () => {
    if (account !== undefined && found.uid !== account.uid) await giveTo(cluster, account)
    // PostgreSQL refuses a folder that others can enter, which a copied folder often is.
    if ((found.mode & 0o777) !== 0o700) await chmod(cluster, 0o700)
  })
  return place
})
