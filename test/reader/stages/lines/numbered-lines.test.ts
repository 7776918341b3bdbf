/** Steps of algorithms. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, rule, run, type Set } from "../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>): string =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [
      page([...lines(prose(60), 60, 60, 80), ...runs], 0, {
        drawings: [186, 400].map((y) => rule(60, y, 460, y + 0.4))
      })
    ],
    others: NO_STATISTICS
  })
    .map(({ html }) => html)
    .join("")

const STEPS = [
  "river = stone",
  "while river > stone",
  "river = margin",
  "river = letter",
  "end while",
  "return river"
]

const steps = (numberOf: (at: number) => string, set: Set = {}): ReadonlyArray<TextRun> =>
  STEPS.flatMap((words, at) => {
    const y = 200 + 12 * at
    const isEnd = words === "end while"
    return [
      run(numberOf(at), 60, y, set),
      run(words, words.includes("=") && at > 0 ? 90 : 75, y, { font: isEnd ? FONT.bold : FONT.plain })
    ]
  })

describe("steps of an algorithm", () => {
  it("are a list by their numbers, neither rows of a table nor headings where they are bold", () => {
    const html = htmlOf(steps((at) => `${at + 1}:`))
    assert.match(html, /<ol><li>river = stone<\/li>/)
    assert.lengthOf(html.match(/<li>/g) ?? [], STEPS.length)
    assert.notMatch(html, /<table|<h\d|<td/)
    assert.include(htmlOf(steps((at) => `${at + 4}:`)), '<ol start="4">')
  })

  it("may be counted by small numbers", () => {
    assert.lengthOf(htmlOf(steps((at) => String(at + 1), { size: 6 })).match(/<li>/g) ?? [], STEPS.length)
  })

  it("are not the rows of a table, whose numbers are as large as their words, nor numbers that do not count", () => {
    assert.notInclude(htmlOf(steps((at) => String(at + 1))), "<ol")
    assert.notInclude(htmlOf(steps((at) => `${7 * at + 1}:`)), "<ol")
  })
})
