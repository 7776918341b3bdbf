import { Effect, Layer } from "effect"

import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { suite } from "../../../contracts/mail/key-traces/index.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { makePostgresWorld } from "../../../support/worlds/mail-world.ts"

suite(
  "PostgreSQL",
  Effect.flatMap(Layer.build(layer.pipe(Layer.provideMerge(layerPostgres))), (context) =>
    Effect.provide(makePostgresWorld, context)
  )
)
