/** What the size of a line says of it: title, heading, text of its own. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

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
    assert.include(headingsOf(...pages(20, 60)), "of it")
  })
})

describe("code that is smaller than the text, as browsers set it", () => {
  const code = { font: FONT.code, size: 8 }
  const htmlOf = (last: ReadonlyArray<TextRun>): string =>
    layoutPages({
      facts: FACTS,
      fonts: FONTS,
      pages: [
        page([
          ...lines(prose(120), 60, 620, 80),
          run("It is read in each of the folders of the project, and while it loads your", 60, 752),
          ...last
        ])
      ],
      others: NO_STATISTICS
    })
      .map(({ html }) => html)
      .join("")

  it("makes no small print of a line that it is most of", () => {
    const html = htmlOf([
      run("config. By default ", 60, 764),
      run("process.env.NODE_ENV and process.cwd()", 160, 764, code),
      run(" are", 345, 764)
    ])
    assert.match(html, /it loads your config\. By default <code>process/)
    assert.notInclude(html, 'role="note"')
  })

  it("is a listing on lines of its own, and small print is aside", () => {
    assert.match(htmlOf([run("{ river: 12 }", 60, 764, code)]), /it loads your<\/p><pre>/)
    assert.match(
      htmlOf([run("Department of Rivers, all rights", 60, 764, { size: 8 })]),
      /role="note"><p[^>]*>Dep/
    )
  })
})
