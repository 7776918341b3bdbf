import { Effect } from "effect"

import { makeDeferrals } from "../../../src/adapters/memory/mail/deferrals.ts"
import { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import { suite } from "../../contracts/mail/deferrals.ts"
import { makeMemoryWorld } from "../../support/worlds/mail-world.ts"

suite("memory", (body) =>
  Effect.gen(function* () {
    const world = yield* makeMemoryWorld
    const deferrals = Deferrals.of({
      openKey: (key) =>
        Effect.flatMap(world.rows, (rows) =>
          world.inItsTime(makeDeferrals({ rows: () => rows }).openKey(key))
        )
    })
    return yield* Effect.provideService(body(world), Deferrals, deferrals)
  })
)
