import { randomUUID } from "node:crypto"
import { createWriteStream } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"

import * as NodeStream from "@effect/platform-node/NodeStream"
import { Duration, Effect, RcMap, type Scope } from "effect"

import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"

/** How long an unused copy is kept: the next chunk of a document often comes at once. */
const KEEP_FOR = Duration.seconds(30)

/** Copies of objects as files, one per object, shared by its readers and removed when it has none. */
export const makeLocalCopies = Effect.fnUntraced(function* (
  folder: string,
  get: ObjectStoreService["get"]
): Effect.fn.Return<ObjectStoreService["localPath"], never, Scope.Scope> {
  const copies = yield* RcMap.make({
    lookup: (key: string) =>
      Effect.acquireRelease(
        Effect.gen(function* () {
          const path = join(folder, randomUUID())
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
  return (key) => RcMap.get(copies, key)
})
