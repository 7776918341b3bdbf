/** What the size of a line says of it: title, heading, text of its own. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../src/domain/conversion/layout/statistics.ts"
import type { TextRun } from "../../../../src/domain/conversion/page-content.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "./page-builder.ts"

const headingsOf = (...pages: ReadonlyArray<ReadonlyArray<TextRun>>): ReadonlyArray<string> =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: pages.map((runs, index) => page(runs, index)),
    others: NO_STATISTICS
  })
    .flatMap(({ html }) => [...html.matchAll(/<h\d>(.*?)<\/h\d>/g)])
    .map(([, words = ""]) => words.replaceAll(/<[^>]+>/g, ""))

describe("code that is larger than the text", () => {
  const page1 = (size: number) =>
    headingsOf([
      run("rivers-and-stones", 60, 60, { font: FONT.code, size }),
      ...lines(prose(60), 60, 120, 80),
      run("Waters", 60, 240, { font: FONT.bold, size: 12 }),
      ...lines(prose(60, 2), 60, 262, 80)
    ])

  it("is the title where it is much larger, else a command that is explained", () => {
    assert.deepStrictEqual(page1(17), ["rivers-and-stones", "Waters"])
    assert.deepStrictEqual(page1(12), ["Waters"])
  })

  it("is a heading in a document that is in typewriter throughout", () => {
    const code = { font: FONT.code }
    const found = headingsOf([
      run("Of rivers", 60, 60, { ...code, size: 17 }),
      ...lines(prose(60), 60, 120, 70, code),
      run("Waters", 60, 240, { ...code, size: 12 }),
      ...lines(prose(60, 2), 60, 262, 70, code)
    ])
    assert.deepStrictEqual(found, ["Of rivers", "Waters"])
  })
})

describe("text in two sizes", () => {
  /** Pages of small text, and one of larger text that holds the labels of a figure, too. */
  const pages = (words: number, letters: number) => [
    [
      run("Waters", 60, 60, { font: FONT.bold, size: 10 }),
      ...lines(prose(words), 60, 90, letters, { size: 10 }),
      ...["y", "x", "of it", "a", "b"].map((label, at) => run(label, 400, 300 + 30 * at, { size: 10 }))
    ],
    lines(prose(400, 2), 60, 60, 80, { size: 9 }),
    lines(prose(400, 3), 60, 60, 80, { size: 9 })
  ]

  it("has no headings in the larger one, whose part of the document is too large for that", () => {
    assert.deepStrictEqual(headingsOf(...pages(250, 30)), ["Waters"])
    assert.include(headingsOf(...pages(20, 60)), "of it a b")
  })
})
