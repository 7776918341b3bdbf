import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

import { purgeFiles, sweepUploads } from "../../../src/application/conversion/uploads.ts"
import {
  chunkResultKey,
  fileKey,
  flyerResultKey,
  inlineResultKey,
  resultKey
} from "../../../src/domain/conversion/stored-files.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { FileObjects, ObjectStoreError, type ObjectStoreService } from "../../../src/ports/object-store.ts"
import { anyId } from "../../support/any-id.ts"
import { makeMapObjects } from "../../support/worlds/map-objects.ts"

const DELETED = [
  fileKey(anyId("gone")),
  flyerResultKey(anyId("gone"), anyId("lease")),
  inlineResultKey(anyId("gone"), anyId("lease")),
  chunkResultKey(anyId("first"), 0, anyId("lease")),
  resultKey(anyId("first"), anyId("lease")),
  // More than one delete takes.
  ...Array.from({ length: 600 }, (_, n) => chunkResultKey(anyId("second"), n, anyId("lease"))),
  resultKey(anyId("second"), anyId("lease"))
]
/** Of a file whose id, and whose jobs' ids, begin alike. */
const KEPT = [fileKey(anyId("gone2")), resultKey(anyId("first2"), anyId("lease"))]

/** A file that was deleted after two conversions, beside one that was not. */
const worldOf = (parts: Partial<ObjectStoreService> = {}) =>
  Effect.gen(function* () {
    const stored = new Map<string, Uint8Array>()
    const objects = makeMapObjects(stored)
    for (const key of [...DELETED, ...KEPT]) {
      yield* objects.put(key, Stream.make(new Uint8Array(1)), { contentType: "text/html" })
    }
    const waiting = [{ id: anyId("gone"), jobIds: [anyId("first"), anyId("second")] }]
    const store = Layer.mock(ConversionStore, {
      filesToPurge: () => Effect.sync(() => [...waiting]),
      filePurged: (id) =>
        Effect.sync(() => {
          const at = waiting.findIndex((file) => file.id === id)
          waiting.splice(at, 1)
        })
    })
    const run = Effect.provide(purgeFiles, [store, Layer.succeed(FileObjects, { ...objects, ...parts })])
    return { run, stored, waiting }
  })

describe("the objects of a deleted file", () => {
  it.effect("go, its upload and all that its conversions made, and nobody else's", () =>
    Effect.gen(function* () {
      const { run, stored, waiting } = yield* worldOf()
      yield* run
      assert.sameMembers([...stored.keys()], KEPT)
      assert.deepStrictEqual(waiting, [])
      yield* run
      assert.sameMembers([...stored.keys()], KEPT)
    })
  )

  it.effect("that cannot be removed now are removed another time", () =>
    Effect.gen(function* () {
      const away = new ObjectStoreError({ reason: "unavailable", key: "" })
      const { run, waiting } = yield* worldOf({ remove: () => Effect.fail(away) })
      assert.strictEqual(yield* Effect.flip(run), away)
      assert.lengthOf(waiting, 1)
    })
  )
})

/** An id of a file that was made now (UUID version 7). */
const madeNow = Effect.map(Clock.currentTimeMillis, (now) => {
  const time = now.toString(16).padStart(12, "0")
  return anyId(`${time.slice(0, 8)}-${time.slice(8)}-7000-8000-00000000000f`)
})

describe("the objects of an upload whose process died before its row was written", () => {
  it.effect("go two days later; those of files, and what has no time, stay", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const [lost, file] = [yield* madeNow, anyId("0199a000-0000-7000-8000-00000000000f")]
      const handMade = anyId("0199a000-0000-4000-8000-00000000000f")
      const stored = new Map<string, Uint8Array>()
      const objects = makeMapObjects(stored)
      const kept = [fileKey(file), fileKey(handMade), resultKey(lost, anyId("lease")), "files/strange"]
      for (const key of [fileKey(lost), ...kept])
        yield* objects.put(key, Stream.make(new Uint8Array(1)), { contentType: "text/html" })
      const store = Layer.mock(ConversionStore, {
        withoutObjects: (ids) => Effect.succeed(ids.filter((id) => id !== file))
      })
      const sweep = Effect.provide(sweepUploads, [store, Layer.succeed(FileObjects, objects)])
      assert.strictEqual(yield* sweep, 0, "it may be under way")
      yield* TestClock.adjust(Duration.hours(49))
      assert.strictEqual(yield* sweep, 1)
      assert.sameMembers([...stored.keys()], kept)
    })
  )
})
