import { assert, it } from "@effect/vitest"

import { intakeTables, measureIntake } from "./intake.ts"

const PATIENCE_MS = 120_000

it(
  "the benchmark of convert-by-email runs, and its tables hold every figure",
  async () => {
    const figures = await measureIntake({ pages: [1], rounds: 1, burst: 3 })
    const [times] = figures.times
    assert.isDefined(times)
    for (const value of [times.received, times.converted, times.replied, times.whole, times.alone]) {
      assert.isAbove(value, 0)
    }
    assert.isAtLeast(figures.burst.seconds, figures.burst.receivedSeconds)
    assert.lengthOf(intakeTables(figures).split("\n"), 7)
  },
  PATIENCE_MS
)
