import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { layerDatabase, TestDatabase } from "../../support/postgres/postgres.ts"
import { intakeTables, measureIntake } from "./intake.ts"

it.live("the benchmark of convert-by-email runs, and its tables hold every figure", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const figures = yield* Effect.promise(() =>
      measureIntake({ pages: [1], rounds: 1, burst: 3, databaseUrl: url })
    )
    const [times] = figures.times
    assert.isDefined(times)
    for (const value of [times.received, times.converted, times.replied, times.whole, times.alone]) {
      assert.isAbove(value, 0)
    }
    assert.isAtLeast(figures.burst.seconds, figures.burst.receivedSeconds)
    assert.lengthOf(intakeTables(figures).split("\n"), 7)
  }).pipe(Effect.provide(layerDatabase))
)
