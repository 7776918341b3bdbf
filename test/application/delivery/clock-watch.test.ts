import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"

import { makeAlarmBoard, NOTHING } from "../../../src/adapters/memory/delivery/alarm-board.ts"
import { watchClock } from "../../../src/application/delivery/clock-watch.ts"
import { AlarmBoard } from "../../../src/ports/delivery/alarm-board.ts"
import { clockAhead } from "../../support/later.ts"

const DAY = 86_400_000

/** One look of a process whose clock is off by so much, at a store that takes so long to answer. */
const look = Effect.fnUntraced(function* (offMs: number, takesMs = 0) {
  const measures = { now: NOTHING }
  const lines: Array<string> = []
  const board = makeAlarmBoard(measures)
  const store = yield* Clock.Clock
  const clock = Effect.sleep(takesMs / 2).pipe(
    Effect.andThen(Effect.provideService(board.clock, Clock.Clock, store)),
    Effect.tap(Effect.sleep(takesMs / 2))
  )
  const fiber = yield* watchClock("api-1:7").pipe(
    Effect.provideService(AlarmBoard, { ...board, clock }),
    Effect.provideService(
      Clock.Clock,
      clockAhead(store, () => offMs)
    ),
    Effect.provide(Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])),
    Effect.forkChild
  )
  yield* TestClock.adjust(takesMs)
  yield* Fiber.join(fiber)
  return { lines, measures }
})

describe("a process whose clock differs from the database's", () => {
  for (const [offMs, words] of [
    [DAY, "86400 s ahead of"],
    [-DAY, "86400 s behind"],
    [61_000, "61 s ahead of"]
  ] as const) {
    it.effect(`by ${offMs} ms says so, and is noted`, () =>
      Effect.gen(function* () {
        const { lines, measures } = yield* look(offMs)
        assert.lengthOf(lines, 1)
        assert.include(lines[0], `CLOCK_OFF this process's clock is ${words} the database's`)
        assert.strictEqual(measures.now.clocks.processOffMs, Math.abs(offMs))
      })
    )
  }

  it.effect("by a minute, or by what the answer's way may have taken, is not", () =>
    Effect.gen(function* () {
      for (const [offMs, takesMs] of [
        [60_000, 0],
        [-60_000, 0],
        [62_000, 8_000]
      ] as const) {
        const { lines, measures } = yield* look(offMs, takesMs)
        assert.deepStrictEqual(lines, [])
        assert.strictEqual(measures.now.clocks.processOffMs, 0)
      }
    })
  )
})
