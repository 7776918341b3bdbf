/** Tables with a rule below each row and none between columns: each drawn cell by cell, its parts tell of the columns. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../src/domain/conversion/page-content.ts"
import { FONT, htmlBelowText, rule, run } from "../page-builder.ts"

/** Where cells begin and end: the first two stand as near as words. */
const XS = [60, 100, 300]
const TOP = 300
const STEP = 30

/** Rows of two cells, the second ones of two lines, below the bar of a head. */
const cells = (count: number, top = TOP): ReadonlyArray<TextRun> =>
  Array.from({ length: count }, (_, row) => [
    run(`River${row}`, 62, top + STEP * row + 12),
    run("is long and wide, and has many", 102, top + STEP * row + 12),
    run("fishes, stones and boats", 102, top + STEP * row + 24)
  ]).flat()

const names = (top = TOP): ReadonlyArray<TextRun> => [
  run("Name", 62, top - 8, { font: FONT.bold }),
  run("What is said of it", 102, top - 8, { font: FONT.bold })
]

/** A rule, drawn in parts where columns meet. */
const inParts = (y: number, xs: ReadonlyArray<number> = XS): ReadonlyArray<Drawing> =>
  xs.slice(1).map((x, at) => rule(xs[at] ?? 0, y - 0.3, x, y + 0.3))
const rulesBelow = (count: number, top = TOP): ReadonlyArray<Drawing> =>
  Array.from({ length: count }, (_, row) => inParts(top + STEP * (row + 1))).flat()
const bar = (y = TOP): Drawing => rule(60, y - 2, 300, y + 2)

const rowsOf = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) => row.replaceAll(/<[^>]+>/g, "|"))

describe("tables with a rule below each row", () => {
  it("have the columns that the rules' parts show, their wrapped cells whole, and their names above the bar", () => {
    const html = htmlBelowText([...names(), ...cells(5)], [bar(), ...rulesBelow(5)])
    const rows = rowsOf(html)
    assert.strictEqual(rows.length, 6)
    assert.strictEqual(rows[0], "|Name||What is said of it|")
    assert.match(rows[5] ?? "", /\|River4\|+is long and wide, and has many fishes, stones and boats\|/)
  })

  it("have their names above the first rule, too, but not a caption", () => {
    const caption = run("Table 3 Rivers", 62, TOP - 20)
    const html = htmlBelowText([caption, ...names(), ...cells(5)], [...inParts(TOP), ...rulesBelow(5)])
    assert.strictEqual(rowsOf(html)[0], "|Name||What is said of it|")
    assert.include(html, "Table 3 Rivers")
  })

  it("are few rows where a bar stands below their head and each begins with one line", () => {
    const html = htmlBelowText([...names(), ...cells(2)], [bar(), ...rulesBelow(2)])
    assert.strictEqual(rowsOf(html).length, 3)
  })

  it("have rows that their rules do not tell apart where these stand below several lines", () => {
    const first = [0, 1, 2].map((row) => run(`Lake${row}`, 62, TOP + 9 + 10 * row))
    const second = [0, 1, 2].map((row) => run(`it has ${row} fishes`, 102, TOP + 9 + 10 * row))
    const html = htmlBelowText([...names(), ...first, ...second], [...inParts(TOP), ...rulesBelow(1)])
    assert.notInclude(html, "Lake0 Lake1")
  })

  it("are two where text stands between them", () => {
    const between = 300 + STEP * 4 + 20
    const text = [0, 1].map((line) =>
      run("Text that goes over all columns and is no cell", 60, between + 12 * line)
    )
    const second = between + 50
    const html = htmlBelowText(
      [...names(), ...cells(4), ...text, ...names(second), ...cells(4, second)],
      [bar(), ...rulesBelow(4), bar(second), ...rulesBelow(4, second)]
    )
    assert.strictEqual(html.split("<table").length - 1, 2)
    assert.include(html, "<p>Text that goes over all columns")
  })

  it("are two where a caption stands between them, however short", () => {
    const second = TOP + STEP * 4 + 50
    const html = htmlBelowText(
      [...names(), ...cells(4), run("Table 4", 62, second - 22), ...names(second), ...cells(4, second)],
      [bar(), ...rulesBelow(4), bar(second), ...rulesBelow(4, second)]
    )
    assert.strictEqual(html.split("<table").length - 1, 2)
  })

  it("are left to their words where rules are drawn at once", () => {
    const whole = Array.from({ length: 6 }, (_, row) =>
      rule(60, TOP + STEP * row - 0.3, 300, TOP + STEP * row + 0.3)
    )
    const html = htmlBelowText([...names(), ...cells(5)], whole)
    assert.notStrictEqual(
      rowsOf(html)[5],
      "|River4||is long and wide, and has many fishes, stones and boats|"
    )
  })
})
