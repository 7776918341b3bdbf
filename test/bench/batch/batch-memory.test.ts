import { assert, it } from "@effect/vitest"

import { batchTable, measureBatchMemory, memoryRatio } from "./batch-memory.ts"

it("every step of the batch memory proof runs, and its table holds it", () => {
  const lines = measureBatchMemory([21])
  assert.deepStrictEqual(
    lines.map(({ records, step }) => [records, step]),
    [
      [21, "prepare"],
      [21, "collect"]
    ]
  )
  for (const { bytes, records } of lines) assert.isAbove(bytes, records * 80_000)
  assert.isAbove(memoryRatio(lines, "collect"), 0)
  assert.lengthOf(batchTable(lines).split("\n"), lines.length + 2)
})
