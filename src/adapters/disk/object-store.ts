import { randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { access, constants, type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"

import { NodeStream } from "@effect/platform-node"
import { Effect, Stream } from "effect"

import { isObjectKey } from "../../domain/object-key.ts"
import { type ObjectFacts, ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"

/** Objects that are being written stand here, out of every listing, until they are whole. */
const UNFINISHED = ".unfinished"

/** Reads of a file that are handed on together; a read has 64 KiB. */
const READS_AT_ONCE = 4

const isMissing = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR")

const failure =
  (key: string) =>
  (cause: unknown): ObjectStoreError =>
    new ObjectStoreError({ reason: isMissing(cause) ? "missing" : "unavailable", key, cause })

const attempt = <A>(key: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: failure(key) })

/** A name is durable only once its folder is. */
const syncFolder = async (folder: string) => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const keyed = (key: string) =>
  isObjectKey(key)
    ? Effect.void
    : Effect.fail(new ObjectStoreError({ reason: "missing", key, cause: "not a key" }))

/** Every file below a folder, without building the whole list. */
async function* walk(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* walk(path)
    else if (entry.isFile()) yield path
  }
}

/**
 * Objects in a folder on disk. An object is written beside its place, flushed, and moved there: it is whole or not there, also
 * after a power cut.
 */
export const makeDiskObjects = (folder: string): ObjectStoreService => {
  const pathOf = (key: string) => join(folder, ...key.split("/"))
  const unfinished = join(folder, UNFINISHED)

  const writeAll = (handle: FileHandle, key: string) => (total: number, bytes: Uint8Array) =>
    Effect.as(
      attempt(key, async () => {
        let at = 0
        while (at < bytes.length) at += (await handle.write(bytes, at)).bytesWritten
      }),
      total + bytes.length
    )

  const facts = (key: string) =>
    Effect.flatMap(keyed(key), () =>
      attempt(key, async (): Promise<ObjectFacts> => {
        const found = await stat(pathOf(key))
        if (!found.isFile()) throw Object.assign(new Error("not an object"), { code: "ENOENT" })
        return { key, size: found.size }
      })
    )

  return {
    put: (key, body) =>
      Effect.gen(function* () {
        yield* keyed(key)
        const path = pathOf(key)
        const draft = join(unfinished, randomUUID())
        yield* attempt(key, () => mkdir(unfinished, { recursive: true, mode: 0o700 }))
        const handle = yield* Effect.acquireRelease(
          attempt(key, () => open(draft, "wx", 0o600)),
          (opened) => Effect.promise(() => opened.close())
        )
        yield* Effect.addFinalizer(() => Effect.promise(() => rm(draft, { force: true })))
        const size = yield* Stream.runFoldEffect(body, () => 0, writeAll(handle, key))
        yield* attempt(key, async () => {
          await handle.sync()
          await mkdir(dirname(path), { recursive: true, mode: 0o700 })
          await rename(draft, path)
          await syncFolder(dirname(path))
        })
        return size
      }).pipe(Effect.scoped),

    get: (key, options) =>
      Stream.unwrap(
        Effect.map(facts(key), () =>
          NodeStream.fromReadable<Uint8Array, ObjectStoreError>({
            evaluate: () => createReadStream(pathOf(key), { start: options?.from ?? 0 }),
            chunkSize: READS_AT_ONCE,
            onError: failure(key)
          })
        )
      ),

    localPath: (key) => Effect.map(facts(key), () => pathOf(key)),

    stat: facts,

    list: (prefix) =>
      Stream.fromAsyncIterable(walk(folder), failure(prefix)).pipe(
        Stream.map((path) => ({ path, key: relative(folder, path).split(sep).join("/") })),
        Stream.filter(({ key }) => key.startsWith(prefix) && isObjectKey(key)),
        Stream.mapEffect(({ key }) => facts(key)),
        // A folder that nothing was written to yet, and an object that went meanwhile, hold nothing.
        Stream.catchIf(
          (error) => error.reason === "missing",
          () => Stream.empty
        )
      ),

    remove: (keys) =>
      Effect.forEach(
        keys,
        (key) => (isObjectKey(key) ? attempt(key, () => rm(pathOf(key), { force: true })) : Effect.void),
        { discard: true, concurrency: 8 }
      ),

    check: attempt("", async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await access(folder, constants.W_OK)
    })
  }
}
