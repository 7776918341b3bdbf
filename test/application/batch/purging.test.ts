import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { purgeBatches } from "../../../src/application/batch/driver.ts"
import { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { anyId } from "../../support/any-id.ts"
import { makeMapObjects } from "../../support/worlds/map-objects.ts"

describe("the objects of ended batches", () => {
  it.effect("go in one tick, however many batches there are", () =>
    Effect.gen(function* () {
      const waiting = new Set(Array.from({ length: 105 }, (_, n) => `row-${n}`))
      const store = Layer.mock(BatchStore, {
        toPurge: (_after, limit) =>
          Effect.sync(() => [...waiting].slice(0, limit).map((id) => ({ id, jobId: anyId(`job of ${id}`) }))),
        purged: (id) => Effect.sync(() => void waiting.delete(id))
      })
      yield* Effect.provide(purgeBatches, [store, Layer.succeed(BatchObjects, makeMapObjects(new Map()))])
      assert.strictEqual(waiting.size, 0)
    })
  )
})
