import { randomUUID } from "node:crypto"
import { createWriteStream } from "node:fs"
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"

import * as NodeStream from "@effect/platform-node/NodeStream"
import { Clock, Duration, Effect, RcMap, type Scope } from "effect"

import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"

/** How long an unused copy is kept: the next chunk of a document often comes at once. */
const KEEP_FOR = Duration.seconds(30)

/** A copy that nobody has asked for in so long was left by a process that died: no chunk takes a day. */
const ABANDONED_MS = 24 * 60 * 60 * 1000

/** What copies' names begin with: nothing else in their folder is touched. */
const COPY = "copy-"

/** Copies are looked through as often. */
const LOOK_EVERY_MS = 60 * 60 * 1000

/** Removes the copies of processes that died: whole documents, which nobody else would ever remove. */
const makeSweep = (folder: string) => {
  let lookedAt = -Infinity
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - lookedAt < LOOK_EVERY_MS) return
    lookedAt = now
    yield* Effect.tryPromise(async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const name of await readdir(folder)) {
        if (!name.startsWith(COPY)) continue
        const path = join(folder, name)
        // One that goes meanwhile is not abandoned.
        const touched = await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => now
        )
        if (now - touched > ABANDONED_MS) await rm(path, { force: true })
      }
    }).pipe(Effect.ignore({ log: true }))
  })
}

/** Copies of objects as files, one per object, shared by its readers and removed when it has none. */
export const makeLocalCopies = Effect.fnUntraced(function* (
  folder: string,
  get: ObjectStoreService["get"]
): Effect.fn.Return<ObjectStoreService["localPath"], never, Scope.Scope> {
  const sweep = makeSweep(folder)
  const copies = yield* RcMap.make({
    lookup: (key: string) =>
      Effect.acquireRelease(
        Effect.gen(function* () {
          yield* sweep
          const path = join(folder, `${COPY}${randomUUID()}`)
          const source = yield* NodeStream.toReadable(get(key))
          yield* Effect.tryPromise({
            try: async (signal) => {
              await mkdir(folder, { recursive: true, mode: 0o700 })
              await pipeline(source, createWriteStream(path, { mode: 0o600 }), { signal })
            },
            catch: (cause) =>
              cause instanceof ObjectStoreError
                ? cause
                : new ObjectStoreError({ reason: "unavailable", key, cause })
          }).pipe(Effect.onError(() => Effect.promise(() => rm(path, { force: true }))))
          return path
        }),
        (path) => Effect.promise(() => rm(path, { force: true })),
        { interruptible: true }
      ),
    idleTimeToLive: KEEP_FOR
  })
  /** For the sweeps of other processes: the copy is in use. */
  const touched = (key: string) => (path: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.tryPromise({
        try: () => utimes(path, now / 1000, now / 1000),
        catch: (cause) => new ObjectStoreError({ reason: "unavailable", key, cause })
      })
    )
  return (key) => Effect.tap(RcMap.get(copies, key), touched(key))
})
