/** Tables with a rule below each row and none between columns, drawn cell by cell. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { htmlBelowText, rule, run } from "../../../page-builder.ts"
import { NAMES, RIVERS } from "../rivers.ts"

const TOP = 200
const STEP = 24
const PLACES = [60, 160, 220, 280]
const PARTS = [60, 150, 215, 275, 320]

const rowsOf = (rows: ReadonlyArray<ReadonlyArray<string>>, from = 0): ReadonlyArray<TextRun> =>
  rows.flatMap((row, at) =>
    row.flatMap((words, column) =>
      words === "" ? [] : [run(words, PLACES[column] ?? 0, TOP + STEP * (at + from))]
    )
  )

/** Rules below rows, a part each cell. */
const rulesBelow = (
  rows: ReadonlyArray<number>,
  { below = 8, parts = PARTS, thick = 0.4 } = {}
): ReadonlyArray<Drawing> =>
  rows.flatMap((row) =>
    parts
      .slice(1)
      .map((to, at) => rule(parts[at] ?? 0, TOP + STEP * row + below, to, TOP + STEP * row + below + thick))
  )

const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1
const rows = [NAMES, ...RIVERS]

describe("rules drawn cell by cell below each row, as word processors draw them", () => {
  const head = /<tr>(?:<th scope="col">\w+<\/th>){4}<\/tr><\/thead>/

  it("leave a row's second line in its cell", () => {
    const more = rows.map((_, at) => run("more of it", PLACES[0] ?? 0, TOP + STEP * at + 12))
    const html = htmlBelowText([...rowsOf(rows), ...more], rulesBelow([-1, 0, 1, 2, 3, 4], { below: 16 }))
    assert.strictEqual(count(html, "tr>"), rows.length)
    assert.match(html, /Bode more of it<\/t[dh]><td>169<\/td><td>44<\/td>/)
  })

  it("have the names of columns above the first one, and the last row below the last", () => {
    const html = htmlBelowText(rowsOf(rows), rulesBelow([0, 1, 2, 3]))
    assert.match(html, head)
    assert.strictEqual(count(html, "tr>"), rows.length)
    assert.strictEqual(count(html, "p>"), 1)
  })

  it("may be a bar below the names", () => {
    const html = htmlBelowText(rowsOf(rows), [
      ...rulesBelow([0], { parts: [60, 320], thick: 5 }),
      ...rulesBelow([1, 2, 3, 4])
    ])
    assert.match(html, head)
    assert.strictEqual(count(html, "tr>"), rows.length)
  })

  it("leave words that go over columns in a cell over those", () => {
    const name = run("Rivers of the north, all years", 60, TOP + STEP)
    const html = htmlBelowText(
      [...rowsOf([NAMES]), name, ...rowsOf(RIVERS, 2)],
      rulesBelow([-1, 0, 1, 2, 3, 4, 5])
    )
    assert.match(html, /colspan="2">Rivers of the north, all years</)
    assert.strictEqual(count(html, "tr>"), rows.length + 1)
  })

  it("are those of two tables where text stands between them", () => {
    const text = ["These words are about the table below", "and go on in a second line of text"].map(
      (words, at) => run(words, 60, TOP + STEP * 6 + 12 * at)
    )
    const html = htmlBelowText(
      [...rowsOf(rows), ...text, ...rowsOf(rows, 8)],
      rulesBelow([0, 1, 2, 3, 4, 8, 9, 10, 11, 12])
    )
    assert.strictEqual(count(html, "table"), 2)
    assert.match(html, /<p>These words are about the table below<\/p><p>and go on/)
  })

  it("are those of two tables where a caption stands between them", () => {
    const html = htmlBelowText(
      [...rowsOf(rows), run("Table 2: Rivers", 60, TOP + STEP * 7), ...rowsOf(rows, 8)],
      rulesBelow([0, 1, 2, 3, 4, 8, 9, 10, 11, 12])
    )
    assert.strictEqual(count(html, "table"), 2)
  })

  it("tell nothing of rows where several stand between them", () => {
    const close = rows.flatMap((row, at) =>
      [0, 1].flatMap((half) =>
        row.map((words, column) => run(words, PLACES[column] ?? 0, TOP + STEP * at + 12 * half))
      )
    )
    const html = htmlBelowText(close, rulesBelow([-1, 0, 1, 2, 3, 4], { below: 16 }))
    assert.notMatch(html, /Bode Bode/)
  })
})
