import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

const htmlOf = (pages: ReadonlyArray<ReadonlyArray<TextRun>>): string =>
  layoutPages({
    facts: { ...FACTS, pageCount: pages.length },
    fonts: FONTS,
    pages: pages.map((runs, at) => page(runs, at)),
    others: NO_STATISTICS
  })
    .map(({ html }) => html)
    .join("")

/** A paragraph whose first line ends in a hyphen, and the words that stand around it. */
const cut = (before: string, after: string, y = 60) => [
  run(`These words are set so that a line ends with ${before}`, 60, y, { hyphenated: true }),
  run(`${after} and goes on below.`, 60, y + 12)
]

/** Fifty lines of text. */
const text = (seed: number) => lines(prose(330, seed), 60, 120, 45)

describe("a hyphen at a line's end", () => {
  it("stays where a document has many lines and divides no words", () => {
    assert.include(
      htmlOf([[...cut("cookie", "session"), ...text(1)], text(2)]),
      "with cookie-session and goes"
    )
  })

  it("divides a word that stands elsewhere on the page", () => {
    const known = [...cut("quali", "ties"), ...text(1), run("All qualities are named.", 60, 780)]
    assert.include(htmlOf([known, text(2)]), "with qualities and goes")
  })

  it("divides words where the document divides others", () => {
    const divides = [...cut("quali", "ties"), ...text(1), run("All qualities are named.", 60, 780)]
    assert.include(htmlOf([[...cut("syl", "lables"), ...text(2)], divides]), "with syllables and goes")
    const often = Array.from({ length: 4 }, (_, at) => cut(`syl${at}`, "lables", 60 + 40 * at)).flat()
    assert.include(htmlOf([often, text(1), text(2)]), "with syl2lables and goes")
  })

  it("is a compound's that stands elsewhere on the page, whatever the document does", () => {
    const html = htmlOf([[...cut("cookie", "session"), run("A cookie-session it is.", 60, 100)]])
    assert.include(html, "with cookie-session and goes")
  })

  it("is a compound's that has another before or after it, unless its parts are one word elsewhere", () => {
    assert.include(htmlOf([cut("state-of-the", "art")]), "with state-of-the-art and goes")
    const known = run("A cookie-session it is.", 60, 100)
    assert.include(htmlOf([[...cut("cookie-ses", "sion"), known]]), "with cookie-session and goes")
    assert.include(htmlOf([cut("end", "of-line")]), "with end-of-line and goes")
    assert.include(htmlOf([[...cut("coo", "kie-session"), known]]), "with cookie-session and goes")
  })

  it("is a compound's where letters change their case, unless its parts are one word elsewhere", () => {
    assert.include(htmlOf([cut("Cache", "Control")]), "with Cache-Control and goes")
    assert.include(htmlOf([cut("JSON", "like")]), "with JSON-like and goes")
    assert.include(htmlOf([cut("INTER", "NATIONAL")]), "with INTERNATIONAL and goes")
    assert.include(htmlOf([cut("pdfLa", "TeX")]), "with pdfLaTeX and goes")
    assert.include(htmlOf([cut("ProcQuery", "Extension")]), "with ProcQueryExtension and goes")
    assert.include(htmlOf([cut("Proc", "QueryExtension")]), "with ProcQueryExtension and goes")
    const known = run("In PostScript it is.", 60, 100)
    assert.include(htmlOf([[...cut("Post", "Script"), known]]), "with PostScript and goes")
  })

  it("stays in a document whose compounds change their case at it and that divides no word", () => {
    const often = ["Cache", "single", "stale", "plain"].flatMap((word, at) => {
      const after = at === 0 ? "Control" : "user"
      return cut(word, after, 60 + 40 * at)
    })
    assert.include(htmlOf([often, text(1), text(2)]), "with single-user and goes")
  })

  it("is looked at within bounds, however long its line is", () => {
    const long = "e".repeat(200_000)
    assert.include(htmlOf([cut(`${long}!`, long)]), "and goes on below")
  })

  it("stays in a listing", () => {
    const code = (words: string, y: number, hyphenated = false) =>
      run(words, 60, y, { font: FONT.code, hyphenated })
    const html = htmlOf([
      [...lines(prose(60), 60, 60, 90), code("run --with", 200, true), code("options --all", 212)]
    ])
    assert.include(html, "run --with-\noptions --all")
  })
})
