/** Numbers of lines in the margin. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../../src/domain/conversion/layout/statistics.ts"
import type { TextRun } from "../../../../../src/domain/conversion/page-content.ts"
import { FACTS, FONTS, lines, page, prose, run } from "../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .map(({ html }) => html)
    .join("")

const numbers = (count: number, x: number, of: (at: number) => number): ReadonlyArray<TextRun> =>
  Array.from({ length: count }, (_, at) => {
    const digits = String(of(at))
    return run(digits, x - digits.length * 2.5, 100 + at * 12, { size: 5 })
  })

describe("numbers of lines", () => {
  const text = lines(prose(120), 60, 100, 80)

  it("are left out on either side of the text", () => {
    for (const x of [48, 500]) {
      const html = htmlOf([...numbers(text.length, x, (at) => at + 96), ...text])
      assert.notMatch(html, /\d\d/)
      assert.lengthOf(html.match(/<p/g) ?? [], 1)
    }
  })

  it("are not those of a table's rows, nor numbers that do not count", () => {
    const cells = Array.from({ length: 8 }, (_, at) => [
      run("river", 80, 100 + at * 12),
      run(String(at * 7 + 30), 300, 100 + at * 12)
    ]).flat()
    assert.include(htmlOf([...numbers(8, 60, (at) => at + 51), ...cells]), "58")
    assert.include(htmlOf([...numbers(8, 48, (at) => (at * 37) % 90), ...text]), "37")
  })
})
