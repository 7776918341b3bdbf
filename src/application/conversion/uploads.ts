import { Context, Data, Effect, Layer, Stream } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import type { StoredFile } from "../../domain/conversion/file.ts"
import {
  fileIdOf,
  fileKey,
  filePrefix,
  FILES,
  jobPrefix,
  NoRoomForFile
} from "../../domain/conversion/stored-files.ts"
import { type CustomerId, FileId } from "../../domain/ids.ts"
import { ConversionStore, type NewFile } from "../../ports/conversion/conversion-store.ts"
import {
  DocumentInspector,
  type DocumentReaderAway,
  type UnreadableDocument,
  type UnsupportedDocument
} from "../../ports/conversion/documents.ts"
import { FileObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { cleanFileName } from "../../reader/model/file-name.ts"
import { removeOrphans } from "../orphans.ts"

/** Largest file, bytes. */
export const MAX_FILE_BYTES = 1024 * 1024 * 1024

/** A file over {@link MAX_FILE_BYTES}. */
class FileTooLarge extends Data.TaggedError("FileTooLarge")<{}> {}

type UploadError =
  | FileTooLarge
  | NoRoomForFile
  | UnsupportedDocument
  | UnreadableDocument
  | DocumentReaderAway
  | ObjectStoreError
  | StoreUnavailable

/** A body that fails once it is larger than a file may be. */
const bounded = <E, R>(body: Stream.Stream<Uint8Array, E, R>) => {
  let size = 0
  return Stream.mapEffect(body, (bytes) => {
    size += bytes.length
    return size > MAX_FILE_BYTES ? Effect.fail(new FileTooLarge()) : Effect.succeed(bytes)
  })
}

/** An upload that may be attempted again, also while an earlier attempt is under way. */
interface UploadCall<E> {
  /** The same for all its attempts, which enter one file. */
  readonly id: string
  /** Compares the body, which was read, with that of an earlier attempt. */
  readonly sameContent: Effect.Effect<void, E>
}

/** Takes files in: streamed to the object store, inspected by content, then recorded. */
export class Uploads extends Context.Service<
  Uploads,
  {
    /** Leaves nothing behind when an upload fails or is cut off. */
    readonly add: <E, R, E2 = never>(upload: {
      readonly customerId: CustomerId
      readonly name: string
      /** The owner's own name for it. */
      readonly reference?: string | undefined
      readonly body: Stream.Stream<Uint8Array, E, R>
      readonly call?: UploadCall<E2> | undefined
    }) => Effect.Effect<StoredFile, UploadError | E | E2, R>
  }
>()("postlane/application/Uploads") {
  static readonly layer: Layer.Layer<
    Uploads,
    never,
    ConversionStore | DocumentInspector | FileObjects | SecureRandom
  > = Layer.effect(
    Uploads,
    Effect.gen(function* () {
      const store = yield* ConversionStore
      const inspector = yield* DocumentInspector
      const objects = yield* FileObjects
      const random = yield* SecureRandom

      /** Enters a file with a stored object, which is dropped where the file has another one, or none. */
      const enter = Effect.fnUntraced(function* (
        file: NewFile,
        dropped: Effect.Effect<void>,
        lost: Effect.Effect<void>
      ) {
        const entered = yield* store.addFile(file).pipe(
          Effect.tapErrorTag("NoRoomForFile", () => dropped),
          Effect.onError(() => lost)
        )
        if (entered.objectKey !== file.objectKey) yield* dropped
        return entered
      })

      return Uploads.of({
        add: Effect.fnUntraced(function* ({ body, call, customerId, name, reference }) {
          const id = FileId.make(call?.id ?? (yield* random.uuidV7()))
          const known = call && (yield* store.file(id, customerId))
          if (call !== undefined && known !== undefined) {
            yield* Stream.runDrain(bounded(body))
            yield* call.sameContent
            return known
          }
          // Checked before anything is read; `addFile` checks again, with the size.
          if (!(yield* store.hasRoom(customerId))) return yield* new NoRoomForFile()
          const objectKey = fileKey(id, call && (yield* random.uuidV7()))
          const sizeBytes = yield* objects.put(objectKey, bounded(body), {
            contentType: "application/octet-stream"
          })
          const dropped = Effect.ignore(objects.remove([objectKey]), { log: true })
          const inspected = objects
            .localPath(objectKey)
            .pipe(Effect.flatMap(inspector.inspect), Effect.scoped)
          // Where the answer of the entry is lost the row may be there, and no file may lack its object: the row goes, too. But an
          // upload that may be attempted again leaves both: the next attempt finds the row, and the sweep an object without one.
          const lost = call
            ? Effect.void
            : Effect.andThen(Effect.ignore(store.deleteFile(id, customerId)), dropped)
          return yield* Effect.uninterruptibleMask((restore) =>
            Effect.gen(function* () {
              const { leftOut = null, ...what } = yield* restore(
                Effect.tap(inspected, () => call?.sameContent ?? Effect.void)
              ).pipe(Effect.onError(() => dropped))
              const file = {
                id,
                customerId,
                name: cleanFileName(name),
                reference: reference ?? null,
                ...what,
                sizeBytes,
                objectKey,
                leftOut
              }
              return yield* enter(file, dropped, lost)
            })
          )
        })
      })
    })
  )
}

/** Files of one round. */
const AT_ONCE = 50

/** Keys of one delete. */
const KEYS_AT_ONCE = 500

/** Removes the objects of deleted files: the upload, chunk results and results. What a crash leaves is removed next time. */
export const purgeFiles: Effect.Effect<
  void,
  StoreUnavailable | ObjectStoreError,
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

/** Removes objects without a file: their upload's process died before it wrote the row. Returns how many. */
export const sweepUploads = Effect.gen(function* () {
  const store = yield* ConversionStore
  const objects = yield* FileObjects
  const removed = yield* removeOrphans(objects, {
    prefix: FILES,
    idOf: fileIdOf,
    withoutObjects: store.withoutObjects
  })
  if (removed > 0) yield* Effect.logInfo(`${removed} objects that belonged to no file were removed`)
  return removed
})
