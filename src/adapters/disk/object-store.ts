import { randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { type FileHandle, link, mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"

import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Stream } from "effect"

import { makeSweep } from "../../application/abandoned-files.ts"
import { isObjectKey } from "../../domain/object-key.ts"
import { type ObjectFacts, ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"

/** The folder of objects that are being written, out of every listing, until they are whole. */
const UNFINISHED = ".unfinished"

/** Reads of a file that are handed on together; a read has 64 KiB. */
const READS_AT_ONCE = 4

/** What is written to see that there is room, in the place of drafts, which are swept. */
const CHECK = "check-"
const CHECK_BYTES = new Uint8Array(4096)

/** Bytes of a read into a reused buffer. */
const PASSING_BYTES = 1024 * 1024

const isMissing = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR")

const failure =
  (key: string) =>
  (cause: unknown): ObjectStoreError =>
    new ObjectStoreError({ reason: isMissing(cause) ? "missing" : "unavailable", key, cause })

const attempt = <A>(key: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: failure(key) })

/**
 * A file's bytes in two alternating buffers, one being filled while the other is used. This makes no garbage: a collection would
 * scan the whole heap for memory outside of it. They are `Buffer`s, since their `indexOf` is many times faster than that of other arrays.
 */
const readPassing = (key: string, path: string, from: number) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const handle = yield* Effect.acquireRelease(
        attempt(key, () => open(path, "r")),
        (opened) => Effect.promise(() => opened.close())
      )
      let [place, other] = [Buffer.allocUnsafe(PASSING_BYTES), Buffer.allocUnsafe(PASSING_BYTES)]
      let position = from
      const read = () => {
        ;[place, other] = [other, place]
        const into = place
        const done = handle.read(into, 0, into.length, position).then(({ bytesRead }) => {
          position += bytesRead
          return into.subarray(0, bytesRead)
        })
        // The reader sees the error; there may be none, and it must not go unhandled.
        done.catch(() => undefined)
        return done
      }
      let next = read()
      yield* Effect.addFinalizer(() => Effect.promise(() => next.catch(() => undefined)))
      return Stream.unfold(undefined, () =>
        attempt(key, async () => {
          const piece = await next
          if (piece.length === 0) return undefined
          next = read()
          return [piece, undefined] as const
        })
      )
    })
  )

/** A name is durable only once its folder is. */
const syncFolder = async (folder: string) => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Syncs of folders: what comes while one is in progress shares the next one, which has not begun to look at the folder. */
const makeFolderSyncs = () => {
  const newest = new Map<string, { begun: boolean; readonly done: Promise<void> }>()
  return (folder: string): Promise<void> => {
    const before = newest.get(folder)
    if (before?.begun === false) return before.done
    const ended = before?.done.catch(() => undefined) ?? Promise.resolve()
    const mine = {
      begun: false,
      done: ended
        .then(() => {
          mine.begun = true
          return syncFolder(folder)
        })
        .finally(() => {
          if (newest.get(folder) === mine) newest.delete(folder)
        })
    }
    newest.set(folder, mine)
    return mine.done
  }
}

const keyed = (key: string) =>
  isObjectKey(key)
    ? Effect.void
    : Effect.fail(new ObjectStoreError({ reason: "missing", key, cause: "not a key" }))

/** Every file below a folder, without building the whole list; none where there is no such folder. */
async function* walk(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    if (isMissing(cause)) return []
    throw cause
  })
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* walk(path)
    else if (entry.isFile()) yield path
  }
}

/** Attempts to move a file into a folder that other processes may remove while it is empty. */
const MOVES = 10

/** Makes a folder that survives a power cut, with each parent that had to be made. */
const makeFolder = async (folder: string) => {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let at = folder; at !== dirname(first); at = dirname(at)) await syncFolder(dirname(at))
}

const moveTo = async (path: string, draft: string) => {
  for (let left = MOVES - 1; ; left--) {
    try {
      return await rename(draft, path)
    } catch (cause) {
      if (left === 0 || !isMissing(cause)) throw cause
      await makeFolder(dirname(path)).catch((gone: unknown) => {
        if (!isMissing(gone)) throw gone
      })
    }
  }
}

/** Creates a file, and its folder if missing. */
const openNew = async (path: string) => {
  const opened = () => open(path, "wx", 0o600)
  try {
    return await opened()
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    return opened()
  }
}

/** When a file was last written to; one that is gone meanwhile was just now. */
const touchedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity
  )

/** Removes drafts of dead processes, which no listing shows. This process's drafts are kept, however long the machine slept. */
const removeDrafts = (folder: string, own: ReadonlySet<string>) => (since: number) =>
  attempt(UNFINISHED, async () => {
    for await (const path of walk(join(folder, UNFINISHED)))
      if (!own.has(path) && (await touchedAt(path)) < since) await rm(path, { force: true })
  })

/** Removes the folders above a file that is gone, as far as they are empty, so that no listing walks through them again. */
const removeEmpty = async (folder: string, root: string) => {
  try {
    for (let at = folder; at !== root; at = dirname(at)) await rmdir(at)
  } catch {
    // It is not empty, or another process removed it.
  }
}

