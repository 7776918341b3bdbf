import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { POLLS_A_TICK } from "../../../src/application/batch/lane-settings.ts"
import { layerDatabase, TestDatabase } from "../../support/postgres/postgres.ts"
import { measureBatchSpeed } from "./batch-speed.ts"
import { speedTable, tickTable } from "./batch-tables.ts"
import { measureTicks } from "./batch-ticks.ts"

it("every row of the batch lane's speed runs, and its table holds it", async () => {
  const lines = await measureBatchSpeed({
    pages: [3],
    others: [],
    outputs: [{ records: 30, echo: 100 }],
    rounds: 1
  })
  assert.deepStrictEqual(
    lines.map(({ items }) => items),
    [3, 30]
  )
  for (const { cpuRatio, perSecond, ratio } of lines)
    assert.isTrue([cpuRatio, perSecond, ratio].every((figure) => Number.isFinite(figure) && figure > 0))
  assert.lengthOf(speedTable(lines).split("\n"), lines.length + 2)
})

it.live("ticks are counted and timed", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const lines = yield* Effect.promise(() =>
      measureTicks({ rows: POLLS_A_TICK + 10, times: 1, databaseUrl: url })
    )
    assert.deepStrictEqual(
      lines.map(({ asked, due, queries }) => [due, queries, asked]),
      [
        [false, 4, 0],
        [true, 4, POLLS_A_TICK]
      ]
    )
    assert.lengthOf(tickTable(lines).split("\n"), lines.length + 2)
  }).pipe(Effect.provide(layerDatabase))
)
