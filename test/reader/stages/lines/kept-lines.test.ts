/** Lines that were ended on purpose. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, run } from "../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")

const text = lines(prose(60), 60, 400, 90)
const block = (rows: ReadonlyArray<string>, x: (row: string) => number = () => 60) => [
  ...rows.map((row, at) => run(row, x(row), 100 + at * 12)),
  ...text
]

describe("lines that were ended on purpose", () => {
  it("stay lines of an address, a verse and a signature", () => {
    for (const rows of [
      ["River Works Ltd", "12 Stone Street", "Ann Arbor, MI 48109", "phone: 555 1234"],
      ["Yours sincerely,", "Ann River", "Head of stones"],
      ["River Works Ltd", "12 Stone Street", "info@river.example", "www.river.example", "tel. 555 1234"],
      [
        "Tyger Tyger, burning bright,",
        "In the forests of the night;",
        "What immortal hand or eye,",
        "Could it frame?"
      ]
    ])
      assert.include(htmlOf(block(rows)), `<p>${rows.join("<br>")}</p>`)
    const centred = ["Department of Rivers and of Stones", "Wright State University", "Dayton, OH 45435"]
    assert.include(htmlOf(block(centred, (row) => 285 - row.length * 2.5)), `<p>${centred.join("<br>")}</p>`)
  })

  it("stay two long lines where they are centred, but for the first one's want of room", () => {
    const middle = (row: string) => 285 - row.length * 2.5
    const two = ["Department of Computer Science and Engineering", "National University of Stones"]
    assert.include(htmlOf(block(two, middle)), `<p>${two.join("<br>")}</p>`)
    const full = [
      "A sentence that is centred below its picture goes on to the end of its whole line with",
      "Stones and rivers"
    ]
    assert.notInclude(htmlOf(block(full, middle)), "<br>")
  })

  it("are none where a short line follows the last one of a paragraph, whose words may be cut", () => {
    const paragraph = [
      run("This is a sentence about the rivers of a country and about each of the brack", 60, 100, {
        hyphenated: true
      }),
      run("ets that are set around its stones, one for each of the many that it has, and", 60, 112),
      run("one for all", 60, 124)
    ]
    const html = htmlOf([...paragraph, run("E.g.: stones", 60, 138), ...text])
    assert.include(html, "each of the brackets that are set")
    assert.notInclude(html, "<br>")
  })

  it("are none in running text: broken for want of room, in a narrow column, or at a sentence's end", () => {
    assert.notInclude(htmlOf(text), "<br>")
    assert.notInclude(htmlOf([...lines(prose(60, 2), 60, 100, 34), ...text]), "<br>")
    assert.notInclude(htmlOf(block(["River ends here.", "Stone begins there."])), "<br>")
    assert.notInclude(htmlOf(block(["“Where is it?”", "“Under the stone.”", "“And now?”"])), "<br>")
    assert.notInclude(
      htmlOf(block(["The river goes on", "and takes a stone", "to where no 12 of them are"])),
      "<br>"
    )
  })
})
