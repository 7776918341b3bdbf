import { Effect, Stream } from "effect"

import { ConversionStore, type ConversionStoreError } from "../../ports/conversion-store.ts"
import { FileObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import { filePrefix, jobPrefix } from "./chunk-result.ts"

/** Files of one round. */
const AT_ONCE = 50

/** Keys of one delete. */
const KEYS_AT_ONCE = 500

/** Removes the objects of deleted files: the upload, chunk results and results. What a crash left of it is removed next time. */
export const purgeFiles: Effect.Effect<
  void,
  ConversionStoreError | ObjectStoreError,
  ConversionStore | FileObjects
> = Effect.gen(function* () {
  const store = yield* ConversionStore
  const objects = yield* FileObjects
  for (const { id, jobIds } of yield* store.filesToPurge(AT_ONCE)) {
    for (const prefix of [filePrefix(id), ...jobIds.map(jobPrefix)]) {
      yield* objects.list(prefix).pipe(
        Stream.map(({ key }) => key),
        Stream.grouped(KEYS_AT_ONCE),
        Stream.runForEach((keys) => objects.remove(keys))
      )
    }
    yield* store.filePurged(id)
  }
})
