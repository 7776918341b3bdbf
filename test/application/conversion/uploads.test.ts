import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Stream } from "effect"

import { MAX_FILE_BYTES, Uploads } from "../../../src/application/conversion/uploads.ts"
import { fileKey } from "../../../src/domain/conversion/stored-files.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { DocumentInspector } from "../../../src/ports/conversion/documents.ts"
import { FileObjects } from "../../../src/ports/object-store.ts"
import { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { storedFile } from "../../domain/conversion/stored-file.ts"
import { anyId } from "../../support/any-id.ts"

const PIECE = new Uint8Array(16 * 1024 * 1024)

/** A body of so many bytes, whose length nobody said beforehand; it takes no more memory than a piece. */
const bodyOf = (bytes: number) =>
  Stream.unfold(bytes, (left) =>
    Effect.succeed(
      left === 0
        ? undefined
        : ([PIECE.subarray(0, Math.min(left, PIECE.length)), left - Math.min(left, PIECE.length)] as const)
    )
  )

/** Stores that keep nothing, and tell how much came. */
const worldOf = (hasRoom = true) => {
  let taken = 0
  const added: Array<number> = []
  const layer = Uploads.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.mock(FileObjects, {
          put: (_, body) =>
            Stream.runForEach(body, (bytes) => Effect.sync(() => void (taken += bytes.length))).pipe(
              Effect.map(() => taken)
            ),
          localPath: () => Effect.succeed("/a"),
          remove: () => Effect.void
        }),
        Layer.mock(DocumentInspector, { inspect: () => Effect.succeed({ kind: "pdf", pages: 1 }) }),
        Layer.mock(ConversionStore, {
          hasRoom: () => Effect.succeed(hasRoom),
          addFile: ({ sizeBytes }) =>
            Effect.sync(() => {
              added.push(sizeBytes)
              return storedFile({ sizeBytes })
            })
        }),
        NodeCrypto.layer
      )
    )
  )
  return { added, layer, taken: () => taken }
}

const upload = (bytes: number) =>
  Uploads.use((uploads) => uploads.add({ customerId: anyId("owner"), name: "a.pdf", body: bodyOf(bytes) }))

describe("an upload whose length was not said", () => {
  it.effect("is broken off where it is larger than a file may be, and no file is made of it", () => {
    const { added, layer, taken } = worldOf()
    return Effect.gen(function* () {
      const error = yield* Effect.flip(upload(2 * MAX_FILE_BYTES))
      assert.strictEqual(error._tag, "FileTooLarge")
      assert.isAtMost(taken(), MAX_FILE_BYTES)
      assert.deepStrictEqual(added, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("may be as large as a file may be", () => {
    const { added, layer } = worldOf()
    return Effect.gen(function* () {
      assert.strictEqual((yield* upload(MAX_FILE_BYTES)).sizeBytes, MAX_FILE_BYTES)
      assert.deepStrictEqual(added, [MAX_FILE_BYTES])
    }).pipe(Effect.provide(layer))
  })
})

describe("an upload of an owner without room for another file", () => {
  it.effect("is refused before anything of it is read", () => {
    const { added, layer, taken } = worldOf(false)
    return Effect.gen(function* () {
      const error = yield* Effect.flip(upload(MAX_FILE_BYTES))
      assert.strictEqual(error._tag, "NoRoomForFile")
      assert.deepStrictEqual([taken(), added], [0, []])
    }).pipe(Effect.provide(layer))
  })
})

/** An owner's rows and objects, and an answer to the new row that is late, or lost after the row is there. */
const rowsAndObjects = (answer: Effect.Effect<void, StoreUnavailable>) => {
  const rows = new Set<string>()
  const objects = new Set<string>()
  const layer = Uploads.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.mock(FileObjects, {
          put: (key) => Effect.sync(() => objects.add(key).size),
          localPath: () => Effect.succeed("/a"),
          remove: (keys) => Effect.sync(() => keys.forEach((key) => objects.delete(key)))
        }),
        Layer.mock(DocumentInspector, { inspect: () => Effect.succeed({ kind: "pdf", pages: 1 }) }),
        Layer.mock(ConversionStore, {
          hasRoom: () => Effect.succeed(true),
          addFile: ({ objectKey }) =>
            Effect.suspend(() => {
              rows.add(objectKey)
              return Effect.as(answer, storedFile({ objectKey }))
            }),
          deleteFile: (id) => Effect.sync(() => (rows.delete(fileKey(id)) ? "deleted" : "not_found"))
        }),
        NodeCrypto.layer
      )
    )
  )
  return { layer, rows, objects }
}

describe("C3: a file has its object", () => {
  it.effect("where the caller hangs up once the row is written", () =>
    Effect.gen(function* () {
      const answer = yield* Latch.make()
      const { layer, objects, rows } = rowsAndObjects(answer.await)
      const caller = yield* Effect.forkChild(Effect.provide(upload(10), layer))
      while (rows.size === 0) yield* Effect.yieldNow
      const hungUp = yield* Effect.forkChild(Fiber.interrupt(caller))
      yield* Effect.yieldNow
      yield* answer.open
      yield* Fiber.join(hungUp)
      assert.deepStrictEqual([...objects], [...rows])
    })
  )

  it.effect("where the answer of its row is lost: neither is left", () =>
    Effect.gen(function* () {
      const away = new StoreUnavailable({ operation: "addFile", reason: "away", isRetryable: true })
      const { layer, objects, rows } = rowsAndObjects(Effect.fail(away))
      assert.strictEqual(yield* Effect.flip(Effect.provide(upload(10), layer)), away)
      assert.deepStrictEqual([[...objects], [...rows]], [[], []])
    })
  )
})
