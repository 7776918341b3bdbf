import { Effect, Layer } from "effect"

import * as Deferrals from "../../../../src/adapters/postgres/mail/deferrals.ts"
import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { suite } from "../../../contracts/mail/deferrals.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { makePostgresWorld } from "../../../support/worlds/mail-world.ts"

const services = Layer.mergeAll(layer, Deferrals.layer).pipe(Layer.provideMerge(layerPostgres))

suite("PostgreSQL", (body) =>
  Effect.flatMap(makePostgresWorld, body).pipe(Effect.provide(services), Effect.orDie)
)
