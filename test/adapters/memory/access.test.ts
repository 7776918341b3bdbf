import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

import { layer, makeAccessDatabase } from "../../../src/adapters/memory/accounts/access.ts"
import { Access } from "../../../src/ports/accounts/access.ts"
import { StoreWorld } from "../../contracts/accounts/access/callers.ts"
import { suite } from "../../contracts/accounts/access/index.ts"

const memory = Layer.unwrap(
  Effect.sync(() => {
    const database = makeAccessDatabase()
    const embedded = layer({ embedded: true, promos: ["welcome"], database })
    const world = Layer.effect(
      StoreWorld,
      Effect.map(Access, (production) =>
        StoreWorld.of({
          production,
          now: Clock.currentTimeMillis,
          pass: (seconds) => TestClock.adjust(`${seconds} seconds`)
        })
      )
    ).pipe(Layer.provide(layer({ embedded: false, promos: ["welcome"], database })))
    return Layer.merge(embedded, world).pipe(Layer.provide(NodeCrypto.layer))
  })
)

suite("memory", memory)
