import fc from "fast-check"
import { expect, it } from "vitest"

import { csvCell } from "../../../../src/adapters/http/server/csv.ts"

/** What a reader of RFC 4180 makes of a cell. */
const read = (cell: string) => cell.slice(1, -1).replaceAll('""', '"')

it("a cell is one cell, gives its text back, and never begins as a formula", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", '"', "'", ",", ";", "a", "＝", " ")
      }),
      (text) => {
        const cell = csvCell(text)
        expect(cell).toMatch(/^"(?:[^"]|"")*"$/)
        expect([text, `'${text}`]).toContain(read(cell))
        expect(read(cell)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
      }
    )
  )
  expect([csvCell(null), csvCell("a,b"), csvCell("1-1"), csvCell("'=1")]).toEqual([
    '""',
    '"a,b"',
    '"1-1"',
    `"'=1"`
  ])
})
