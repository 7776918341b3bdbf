import { Effect, Layer } from "effect"

import * as Deferrals from "../../../../src/adapters/postgres/mail/deferrals.ts"
import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { suite } from "../../../contracts/deferrals.ts"
import { makePostgresWorld } from "../../../support/mail-world.ts"
import { layerPostgres } from "../../../support/postgres.ts"

const services = Layer.mergeAll(layer, Deferrals.layer).pipe(Layer.provideMerge(layerPostgres))

suite("PostgreSQL", (body) =>
  Effect.flatMap(makePostgresWorld, body).pipe(Effect.provide(services), Effect.orDie)
)
