/** Tables whose rows are in groups: found in parts, they are one. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, run, type Set as Look } from "../../../page-builder.ts"

const BOLD = { font: FONT.bold }
const PLACES = [60, 220, 280, 340, 420]
const cells = (y: number, words: ReadonlyArray<string>, look: Look = {}): ReadonlyArray<TextRun> =>
  words.flatMap((word, at) => (word === "" ? [] : [run(word, PLACES[at] ?? 0, y, look)]))

/** A report of a laboratory: names of columns, and two groups of tests, each below its name. */
const report = (between: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => [
  ...cells(200, ["Test", "Found", "Flag", "Unit", "Usual"], BOLD),
  run("BLOOD", 60, 221, BOLD),
  ...cells(234, ["Globin", "118", "L", "g/L", "120 – 155"]),
  ...cells(247, ["White cells", "6.2", "", "1/L", "4.0 – 11.0"]),
  ...cells(260, ["Plates", "412", "H", "1/L", "150 – 400"]),
  ...between,
  ...cells(310, ["Sodium", "139", "", "mmol", "135 – 145"]),
  ...cells(323, ["Potassium", "5.9", "H", "mmol", "3.5 – 5.1"])
]
const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1

describe("a table in groups", () => {
  it("is one, with its head, the names of its groups and remarks between its rows", () => {
    const html = htmlBelowText(
      report([run("Repeat in six weeks.", 72, 273, { size: 9 }), run("CHEMISTRY", 60, 297, BOLD)])
    )
    assert.strictEqual(count(html, "table"), 1)
    assert.match(html, /<thead><tr><th scope="col">Test<\/th><th scope="col">Found/)
    assert.match(html, /<td colspan="5"><strong>CHEMISTRY<\/strong><\/td>/)
    assert.match(html, /<td colspan="5">Repeat in six weeks\.<\/td>/)
    assert.match(html, /Sodium<\/t[dh]><td>139<\/td><td><\/td><td>mmol/)
  })

  it("ends before a caption, a heading and a paragraph", () => {
    const ends = (...between: ReadonlyArray<TextRun>) =>
      assert.notMatch(htmlBelowText(report(between)), /Plates(?:(?!<\/table>).)*Sodium/)
    ends(run("Table 2: Chemistry", 60, 290))
    ends(run("Chemistry", 60, 290, { font: FONT.bold, size: 14 }))
    ends(run(`All of these ${"were found again in the spring, ".repeat(3)}and kept.`, 60, 285))
  })

  it("has no line of the page's other column", () => {
    const isCell = (words: string): RegExp => new RegExp(`<t[dh][^>]*>[^<]*${words}`, "u")
    const beside = [run("The river of the other column", 520, 330), run("goes on", 520, 342)]
    assert.notMatch(htmlBelowText([...report([]), ...beside]), isCell("The river"))
  })
})
