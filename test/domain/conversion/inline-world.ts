import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"

import { Duration, Effect, Layer, Stream } from "effect"

import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import { layer as layerAssembly } from "../../../src/adapters/html/html-assembly.ts"
import { layer as layerStore } from "../../../src/adapters/postgres/conversion/conversion-store.ts"
import type { FileKind } from "../../../src/domain/conversion/file.ts"
import type { CustomerId, FileId } from "../../../src/domain/ids.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../src/ports/object-store.ts"
import { WINDOW } from "../../contracts/conversion/documents-world.ts"
import { anyId } from "../../support/any-id.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"
import { TEMPORARY } from "../../support/temporary.ts"

/** Long beside what a test takes: a heartbeat comes when the test's clock is moved. */
export const HEARTBEAT = Duration.seconds(10)

/** Objects in a folder that goes with the scope. */
const layerFolder: Layer.Layer<FileObjects> = Layer.effect(
  FileObjects,
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(TEMPORARY, "postlane-files-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
    ),
    makeDiskObjects
  )
)

/** PostgreSQL, a folder, the assembly that is shipped. */
export const layerWorld = Layer.mergeAll(
  Layer.provideMerge(layerStore, layerPostgres),
  layerFolder,
  layerAssembly
)

/** A file of an owner, its bytes stored. */
export const stored = Effect.fnUntraced(function* (
  customerId: CustomerId,
  kind: FileKind,
  name: string,
  bytes: Uint8Array,
  pages = 1
) {
  const store = yield* ConversionStore
  const objects = yield* FileObjects
  const id = anyId()
  const objectKey = `files/${id}/source`
  const sizeBytes = yield* objects.put(objectKey, Stream.succeed(bytes), {
    contentType: "application/octet-stream"
  })
  return yield* store.addFile({ id, customerId, name, kind, sizeBytes, pages, objectKey })
})

/** Asks for its inline conversion. */
export const asked = Effect.fnUntraced(function* (customerId: CustomerId, fileId: FileId) {
  const store = yield* ConversionStore
  const jobId = anyId()
  const answer = yield* store.request({ jobId, fileId, customerId, options: {}, window: WINDOW })
  if (answer !== "queued") return yield* Effect.die(new Error(`the request was answered ${answer}`))
  return jobId
})

/** What its owner sees. */
export const seen = Effect.fnUntraced(function* (customerId: CustomerId, fileId: FileId) {
  const store = yield* ConversionStore
  const file = yield* store.file(fileId, customerId)
  if (file === undefined) return yield* Effect.die(new Error("the file is gone"))
  return file
})

/** The text of an object. */
export const textOf = Effect.fnUntraced(function* (key: string | null) {
  const objects = yield* FileObjects
  return yield* Stream.mkString(Stream.decodeText(objects.get(key ?? "none")))
})

/** Keys of the objects that have this in their name. */
export const keysWith = Effect.fnUntraced(function* (part: string) {
  const objects = yield* FileObjects
  const facts = yield* Stream.runCollect(objects.list(""))
  return facts.map(({ key }) => key).filter((key) => key.includes(part))
})
