/** Notes below tables. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../../src/domain/conversion/layout/statistics.ts"
import type { TextRun } from "../../../../../src/domain/conversion/page-content.ts"
import { FACTS, FONTS, lines, page, prose, run } from "../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")

const raised = (mark: string, x: number, y: number): TextRun => run(mark, x, y - 4, { size: 6 })
const row = (y: number, ...cells: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  cells.flatMap((cell, at) => {
    const [words = "", mark] = cell.split("^")
    const x = 60 + 140 * at
    return [run(words, x, y), ...(mark === undefined ? [] : [raised(mark, x + 5 * words.length, y)])]
  })
const TABLE = [
  ...row(100, "Item", "Count", "Sum"),
  ...row(114, "Paper", "c", "4.50"),
  ...row(128, "Stone^a", "13", "5.50"),
  ...row(142, "River", "14^b", "6.50")
]
const note = (mark: string, words: string, y: number): ReadonlyArray<TextRun> => [
  raised(mark, 60, y),
  run(words, 64, y, { size: 8 })
]
const made = (...notes: ReadonlyArray<TextRun>): string =>
  htmlOf([...lines(prose(40), 60, 40, 90), ...TABLE, ...notes, ...lines(prose(90, 3), 60, 220, 90)])
const refersTo = (at: number, mark: string): string =>
  `<a role="doc-noteref" href="#table-note-${at}"><sup>${mark}</sup></a>`

describe("notes below a table", () => {
  it("are what the marks in its cells lead to, each a paragraph right below", () => {
    const html = made(...note("a", "Of last year.", 160), ...note("b", "Bridges are among them.", 170))
    assert.include(html, `Stone${refersTo(1, "a")}</th>`)
    assert.include(html, `<td>14${refersTo(2, "b")}</td>`)
    assert.match(
      html,
      /<\/table><p id="table-note-1"><sup>a<\/sup> ?Of last year\.\s*<\/p><p id="table-note-2"><sup>b<\/sup> ?Bridges are among them\.<\/p><\/div><p>/
    )
  })

  it("are only those whose marks the table has, raised, right below it", () => {
    for (const other of [
      note("c", "Of last year.", 160),
      [run("a Of last year.", 60, 160, { size: 8 })],
      [...lines(prose(30, 2), 60, 160, 90), ...note("a", "Of last year.", 200)]
    ])
      assert.notMatch(made(...other), /doc-noteref|table-note/)
  })
})
