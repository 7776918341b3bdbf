import { randomUUID } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import { FILE_ROOM } from "../../../../src/domain/conversion/file-room.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { layerPostgres } from "../../../support/postgres.ts"
import { clean, customer } from "./world.ts"

const { bytes: MOST_BYTES, files: MOST } = FILE_ROOM.free

const freeCustomer = Effect.gen(function* () {
  const id = yield* customer(0)
  yield* WriteSql.use((sql) => sql`update customers set plan_type = 'free' where id = ${id}::uuid`)
  return id
})

const add = (customerId: string, sizeBytes = 1) =>
  Effect.flatMap(ConversionStore, (store) => {
    const id = randomUUID()
    return store.addFile({
      id,
      customerId,
      name: "a",
      kind: "png",
      sizeBytes,
      pages: 1,
      objectKey: `files/${id}`
    })
  }).pipe(
    Effect.map(({ id }): string | undefined => id),
    Effect.catchTag("NoRoomForFile", () => Effect.succeed(undefined))
  )

suiteLayer(Layer.provideMerge(layer, layerPostgres))("room for files", (it) => {
  it.effect("uploads at once never come to more than a plan's files; a deleted one makes room", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* ConversionStore
      const owner = yield* freeCustomer
      yield* Effect.forEach(Array.from({ length: MOST - 2 }), () => add(owner))
      const answers = yield* Effect.forEach(Array.from({ length: 10 }), () => add(owner), { concurrency: 10 })
      const added = answers.filter((id) => id !== undefined)
      assert.lengthOf(added, 2)
      yield* store.deleteFile(added[0]!, owner)
      assert.isDefined(yield* add(owner))
      assert.isUndefined(yield* add(owner))
      // Another owner, and a paid plan, have room of their own.
      assert.isDefined(yield* add(yield* freeCustomer))
      yield* WriteSql.use((sql) => sql`update customers set plan_type = 'paid' where id = ${owner}::uuid`)
      assert.isDefined(yield* add(owner))
    })
  )

  it.effect("nor to more than its bytes", () =>
    Effect.gen(function* () {
      yield* clean
      const owner = yield* freeCustomer
      assert.isDefined(yield* add(owner, MOST_BYTES - 10))
      assert.isUndefined(yield* add(owner, 11))
      assert.isDefined(yield* add(owner, 10))
    })
  )
})
