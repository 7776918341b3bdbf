import { assert, it } from "@effect/vitest"

import { measureServerMemory } from "./server-memory.ts"

it.each([
  ["npm start", false],
  ["serve", true]
])("a server's memory is measured while it converts: %s", async (_name, serves) => {
  const figures = await measureServerMemory({ documents: 3, serves })
  assert.deepStrictEqual([figures.documents, figures.leftOut, figures.pages], [3, 0, 24])
  assert.isAbove(figures.peakBytes, figures.startBytes)
  assert.isAtLeast(figures.peakBytes, figures.medianBytes)
  assert.lengthOf(figures.tenths, 10)
})
