import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { samplePages } from "../../src/application/conversion/work/layout-plan.ts"
import { coverageOf, htmlWords, wordsOf } from "../../src/domain/cascade/coverage.ts"
import type { PageContent, TextRun } from "../../src/reader/model/page-content.ts"
import { countPages, layoutPages } from "../../src/reader/pipeline.ts"
import { mergeStatistics, NO_STATISTICS } from "../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, page, rule, run } from "./stages/page-builder.ts"

const lay = (pages: ReadonlyArray<PageContent>) =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages, others: NO_STATISTICS })

const word = fc.constantFrom(
  "alpha",
  "Beta",
  "3.50",
  "•",
  "1.",
  "(a)",
  "river",
  "über",
  "Table 1:",
  "x",
  "....",
  "12",
  "<b>",
  "&amp;"
)
const someRun: fc.Arbitrary<TextRun> = fc
  .record({
    words: fc.array(word, { minLength: 1, maxLength: 6 }),
    x: fc.integer({ min: -50, max: 700 }),
    y: fc.integer({ min: -50, max: 900 }),
    size: fc.constantFrom(6, 8, 10, 10, 10, 12, 20),
    font: fc.integer({ min: 0, max: 4 }),
    hyphenated: fc.boolean()
  })
  .map(({ words, x, y, ...set }) => run(words.join(" "), x, y, set))
/** Ends a run in a word of its own: text drawn twice and titles that a page repeats are rightly shown once. */
const marked = (one: TextRun, at: number): TextRun =>
  run(`${one.text} n${at}`, one.box.x0, one.baseline, {
    size: one.size,
    font: one.font,
    hyphenated: one.hyphenated
  })
const somePage = fc
  .record({
    runs: fc.array(someRun, { maxLength: 60 }),
    rules: fc.array(
      fc.tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 800 }), fc.boolean()),
      { maxLength: 20 }
    )
  })
  .map(({ rules, runs }) =>
    page(runs.map(marked), 0, {
      drawings: rules.map(([x, y, across]) => (across ? rule(x, y, x + 90, y) : rule(x, y, x, y + 60)))
    })
  )

