import { Effect } from "effect"

import { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import { suite } from "../../contracts/mail/deferrals.ts"
import { makeMemoryWorld } from "../../support/worlds/mail-world.ts"

suite("memory", (body) =>
  Effect.gen(function* () {
    const world = yield* makeMemoryWorld
    return yield* Effect.provideService(body(world), Deferrals, Deferrals.of({ openKey: world.openKey }))
  })
)
