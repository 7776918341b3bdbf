import { randomUUID } from "node:crypto"
import { createWriteStream } from "node:fs"
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"

import * as NodeStream from "@effect/platform-node/NodeStream"
import { Clock, Duration, Effect, RcMap, type Scope } from "effect"

import { makeSweep } from "../../application/abandoned-files.ts"
import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"

/** How long an unused copy is kept: the next chunk of a document often comes at once. */
const KEEP_FOR = Duration.seconds(30)

/** What copies' names begin with: nothing else in their folder is touched. */
const COPY = "copy-"

/** Removes copies unused since a moment; one that disappears meanwhile is in use. */
const removeCopies = (folder: string) => (since: number) =>
  Effect.tryPromise(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) {
      if (!name.startsWith(COPY)) continue
      const path = join(folder, name)
      const asked = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Infinity
      )
      if (asked < since) await rm(path, { force: true })
    }
  })

/** Copies of objects as files, one per object, shared by its readers and removed when it has none. */
export const makeLocalCopies = Effect.fnUntraced(function* (
  folder: string,
  get: ObjectStoreService["get"]
): Effect.fn.Return<ObjectStoreService["localPath"], never, Scope.Scope> {
  const sweep = makeSweep(removeCopies(folder))
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
  // A failure is kept like a copy: the next reader would get it, too, though the store answers again.
  const copyOf = (key: string) => Effect.tapError(RcMap.get(copies, key), () => RcMap.invalidate(copies, key))
  return (key) => Effect.tap(copyOf(key), touched(key))
})
