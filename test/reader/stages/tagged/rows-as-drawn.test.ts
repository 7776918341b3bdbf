/** Cells of a tagged row in the order in which they are drawn. */
import { assert, describe, it } from "vitest"

import type { StructureElement, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, page, rule, run, tag } from "../page-builder.ts"

/** The rows of a table whose cells stand in columns 100 points wide; each cell says its column and, after a colon, the row if it is another's. */
const rowsOf = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  drawings: Parameters<typeof page>[2] = {}
): ReadonlyArray<string> => {
  const runs: Array<TextRun> = []
  const table: ReadonlyArray<StructureElement> = rows.map((row, at) =>
    tag(
      "TR",
      row.map((cell) => {
        if (cell === "") return tag("TD", [])
        const [column = "0", own = String(at)] = cell.split(":")
        const words = `r${own}c${column}`
        runs.push(run(words, 60 + 100 * Number(column), 100 + 20 * Number(own), { mcid: runs.length }))
        return tag("TD", [runs.length - 1])
      })
    )
  )
  const html = layoutPages({
    facts: { ...FACTS, tagged: true },
    fonts: FONTS,
    pages: [page(runs, 0, { structure: [tag("Table", table)], ...drawings })],
    others: NO_STATISTICS
  })[0]?.html
  return (html ?? "")
    .split("<tr>")
    .slice(1)
    .map((row) =>
      row
        .replaceAll(/<\/t[dh]>/g, " ")
        .replaceAll(/<[^>]*>/g, "")
        .trimEnd()
    )
}

describe("cells of a tagged row", () => {
  it("are in the order in which they are drawn", () => {
    assert.deepEqual(
      rowsOf([
        ["0", "2", "1"],
        ["0", "1", "2"],
        ["2", "0", "1"]
      ]),
      ["r0c0 r0c1 r0c2", "r1c0 r1c1 r1c2", "r2c0 r2c1 r2c2"]
    )
  })

  it("leave their column empty where one of them is", () => {
    assert.deepEqual(
      rowsOf([
        ["0", "1", "2"],
        ["2", "0", ""]
      ]),
      ["r0c0 r0c1 r0c2", "r1c0  r1c2"]
    )
  })

  it("stay as they are tagged where the whole table goes from right to left, or they stand over one another", () => {
    assert.deepEqual(
      rowsOf([
        ["2", "1", "0"],
        ["2", "1", "0"]
      ]),
      ["r0c2 r0c1 r0c0", "r1c2 r1c1 r1c0"]
    )
    assert.deepEqual(
      rowsOf([
        ["0.1", "0"],
        ["0", "1"]
      ]),
      ["r0c0.1 r0c0", "r1c0 r1c1"]
    )
  })

  it("are put into the row between whose rules they stand", () => {
    const drawings = [
      ...[85, 105, 125, 145].map((y) => rule(55, y, 255, y)),
      ...[55, 155, 255].map((x) => rule(x, 85, x, 145))
    ]
    assert.deepEqual(
      rowsOf(
        [
          ["0", "1:1"],
          ["0", "1:0"],
          ["0", "1"]
        ],
        { drawings }
      ),
      ["r0c0 r0c1", "r1c0 r1c1", "r2c0 r2c1"]
    )
  })

  it("have a column of their own where an empty one is not tagged", () => {
    assert.deepEqual(
      rowsOf([
        ["0", "1", "2"],
        ["1", "2"],
        ["0", "2"]
      ]),
      ["r0c0 r0c1 r0c2", " r1c1 r1c2", "r2c0  r2c2"]
    )
  })
})
