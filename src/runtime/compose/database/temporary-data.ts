import { createHash, randomUUID } from "node:crypto"
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Effect, type Scope } from "effect"

import * as EmbeddedPostgres from "../../../adapters/embedded-postgres/embedded-postgres.ts"
import { copyTemplate, makeTemplate } from "../../../adapters/embedded-postgres/template.ts"
import * as Postgres from "../../../adapters/postgres/client.ts"
import { installShiftedTime, SHIFTED_TIME } from "../../../adapters/postgres/shifted-time.ts"
import { MANIFEST, MIGRATIONS } from "../../process/package.ts"
import { CannotStart } from "../../process/run-program.ts"
import { migrateDatabase } from "./database-start.ts"

/** Folders of a user who runs tests: everybody may pass, since PostgreSQL may run as another user. */
const PASSABLE = 0o755

const cannot = (doing: string) => (cause: unknown) =>
  new CannotStart({ message: `Cannot ${doing}: ${cause instanceof Error ? cause.message : String(cause)}` })

const filesOf = (doing: string, work: () => Promise<string>): Effect.Effect<string, CannotStart> =>
  Effect.tryPromise({ try: work, catch: cannot(doing) })

/** What a prepared database follows from: each file of the migrations, and the packages of this version. */
const fingerprint = async (): Promise<string> => {
  const hash = createHash("sha256")
    .update(await readFile(MANIFEST))
    .update(SHIFTED_TIME.join("\0"))
  const names = await readdir(MIGRATIONS.directory, { recursive: true })
  for (const name of names.filter((one) => one.endsWith(".sql")).sort())
    hash.update(`\0${name}\0`).update(await readFile(join(MIGRATIONS.directory, name)))
  return hash.digest("hex").slice(0, 20)
}

/** This user's folder for prepared databases; one that somebody else has made is not trusted. */
const cacheFolder = async (): Promise<string> => {
  const uid = process.getuid?.() ?? 0
  const folder = join(tmpdir(), `postlane-testing-${uid}`)
  await mkdir(folder, { recursive: true })
  const found = await lstat(folder)
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== uid))
    throw new Error(`${folder} belongs to somebody else`)
  await chmod(folder, PASSABLE)
  return folder
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

const remove = (path: string) =>
  Effect.ignore(Effect.promise(() => rm(path, { recursive: true, force: true })))

/** How long a prepared database is kept that another version has made, milliseconds. */
const KEPT_MS = 7 * 86_400_000

/** Removes what earlier versions prepared, and what a killed process left half made. */
const removeOld = async (cache: string): Promise<void> => {
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    const found = await lstat(path).catch(() => undefined)
    if (found !== undefined && Date.now() - found.mtimeMs > KEPT_MS)
      await rm(path, { recursive: true, force: true })
  }
}

/** Makes the template under another name and renames it when it is complete; if several processes do this at once, the first one wins. */
const prepare = Effect.fnUntraced(function* (template: string) {
  const unfinished = `${template}.${randomUUID()}`
  yield* Effect.gen(function* () {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { url } = yield* EmbeddedPostgres.EmbeddedPostgres
        yield* migrateDatabase({ url })
        yield* installShiftedTime.pipe(
          Effect.provide(Postgres.layerSingle({ url })),
          Effect.mapError(cannot("prepare a database"))
        )
      }).pipe(Effect.provide(EmbeddedPostgres.layer(unfinished)))
    )
    if (!(yield* makeTemplate(unfinished))) return
    yield* Effect.promise(() => rename(unfinished, template).catch(() => undefined))
  }).pipe(Effect.ensuring(remove(unfinished)))
})

/**
 * A data folder that is removed with the scope. Its migrated database is a copy of a prepared one; the first start of a version prepares it,
 * which takes some seconds longer.
 */
export const temporaryData: Effect.Effect<string, CannotStart, Scope.Scope> = Effect.gen(function* () {
  const cache = yield* filesOf("keep prepared databases", cacheFolder)
  const template = join(cache, yield* filesOf("read the migrations", fingerprint))
  const made = filesOf("make a temporary data folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "postlane-data-"))
    await chmod(folder, PASSABLE)
    return folder
  })
  const folder = yield* Effect.acquireRelease(made, remove)
  yield* Effect.gen(function* () {
    if (!(yield* Effect.promise(() => isThere(template)))) {
      yield* Effect.promise(() => removeOld(cache))
      yield* prepare(template)
    }
    if (yield* Effect.promise(() => isThere(template))) yield* copyTemplate(template, folder)
  }).pipe(Effect.catchTag("EmbeddedPostgresError", ({ message }) => new CannotStart({ message })))
  return folder
})
