import { assert, it } from "@effect/vitest"

import { dropTable, measureDrops } from "./drop.ts"

it("the time from a drop to its first page and its result is measured", async () => {
  const times = await measureDrops({ pages: [1, 41], rounds: 1, manuals: false })
  assert.deepStrictEqual(
    times.map(({ pages }) => pages),
    [1, 41]
  )
  for (const { firstPage, result } of times) {
    assert.isAbove(firstPage, 0)
    assert.isAtMost(firstPage, result)
  }
  assert.lengthOf(dropTable(times).split("\n"), 4)
})
