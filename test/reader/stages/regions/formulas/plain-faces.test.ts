/** Formulas of documents without TeX: words in a face of text, operators in Symbol. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { PageContent } from "../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, rule, run } from "../../page-builder.ts"

const [plain] = FONTS
const SYMBOL = FONTS.length
const fonts = plain === undefined ? FONTS : [...FONTS, { ...plain, name: "Symbol", symbolic: true }]

const htmlOf = (content: PageContent): string =>
  layoutPages({ facts: FACTS, fonts, pages: [content], others: NO_STATISTICS })[0]?.html ?? ""

/** A sum over a fraction with its number, between two paragraphs; `size` is the formula's, `small` that of limits. */
const sum = (size: number, small: number, big: number): PageContent => {
  const y = 200
  return page(
    [
      ...lines(prose(60), 60, 80, 90),
      run("x", 180, y, { size }),
      run("=", 190, y, { size }),
      run("∑", 202, y + 2, { font: SYMBOL, size: big }),
      run("n", 206, y - 0.95 * big, { size: small }),
      run("i=1", 203, y + 0.95 * big, { size: small }),
      run("(a+b)", 224, y - 0.6 * size, { size }),
      run("c", 232, y + 0.9 * size, { size }),
      run("i", 232.3 + size / 2, y + 0.9 * size + 2, { size: 7 }),
      run("(3)", 505, y),
      ...lines(prose(60, 7), 60, 260, 90)
    ],
    0,
    { drawings: [rule(224, y - 3, 260, y - 3)] }
  )
}

describe("a formula in a face of text, with an operator of Symbol", () => {
  it.each([
    [10, 7, 16],
    [12, 8, 20],
    [14, 7, 24]
  ])("is one formula with its number at %d points, its limits at %d", (size, small, big) => {
    const html = htmlOf(sum(size, small, big))
    assert.strictEqual(html.match(/<math display="block"/g)?.length, 1)
    assert.match(html, /<mo>∑<\/mo>.*<\/math> \(3\)<\/p>/)
    assert.notMatch(html, /<h\d|<[ou]l/)
  })
})

const word = fc.constantFrom(
  "c",
  "i",
  "n",
  "(3)",
  "3.",
  "•",
  "x =",
  "∑",
  "A",
  "(a+b)",
  "river",
  "über",
  "1.",
  "–"
)
const someRun = fc
  .record({
    text: word,
    x: fc.integer({ min: 50, max: 500 }),
    y: fc.integer({ min: 60, max: 780 }),
    size: fc.constantFrom(6, 7, 10, 10, 12, 14, 20),
    font: fc.integer({ min: 0, max: SYMBOL })
  })
  .map(({ text, x, y, ...set }) => run(text, x, y, set))
const somePage = fc
  .array(someRun, { maxLength: 25 })
  .map((runs) => page([...lines(prose(30), 60, 20, 90), ...runs]))

describe("a page of scattered letters and marks", () => {
  it("has no heading of a lone letter", () => {
    fc.assert(
      fc.property(somePage, (content) => {
        for (const [, words = ""] of htmlOf(content).matchAll(/<h\d[^>]*>(.*?)<\/h\d>/g))
          assert.notMatch(words.replaceAll(/<[^>]+>|\s/g, ""), /^\p{L}$/u)
      }),
      { numRuns: 60 }
    )
  })

  it("has no empty block", () => {
    fc.assert(
      fc.property(somePage, (content) => {
        const html = htmlOf(content)
        assert.notMatch(
          html,
          /<(p|h\d|ol|ul|blockquote)\b[^>]*>(?:\s|<\/?(?:li|p|b|i|sub|sup)\b[^>]*>)*<\/\1>/
        )
      }),
      { numRuns: 60 }
    )
  })
})
