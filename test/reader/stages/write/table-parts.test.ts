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

it("a column in which no cell begins is none", () => {
  const wide = (colSpan: number) => ({ ...cell(1), colSpan })
  const spansOf = (...rows: ReadonlyArray<ReadonlyArray<number>>) =>
    tableParts({ headRows: 0, rows: rows.map((row) => row.map(wide)) })[1].map((row) =>
      row.map(({ colSpan }) => colSpan)
    )
  expect(spansOf([2, 1], [2, 1])).toEqual([
    [1, 1],
    [1, 1]
  ])
  expect(spansOf([2, 1], [1, 1, 1])).toEqual([
    [2, 1],
    [1, 1, 1]
  ])
  // The second row's cell is behind one that reaches down.
  expect(
    tableParts({ headRows: 0, rows: [[cell(2), wide(2)], [wide(2)]] })[1]
      .flat()
      .map(({ colSpan }) => colSpan)
  ).toEqual([1, 1, 1])
})