describe("the layout tier", () => {
  it("keeps every letter of a page that stands alone, and adds none", () => {
    fc.assert(
      fc.property(somePage, (content) => {
        const [made] = lay([content])
        const letters = (words: ReadonlyArray<string>) => words.join("").split("").sort().join("")
        const wanted = letters(content.runs.flatMap(({ text }) => wordsOf(text)))
        // Field labels and marks of lists are the only words that HTML may show otherwise: markers are dropped.
        const found = letters(htmlWords(made?.html ?? ""))
        assert.isTrue(found.length <= wanted.length, "no word is made up")
        const { share } = coverageOf(
          content.runs.map(({ text }) => text.replaceAll(/^(•|1\.|\(a\)|\s)+/g, "")).join(" "),
          made?.html ?? ""
        )
        assert.isAbove(share, 0.75)
      }),
      { numRuns: 150 }
    )
  })

  it("keeps the paragraphs that follow a lone number, which makes no list", () => {
    const [made] = lay([
      page([run("1. Alpha begins", 60, 100), run("and goes on", 72, 124), run("to its end", 72, 148)])
    ])
    assert.deepStrictEqual(htmlWords(made?.html ?? ""), wordsOf("1. Alpha begins and goes on to its end"))
  })

  it("is total: any numbers give fragments whose tags are closed", () => {
    const wild = fc.record({
      text: fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
      x: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      y: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      size: fc.double({ min: 0, max: 14_400, noNaN: true }),
      angle: fc.constantFrom(0, 0, 90, 180, 270, 33)
    })
    fc.assert(
      fc.property(fc.array(wild, { maxLength: 40 }), (all) => {
        const [made] = lay([page(all.map(({ text, x, y, ...set }) => run(text, x, y, set)))])
        const open = [...(made?.html ?? "").matchAll(/<([a-z]\w*)/g)].filter(
          ([, name]) => name !== "img" && name !== "input"
        ).length
        assert.strictEqual(made?.html.match(/<\//g)?.length ?? 0, open)
      }),
      { numRuns: 200 }
    )
  })

  it("takes no more room for text that damage sets miles away", () => {
    const near = Array.from({ length: 12 }, (_, at) => run("words of the page", 60, 100 + 14 * at))
    const far = fc.record({
      at: fc.integer({ min: 0, max: 11 }),
      x: fc.constantFrom(1e6, 2e9, 1e13, -1e13),
      y: fc.constantFrom(100, 1e9, -1e9)
    })
    fc.assert(
      fc.property(fc.array(far, { minLength: 1, maxLength: 6 }), (places) => {
        const damaged = places.map(({ at, x, y }): TextRun => {
          const one = run("astray", 60, 100 + 14 * at)
          return {
            ...one,
            box: { ...one.box, x0: Math.min(60, x), x1: Math.max(90, x), y1: Math.max(one.box.y1, y) }
          }
        })
        const [laid] = lay([page([...near, ...damaged])])
        assert.include(laid?.html, "words of the page")
      }),
      { numRuns: 50 }
    )
  })

  it("goes through pages of 10,000 runs, however they lie", () => {
    const many = (place: (at: number) => readonly [number, number]) =>
      Array.from({ length: 10_000 }, (_, at) => run("ab", ...place(at)))
    const pages = [
      many((at) => [(at % 100) * 30, Math.floor(at / 100) * 8]),
      many((at) => [at * 30, 100]),
      many((at) => [60, at / 10]),
      many((at) => [(at * 7919) % 600, (at * 104_729) % 800]),
      many((at) => [at % 2 === 0 ? 60 : 320, Math.floor(at / 2)])
    ]
    for (const runs of pages) assert.include(lay([page(runs)])[0]?.html ?? "", "ab")
    const grid = Array.from({ length: 2900 }, (_, at) =>
      at % 2 === 0 ? rule(0, at / 4, 600, at / 4) : rule(at / 5, 0, at / 5, 800)
    )
    assert.include(
      lay([
        page(
          many((at) => [(at % 50) * 12, at / 14]),
          0,
          { drawings: grid }
        )
      ])[0]?.html ?? "",
      "ab"
    )
  })
})

describe("statistics", () => {
  it("add up in any order and in any groups", () => {
    const pages = fc.array(fc.array(someRun, { maxLength: 8 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(pages, fc.nat(), (all, cut) => {
        const counts = all.map((runs, index) => countPages([page(runs, index)], FONTS))
        const at = cut % (counts.length + 1)
        const whole = mergeStatistics(counts)
        const grouped = mergeStatistics([
          mergeStatistics(counts.slice(at)),
          NO_STATISTICS,
          mergeStatistics(counts.slice(0, at))
        ])
        assert.deepStrictEqual(grouped, whole)
        assert.deepStrictEqual(JSON.parse(JSON.stringify(whole)), whole)
      }),
      { numRuns: 100 }
    )
  })

  it("are taken of pages that exist, each once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5000 }), (count) => {
        const sample = samplePages(count)
        assert.isAtMost(sample.length, 40)
        assert.strictEqual(new Set(sample).size, sample.length)
        assert.isTrue(sample.every((index) => index >= 0 && index < count))
      })
    )
  })
})

describe("a sample", () => {
  it("that holds the pages themselves changes nothing: a line is not running because it was counted twice", () => {
    fc.assert(
      fc.property(fc.array(fc.array(someRun, { maxLength: 12 }), { minLength: 1, maxLength: 4 }), (all) => {
        const pages = all.map((runs, index) => page(runs, index))
        const again = layoutPages({ facts: FACTS, fonts: FONTS, pages, others: countPages(pages, FONTS) })
        assert.deepStrictEqual(again, lay(pages))
      }),
      { numRuns: 100 }
    )
  })
})
