/** Tables as LaTeX sets them in papers: names over several columns, units below names, cells that rows share, narrow paragraphs. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../src/domain/conversion/page-content.ts"
import { htmlBelowText, rule, run } from "../page-builder.ts"

const TOP = 200
const STEP = 12

const at = (row: number, words: string, x: number): TextRun => run(words, x, TOP + STEP * row)

/** A level rule below a row. */
const below = (row: number, from = 60, to = 320): Drawing =>
  rule(from, TOP + STEP * row + 4, to, TOP + STEP * row + 4.4)

const cell = (words: string): string => `<t[dh][^>]*>${words}</t[dh]>`

describe("a cell in the middle of the rows that share it", () => {
  const kinds = ["rush", "moss", "fern", "reed"]
  const table = (places: ReadonlyArray<number>) =>
    htmlBelowText(
      [
        at(0, "Place Kind Days", 60),
        ...["Marsh", "Moor"].map((name, number) => at(places[number] ?? 0, name, 60)),
        ...kinds.flatMap((kind, number) => [at(number + 1, kind, 90), at(number + 1, `${number}`, 120)])
      ],
      [below(-1, 60, 140), below(0, 60, 140), below(4, 60, 140)]
    )

  it("shows the white before the next column, so that their names are cut there", () => {
    const html = table([1.5, 3.5])
    assert.match(html, /rowspan="2"[^>]*>Marsh<\/t[hd]>/)
    assert.match(html, new RegExp(cell("Place") + cell("Kind") + cell("Days")))
  })

  it("is none where it stands a row above them, as a name of a group does", () => {
    assert.notInclude(table([1, 3]), "rowspan")
  })
})

describe("a sign of mathematics", () => {
  const table = (signs: ReadonlyArray<string>) =>
    htmlBelowText(
      [
        at(0, "Odds Fit  Days", 60),
        ...signs.map((sign, number) => at(number + 1, `B${number}    ${sign}`, 60))
      ],
      [below(-1, 60, 180), below(0, 60, 180), below(signs.length, 60, 180)]
    )

  it("is a cell's only one where the white beside it is wide", () => {
    assert.match(
      table(["×    12", "×    31", "×    44", "×    58"]),
      new RegExp(cell("B1") + cell("×") + cell("31"))
    )
  })

  it("is a formula's where it is a word's", () => {
    assert.match(table(["× 12", "× 31", "× 44", "× 58"]), new RegExp(cell("× 31")))
  })
})
