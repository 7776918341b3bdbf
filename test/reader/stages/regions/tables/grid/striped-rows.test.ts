/** Tables of which every other row has a ground, drawn cell by cell. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { htmlBelowText, rule, run } from "../../../page-builder.ts"

const SIDES = [60, 120, 300, 380, 460]
const ground = (row: number, height = 20): ReadonlyArray<Drawing> =>
  SIDES.slice(1).map((right, at) => {
    const drawn = rule(SIDES[at] ?? 0, 200 + 20 * row, right, 200 + 20 * row + height)
    return drawn.kind === "path" ? { ...drawn, stroked: false, filled: true, color: 0xeeeeee } : drawn
  })
const words = (row: number, ...cells: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  cells.flatMap((cell, at) => (cell === "" ? [] : [run(cell, (SIDES[at] ?? 0) + 4, 214 + 20 * row)]))

const statement = [
  ...words(0, "Date", "Words", "Out", "In"),
  ...words(1, "02/03", "Light", "84,00", ""),
  ...words(2, "05/03", "Tax", "", "412,17"),
  ...words(3, "07/03", "Bread", "7,81", ""),
  ...words(4, "28/03", "Pay", "", "2 940,55")
]
const rowsIn = (html: string): number => html.split("<tr").length - 1

describe("stripes", () => {
  it("are rows of one table with those between them", () => {
    const html = htmlBelowText(statement, [...ground(0), ...ground(2), ...ground(4)])
    assert.strictEqual(rowsIn(html), 5)
    assert.match(html, /02\/03<\/t[dh]><td>Light<\/td><td>84,00<\/td><td><\/td>/)
  })

  it("are those of two tables where text is between them, words cross their sides, or they are far apart", () => {
    const stripes = [...ground(0), ...ground(1), ...ground(3), ...ground(4)]
    const others = statement.filter(({ baseline }) => baseline !== 254)
    const two = (...between: ReadonlyArray<TextRun>) =>
      assert.isAbove(htmlBelowText([...others, ...between], stripes).split("<table").length, 2)
    two(run("All that was paid in this month, and when it was paid", 64, 254))
    two()
  })
})
