/** Rows between two rules, on a page: each line of a cell is given, the cells' lines on the same baselines. */
import { assert, describe, it } from "vitest"

import { htmlBelowText, rule, run } from "../../../page-builder.ts"

const [LEFT, TOP, WIDE, STEP] = [60, 300, 120, 14]

/** The rows of a table whose bands, each between two rules, have cells of these lines. */
const rowsOf = (
  ...bands: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>>
): ReadonlyArray<ReadonlyArray<string>> => {
  const columns = bands[0]?.length ?? 0
  const heights = bands.map((band) => STEP * Math.max(...band.map(({ length }) => length)) + 8)
  const tops = heights.map((_, at) => TOP + heights.slice(0, at).reduce((sum, height) => sum + height, 0))
  const bottom = TOP + heights.reduce((sum, height) => sum + height, 0)
  const right = LEFT + WIDE * columns
  const runs = bands.flatMap((band, at) =>
    band.flatMap((cell, column) =>
      cell.map((text, row) => run(text, LEFT + WIDE * column + 6, (tops[at] ?? 0) + 14 + STEP * row))
    )
  )
  const drawings = [
    ...[...tops, bottom].map((y) => rule(LEFT, y, right, y + 0.5)),
    ...Array.from({ length: columns + 1 }, (_, at) =>
      rule(LEFT + WIDE * at, TOP, LEFT + WIDE * at + 0.5, bottom)
    )
  ]
  const html = htmlBelowText(runs, drawings)
  return [...html.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = ""]) =>
      cell.replaceAll(/<[^>]*>/g, " ").trim()
    )
  )
}

const head = [["Name"], ["City"], ["Amount"]]

describe("several lines between two rules", () => {
  it("are rows where all cells have as many, and a column has figures", () => {
    assert.deepStrictEqual(
      rowsOf(head, [
        ["Anna", "Ben", "Cleo"],
        ["Berlin", "Rome", "Oslo"],
        ["10", "20", "30"]
      ]),
      [
        ["Name", "City", "Amount"],
        ["Anna", "Berlin", "10"],
        ["Ben", "Rome", "20"],
        ["Cleo", "Oslo", "30"]
      ]
    )
  })

  it("are rows band by band, beside those of one line", () => {
    const rows = rowsOf(
      head,
      [
        ["A", "B"],
        ["X", "Y"],
        ["1", "2"]
      ],
      [["Total"], [], ["3"]],
      [["C", "D"], [], ["4", "5"]]
    )
    assert.deepStrictEqual(
      rows.map(([name]) => name),
      ["Name", "A", "B", "Total", "C", "D"]
    )
  })

  it("are one row where a cell's words go on, where cells have more or fewer lines, and where no column has figures", () => {
    const names = (...band: ReadonlyArray<ReadonlyArray<string>>) => rowsOf(head, band).length
    assert.strictEqual(names(["Anna of", "the harbour"], ["Berlin", "Rome"], ["10", "20"]), 2)
    assert.strictEqual(names(["Anna"], ["Berlin", "(Mitte)"], ["10", "20"]), 2)
    assert.strictEqual(names(["Anna", "Ben"], ["Berlin", "Rome"], ["red", "blue"]), 2)
    assert.strictEqual(names(["Anna", "Ben"], ["Berlin", "Rome"], ["10", "n.a."]), 2)
  })
})
