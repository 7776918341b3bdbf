/** Tables of which every other row has a ground, drawn cell by cell. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { htmlBelowText, rule, run } from "../../../page-builder.ts"

const SIDES = [60, 120, 300, 380, 460]
/** Tops of the rows: those without a ground have two lines. */
const TOPS = [200, 220, 252, 272, 304]
const ground = (row: number, height = 20): ReadonlyArray<Drawing> =>
  SIDES.slice(1).map((right, at) => {
    const drawn = rule(SIDES[at] ?? 0, TOPS[row] ?? 0, right, (TOPS[row] ?? 0) + height)
    return drawn.kind === "path" ? { ...drawn, stroked: false, filled: true, color: 0xeeeeee } : drawn
  })
const words = (row: number, ...cells: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  cells.flatMap((cell, at) => (cell === "" ? [] : [run(cell, (SIDES[at] ?? 0) + 4, (TOPS[row] ?? 0) + 14)]))

const statement = [
  ...words(0, "Date", "Words", "Out", "In"),
  ...words(1, "02/03", "Light", "84,00", ""),
  run("Ref. 88213", 124, 246),
  ...words(2, "05/03", "Tax", "", "412,17"),
  ...words(3, "07/03", "Bread", "7,81", ""),
  run("at the pier", 124, 298),
  ...words(4, "28/03", "Pay", "", "2 940,55")
]
const rowsIn = (html: string): number => html.split("<tr").length - 1

describe("stripes", () => {
  it("are rows of one table with those between them, with their head, however many lines each has", () => {
    const page = [
      ...words(0, "Date", "Words", "Out", "In"),
      ...words(1, "", "Old sum", "", "1 204,44"),
      ...words(2, "02/03", "Light", "84,00", "").slice(0, 2),
      run("Ref. 88213 of the mandate", 124, 278),
      ...words(2, "", "", "84,00", ""),
      ...words(3, "05/03", "Tax", "", "412,17")
    ]
    const html = htmlBelowText(page, [...ground(0), ...ground(1, 32), ...ground(3, 32)])
    assert.strictEqual(rowsIn(html), 4)
    assert.include(html, "Ref. 88213 of the mandate")
  })

  it("are those of two tables where text is between them, words cross their sides, or they are far apart", () => {
    const stripes = [...ground(0), ...ground(1, 32), ...ground(3, 32), ...ground(4)]
    const others = statement.filter(({ baseline }) => baseline !== 266)
    const two = (...between: ReadonlyArray<TextRun>) =>
      assert.isAbove(htmlBelowText([...others, ...between], stripes).split("<table").length, 2)
    two(run("All that was paid in this month, and when it was paid", 64, 266))
    two()
  })
})
