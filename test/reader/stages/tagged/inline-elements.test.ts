/** Elements within a paragraph that are words, and what stands there and is none. */
import { assert, describe, it } from "vitest"

import type { StructureElement, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, page, run, tag } from "../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>, ...structure: ReadonlyArray<StructureElement>): string =>
  (
    layoutPages({
      facts: { ...FACTS, tagged: true },
      fonts: FONTS,
      pages: [page(runs, 0, { structure: [tag("Document", structure)] })],
      others: NO_STATISTICS
    })[0]?.html ?? ""
  ).replaceAll(/ data-(open|cut|element)="\d*"/g, "")

/** Words beside one another, with the marked-content ids 0, 1, 2, … */
const beside = (...texts: ReadonlyArray<string>): ReadonlyArray<TextRun> => {
  let x = 60
  return texts.map((text, mcid) => {
    const one = run(text, x, 60, { mcid })
    x = one.box.x1 + 2.5
    return one
  })
}
const below = (...texts: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  texts.map((text, mcid) => run(text, 60, 60 + 20 * mcid, { mcid }))

const WORDS = beside("Write to", "this place", "and wait.")

describe("an element within a paragraph", () => {
  const around: ReadonlyArray<readonly [string, StructureElement]> = [
    ["nothing that has a meaning", tag("NonStruct", [1])],
    ["a link in it", tag("NonStruct", [tag("Link", [tag("Span", [1])])])],
    ["a program's own", tag("Private", [1])],
    ["an annotation", tag("Annot", [1])],
    ["words with their reading", tag("Ruby", [tag("RB", [1])])],
    ["a link around a paragraph", tag("Link", [tag("P", [1])])],
    ["code", tag("Code", [1])],
    ["a mark of a note", tag("Reference", [tag("Lbl", [1])])]
  ]
  for (const [what, element] of around)
    it(`does not end it: ${what}`, () => {
      assert.strictEqual(htmlOf(WORDS, tag("P", [0, element, 2])), "<p>Write to this place and wait.</p>")
    })

  it("does not end one of which all words are in elements", () => {
    const nodes = [tag("Span", [0]), tag("NonStruct", [1]), tag("Span", [2])]
    assert.strictEqual(htmlOf(WORDS, tag("P", nodes)), "<p>Write to this place and wait.</p>")
  })

  it("does not end words that stand in a cell or a group by themselves", () => {
    assert.strictEqual(
      htmlOf(WORDS, tag("Div", [0, tag("NonStruct", [1]), 2])),
      "<p>Write to this place and wait.</p>"
    )
  })

  it("is a paragraph where it has paragraphs below one another, or is no paragraph's", () => {
    const lines = below("One boat.", "Two boats.", "Three boats.")
    const apart = "<p>One boat.</p><p>Two boats.</p><p>Three boats.</p>"
    const nodes = [0, 1, 2].map((at) => tag("NonStruct", [tag("P", [at])]))
    assert.strictEqual(htmlOf(lines, tag("NonStruct", nodes)), apart)
    assert.strictEqual(htmlOf(lines, ...[0, 1, 2].map((at) => tag("NonStruct", [at]))), apart)
  })

  it("is a listing where it is code of several lines, or below the words", () => {
    const code = [
      run("Write:", 60, 60, { mcid: 0 }),
      run("let a = 1", 60, 80, { mcid: 1, font: FONT.code }),
      run("let b = 2", 60, 92, { mcid: 2, font: FONT.code })
    ]
    assert.match(htmlOf(code, tag("P", [0, tag("Code", [1, 2])])), /<pre><code>let a = 1\nlet b = 2/)
  })
})

describe("a note within a paragraph", () => {
  const runs = [
    run("The boats are counted", 60, 60, { mcid: 0 }),
    run("1", 166, 56, { mcid: 1, size: 6 }),
    run("in the month of May.", 172, 60, { mcid: 2 }),
    run("1", 60, 700, { mcid: 3, size: 6 }),
    run("By the harbour master.", 66, 703, { mcid: 4, size: 8 })
  ]
  const reference = tag("Reference", [tag("Lbl", [1])])
  const said =
    '<p>The boats are counted<a role="doc-noteref" href="#fn-1"><sup>1</sup></a> in the month of May.</p>' +
    '<div role="doc-footnote" id="fn-1"><p><sup>1</sup> By the harbour master.</p></div>'

  it("stands behind it, and the paragraph goes on behind the mark", () => {
    for (const type of ["Note", "FENote"])
      assert.strictEqual(
        htmlOf(runs, tag("P", [0, reference, tag(type, [tag("Lbl", [3]), tag("P", [4])]), 2])),
        said
      )
  })

  it("is the same as one behind it", () => {
    assert.strictEqual(htmlOf(runs, tag("P", [0, reference, 2]), tag("Note", [tag("Lbl", [3]), 4])), said)
  })
})

describe("a heading without a level", () => {
  it("has the level of the sections that are around it", () => {
    const runs = below("Top", "One", "Deep", "Deeper", "Two")
    const inner = tag("Sect", [tag("H", [2]), tag("Div", [tag("Art", [tag("H", [3])])])])
    assert.strictEqual(
      htmlOf(runs, tag("H", [0]), tag("Sect", [tag("H", [1]), inner]), tag("Sect", [tag("H", [4])])),
      "<h2>Top</h2><h2>One</h2><h3>Deep</h3><h4>Deeper</h4><h2>Two</h2>"
    )
  })

  it("keeps the level that it has by its own tag", () => {
    assert.strictEqual(
      htmlOf(below("Deep"), tag("Sect", [tag("Sect", [tag("Sect", [tag("H2", [0])])])])),
      "<h2>Deep</h2>"
    )
  })
})