const writeAll = (handle: FileHandle, key: string) => (total: number, bytes: Uint8Array) =>
  Effect.as(
    attempt(key, async () => {
      let at = 0
      while (at < bytes.length) at += (await handle.write(bytes, at)).bytesWritten
    }),
    total + bytes.length
  )

const pathOf = (folder: string, key: string) => join(folder, ...key.split("/"))

/** The innermost folder that holds all that begins with the prefix. */
const folderOf = (folder: string, prefix: string) => {
  const key = prefix.slice(0, Math.max(prefix.lastIndexOf("/"), 0))
  return isObjectKey(key) ? pathOf(folder, key) : folder
}

const facts = (folder: string) => (key: string) =>
  Effect.flatMap(keyed(key), () =>
    attempt(key, async (): Promise<ObjectFacts> => {
      const found = await stat(pathOf(folder, key))
      if (!found.isFile()) throw Object.assign(new Error("not an object"), { code: "ENOENT" })
      return { key, size: found.size }
    })
  )

const put = (folder: string): ObjectStoreService["put"] => {
  const syncOf = makeFolderSyncs()
  const drafts = new Set<string>()
  const sweepDrafts = makeSweep(removeDrafts(folder, drafts))
  return (key, body) =>
    Effect.gen(function* () {
      yield* keyed(key)
      yield* sweepDrafts
      const path = pathOf(folder, key)
      const draft = join(folder, UNFINISHED, randomUUID())
      let moved = false
      yield* Effect.acquireRelease(
        Effect.sync(() => drafts.add(draft)),
        () => Effect.sync(() => drafts.delete(draft))
      )
      const handle = yield* Effect.acquireRelease(
        attempt(key, () => openNew(draft)),
        (opened) => Effect.promise(() => opened.close())
      )
      yield* Effect.addFinalizer(() =>
        moved ? Effect.void : Effect.promise(() => rm(draft, { force: true }))
      )
      const size = yield* Stream.runFoldEffect(body, () => 0, writeAll(handle, key))
      yield* attempt(key, async () => {
        await handle.sync()
        await moveTo(path, draft)
        moved = true
        await syncOf(dirname(path))
      })
      return size
    }).pipe(Effect.scoped)
}

/** The link to a draft is made whole or, where there is a file, not at all. */
const create =
  (folder: string): ObjectStoreService["create"] =>
  (key, bytes) =>
    Effect.andThen(
      keyed(key),
      attempt(key, async () => {
        const path = pathOf(folder, key)
        const draft = join(folder, UNFINISHED, randomUUID())
        const handle = await openNew(draft)
        try {
          await handle.writeFile(bytes)
          await handle.sync()
          await makeFolder(dirname(path))
          await link(draft, path)
          await syncFolder(dirname(path))
          return true
        } catch (cause) {
          if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return false
          throw cause
        } finally {
          await handle.close()
          await rm(draft, { force: true })
        }
      })
    )

const get =
  (folder: string): ObjectStoreService["get"] =>
  (key, options) =>
    Stream.unwrap(
      Effect.map(facts(folder)(key), () =>
        options?.passing === true
          ? readPassing(key, pathOf(folder, key), options.from ?? 0)
          : NodeStream.fromReadable<Uint8Array, ObjectStoreError>({
              evaluate: () => createReadStream(pathOf(folder, key), { start: options?.from ?? 0 }),
              chunkSize: READS_AT_ONCE,
              onError: failure(key)
            })
      )
    )

const list =
  (folder: string): ObjectStoreService["list"] =>
  (prefix) =>
    Stream.fromAsyncIterable(walk(folderOf(folder, prefix)), failure(prefix)).pipe(
      Stream.map((path) => relative(folder, path).split(sep).join("/")),
      Stream.filter((key) => key.startsWith(prefix) && isObjectKey(key)),
      // An object may go meanwhile.
      Stream.mapEffect((key) =>
        facts(folder)(key).pipe(
          Effect.map((found) => [found]),
          Effect.catchIf(
            ({ reason }) => reason === "missing",
            () => Effect.succeed([])
          )
        )
      ),
      Stream.flattenIterable
    )

const remove = (folder: string, key: string) =>
  isObjectKey(key)
    ? attempt(key, async () => {
        await rm(pathOf(folder, key), { force: true })
        await removeEmpty(dirname(pathOf(folder, key)), folder)
      })
    : Effect.void

/**
 * Objects in a folder on disk. An object is written to a draft, flushed, and moved to its path: it is complete or absent, also
 * after a power cut.
 */
export const makeDiskObjects = (folder: string): ObjectStoreService => ({
  put: put(folder),
  create: create(folder),
  get: get(folder),
  localPath: (key) => Effect.map(facts(folder)(key), () => pathOf(folder, key)),
  stat: facts(folder),
  list: list(folder),
  remove: (keys) => Effect.forEach(keys, (key) => remove(folder, key), { discard: true, concurrency: 8 }),
  // A volume that is full has a folder all the same: something has to be written.
  check: attempt("", async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, UNFINISHED, `${CHECK}${randomUUID()}`)
    const handle = await openNew(path)
    try {
      await handle.writeFile(CHECK_BYTES)
      // The file system may put off finding room until then.
      await handle.datasync()
    } finally {
      await handle.close()
      await rm(path, { force: true })
    }
  })
})
