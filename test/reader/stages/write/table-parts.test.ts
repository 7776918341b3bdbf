import fc from "fast-check"
import { expect, it } from "vitest"

import { tableParts } from "../../../../src/reader/stages/write/table-parts.ts"

const cell = (rowSpan: number) => ({ blocks: [], colSpan: 1, rowSpan, header: "column" }) as const

it("no cell reaches beyond its part of the table, and no row or cell is lost", () => {
  const table = fc
    .array(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 5
    })
    .chain((spans) => fc.tuple(fc.constant(spans), fc.nat(spans.length)))
  fc.assert(
    fc.property(table, ([spans, headRows]) => {
      const rows = spans.map((row) => row.map(cell))
      const parts = tableParts({ headRows, rows })
      for (const part of parts)
        for (const [at, row] of part.entries())
          for (const { rowSpan } of row) expect(at + rowSpan).toBeLessThanOrEqual(part.length)
      expect(parts.flat().map((row) => row.length)).toEqual(spans.map((row) => row.length))
    })
  )
})

it("a head of which no cell reaches down stays one; another is body, whose header cells keep their spans", () => {
  const [plain, body] = [[cell(1), cell(1)], [cell(1)]]
  expect(tableParts({ headRows: 1, rows: [plain, body] })).toEqual([[plain], [body]])
  const deep = [cell(2), cell(1)]
  expect(tableParts({ headRows: 1, rows: [deep, body] })).toEqual([[], [deep, body]])
})
