/** DOC-28: words that were written in another order than they are read in. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { asParagraph, type Block, plain } from "../../../../src/reader/model/block.ts"
import { isInOtherOrder } from "../../../../src/reader/stages/doubt/order-doubts.ts"
import { run } from "../page-builder.ts"

const paragraph = (text: string): Block => asParagraph({ spans: [plain(text)] })
const written = (texts: ReadonlyArray<string>) => texts.map((text, at) => run(text, 60, 60 + 12 * at))
/** Words that are all different. */
const distinct = fc.uniqueArray(fc.stringMatching(/^[a-z]{3,9}$/), { minLength: 24, maxLength: 60 })

describe("the order of words", () => {
  it("is the written one wherever paragraphs and lines end, and is not where every word is elsewhere", () => {
    fc.assert(
      fc.property(distinct, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (words, a, b) => {
        const cut = (by: number) =>
          words.flatMap((_, at) => (at % by === 0 ? [words.slice(at, at + by).join(" ")] : []))
        assert.isFalse(isInOtherOrder(cut(a).map(paragraph), written(cut(b))))
        assert.isTrue(isInOtherOrder(cut(a).map(paragraph), written(words.toReversed())))
      })
    )
  })

  it("is another one in a single cell that has the lines of two; a few words of it say nothing", () => {
    const prose = Array.from(
      { length: 80 },
      (_, at) => `word${"abcdefghij".charAt(at % 10)}${"klmnopqr".charAt(at / 10)}`
    )
    const cell = (text: string): Block => ({
      kind: "table",
      caption: [],
      headRows: 0,
      rows: [[{ blocks: [paragraph(text)], header: undefined, colSpan: 1, rowSpan: 1 }]],
      seam: { element: undefined, open: false, hyphenated: false, small: false }
    })
    const runs = written([
      prose.join(" "),
      "number",
      "No",
      "Enough to try",
      "each transport",
      "at most once",
      "Attempts"
    ])
    const doubted = (text: string) => isInOtherOrder([paragraph(prose.join(" ")), cell(text)], runs)
    assert.isTrue(doubted("Enough to No try each number transport at most Attempts once"))
    assert.isFalse(doubted("Enough to try each transport at most once"))
    assert.isFalse(doubted("each No Attempts transport"))
  })

  it("is not asked of formulas, bullets, and pages of a few words", () => {
    assert.isFalse(
      isInOtherOrder([paragraph("one two three four")], written(["four", "three", "two", "one"]))
    )
    const items = [
      "river stone",
      "letter margin",
      "quiet alpha",
      "under over",
      "moon sun",
      "field wood",
      "hill dale"
    ]
    assert.isFalse(isInOtherOrder(items.map(paragraph), written(items.map((item) => `o ${item}`))))
  })
})
