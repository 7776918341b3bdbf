/** Columns in a face of code: letters of a listing are on one grid, those of columns need not be. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { FONT, htmlOf, lines, prose, run } from "../../../page-builder.ts"

const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1
const text = lines(prose(60), 60, 60, 90)
const code = (words: string, x: number, y: number): TextRun => run(words, x, y, { font: FONT.code })

const TERMS = ["-deep", "-wide", "places"]
const EXPLAINED = ["Rivers as deep as lakes are.", "Those that are wide.", "A list of places."]

/** Terms at the left, and words that begin so far behind them. */
const rowsAt = (apart: number, words: ReadonlyArray<string> = EXPLAINED): ReadonlyArray<TextRun> =>
  TERMS.flatMap((term, at) => [
    code(term, 60, 240 + 20 * at),
    code(words[at] ?? "", 60 + apart, 240 + 20 * at)
  ])

describe("words in a face of code", () => {
  it("are a table where columns begin off the grid of the letters", () => {
    const html = htmlOf([...text, ...rowsAt(165)])
    assert.deepEqual([count(html, "tr"), count(html, "pre")], [3, 0])
    assert.match(html, /<td>.*-wide.*<\/td><td>.*Those that are wide\./)
  })

  it("are a listing where they are on that grid, and where a tabulator leads to a mark of the ruler", () => {
    for (const apart of [168, 141.73, 177.165]) {
      const html = htmlOf([...text, ...rowsAt(apart)])
      assert.deepEqual([count(html, "table"), count(html, "pre")], [0, 1], String(apart))
    }
  })

  it("are a listing where all but the numbers before them are on the grid", () => {
    const numbers = TERMS.map((_, at) => run(String(2 * at + 7), 50, 240 + 20 * at, { size: 6 }))
    const html = htmlOf([
      ...text,
      ...numbers.flatMap((number, at) => [number, ...rowsAt(168).slice(2 * at, 2 * at + 2)])
    ])
    assert.deepEqual([count(html, "table"), count(html, "pre")], [0, 1])
  })

  it("are one listing with the lines below where they have a program's signs", () => {
    const signs = rowsAt(165, ["= deep(a)[1];", "= { wide: b };", "(. places(); .)"])
    const html = htmlOf([...text, ...signs, code("end deep", 60, 294)])
    assert.deepEqual([count(html, "table"), count(html, "pre")], [0, 1])
  })

  it("are a listing where comments stand behind them", () => {
    const html = htmlOf([
      ...text,
      ...rowsAt(
        165,
        EXPLAINED.map((words) => `# ${words}`)
      )
    ])
    assert.deepEqual([count(html, "table"), count(html, "pre")], [0, 1])
  })

  it("are no list of terms, as text that explains them in its own face is", () => {
    const explained = TERMS.flatMap((term, at) => [
      code(term, 60, 240 + 20 * at),
      run(EXPLAINED[at] ?? "", 225, 240 + 20 * at)
    ])
    const html = htmlOf([...text, ...explained])
    assert.deepEqual([count(html, "table"), count(html, "dl")], [0, 1])
  })
})
