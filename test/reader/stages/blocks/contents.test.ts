import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { type Block, NO_SEAM, plain } from "../../../../src/reader/model/block.ts"
import type { LayoutPage } from "../../../../src/reader/model/layout-page.ts"
import type { DocumentFacts, PageContent, PageLink } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import {
  contentsTargets,
  targetOf,
  withContentsApart
} from "../../../../src/reader/stages/blocks/contents.ts"
import { profileOf } from "../../../../src/reader/stages/profile/profile.ts"
import { NO_STATISTICS, type PageStatistics } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

const LEADERS = " .".repeat(20)

/** Entries of two levels, some without leaders. Printed numbers are two behind the pages counted from 1. */
const ENTRIES: ReadonlyArray<readonly [text: string, number: number, indent: number, leaders: boolean]> = [
  ["1 Beginnings", 1, 0, false],
  ["1.1 What is there", 1, 20, true],
  ["1.2 What is not", 2, 20, true],
  ["2 Middles", 3, 0, false],
  ["2.1 What is there", 3, 20, true],
  ["2.2 Further on", 4, 20, true],
  ["3. Ends", 5, 0, true],
  ["4. Beyond", 999, 0, true]
]

const entries = (of: typeof ENTRIES) =>
  of.flatMap(([text, number, indent, leaders], at) => [
    run(text + (leaders ? LEADERS : ""), 60 + indent, 100 + 14 * at),
    run(String(number), 520, 100 + 14 * at)
  ])

const contents = (of = ENTRIES, links: ReadonlyArray<PageLink> = []): PageContent =>
  page(entries(of), 0, { links })

/** Pages of text with their number at the foot; the first of them is the third of the document. */
const numbered = (numbers = true) =>
  Array.from({ length: 5 }, (_, at) =>
    page([...lines(prose(120, at), 60, 100, 80), ...(numbers ? [run(String(at + 1), 300, 810)] : [])], at + 2)
  )

const laidOut = (pages: ReadonlyArray<PageContent>, facts: Partial<DocumentFacts> = {}): LayoutPage =>
  layoutPages({
    facts: { ...FACTS, pageCount: 7, ...facts },
    fonts: FONTS,
    pages,
    others: NO_STATISTICS
  })[0] ?? assert.fail("no page")

describe("a table of contents", () => {
  it("has the pages of an appendix, or of a chapter, that counts its own", () => {
    const listed = (of: ReadonlyArray<readonly [number: string, text: string, page: string]>, y: number) =>
      of.flatMap(([number, text, last], at) => [
        run(number, 60, y + 14 * at),
        run(text, 104, y + 14 * at),
        run(`${".".repeat(60)} ${last}`, 107 + 5 * text.length, y + 14 * at, { font: FONT.italic })
      ])
    const names = ["What they are", "What they do", "Where they end", "How they began", "Who they are"]
    const whole = laidOut([
      page(
        listed(
          names.map((name, at) => [`A.${at + 1}`, name, `A-${at + 1}`]),
          100
        )
      )
    ])
    assert.match(whole.html, /^<nav>(?![^]*<table)[^]*Who they are[^]*<\/nav>$/)
    // Below others, whose count does not go on, with no rows of a table.
    const above = names.map((name, at) => [`5.${at + 1}`, name, `${52 + at}`] as const)
    const below = names.map((name, at) => [`A.${at + 1}`, `${name} now`, `A-${at + 1}`] as const)
    const mixed = laidOut([page([...listed(above, 100), ...listed(below, 190)])])
    assert.match(mixed.html, /^<nav>(?![^]*<table)[^]*Who they are now[^]*<\/nav>$/)
    // Below their title, on a page with a text.
    const few = listed(
      [
        ["5.1", "Rivers", "57"],
        ["5.2", "Stones", "58"],
        ["A.1", "Ponds", "A-1"],
        ["A.2", "Lakes", "A-2"]
      ],
      120
    )
    const title = run("Contents", 60, 96, { font: FONT.bold, size: 14 })
    const { html } = laidOut([page([title, ...few, ...lines(prose(200), 60, 220, 80)])])
    assert.match(html, /<nav>(?![^]*<table)[^]*Lakes[^]*<\/nav>/)
    // Values that go from one to the other are no pages.
    const values = ["Rivers", "Stones", "Ponds"].flatMap((text, at) => [
      run(text, 60, 240 + 14 * at),
      run(`${at + 1}-${at + 3}`, 510, 240 + 14 * at)
    ])
    assert.notInclude(laidOut([page([...lines(prose(60), 60, 60, 80), ...values])]).html, "<nav>")
  })

  it("is a tier of its own: nested lists, entries without leaders too, each a link to the page that its number names", () => {
    const { html, tier } = laidOut([contents(), ...numbered()])
    assert.strictEqual(tier, "table-of-contents")
    assert.strictEqual(
      html,
      "<nav><ul>" +
        '<li><a href="#page-3">1 Beginnings 1</a><ul>' +
        '<li><a href="#page-3">1.1 What is there … 1</a></li><li><a href="#page-4">1.2 What is not … 2</a></li></ul></li>' +
        '<li><a href="#page-5">2 Middles 3</a><ul>' +
        '<li><a href="#page-5">2.1 What is there … 3</a></li><li><a href="#page-6">2.2 Further on … 4</a></li></ul></li>' +
        '<li><a href="#page-7">3. Ends … 5</a></li>' +
        "<li>4. Beyond … 999</li></ul></nav>"
    )
  })

  it("stands apart from text on its page, below the heading that says so", () => {
    const heading = (words: string) => run(words, 60, 90, { font: FONT.bold, size: 14 })
    const listed = [run(`Rivers${LEADERS}`, 60, 114), run("2", 520, 114)]
    const text = lines(prose(200), 60, 160, 80)
    const { html, tier } = laidOut([page([heading("Contents"), ...listed, ...text]), ...numbered()])
    assert.strictEqual(tier, "layout")
    assert.match(
      html,
      /^<nav><h\d[^>]*>Contents<\/h\d><p[^>]*><a href="#page-4">Rivers … 2<\/a><\/p><\/nav><p/
    )
    // Words below such a heading are text, and so is an entry below another one.
    const prosaic = laidOut([page([heading("Contents"), ...text]), ...numbered()])
    const rivers = laidOut([page([heading("Prices"), ...listed, ...text]), ...numbered()])
    for (const one of [prosaic, rivers]) assert.notInclude(one.html, "<nav")
  })

  it("needs no leaders below such a heading: a list of links, not a table; but one whose numbers descend is a table", () => {
    const heading = (words: string) => run(words, 60, 90, { font: FONT.bold, size: 14 })
    const rows = (numbers: ReadonlyArray<number>) =>
      ["1 Use", "2 Examples", "3 Advanced use", "Index"].flatMap((words, at) => [
        ...words
          .split(/(?<=\d) /)
          .map((part, n) => run(part, 60 + 30 * n, 120 + 22 * at, { font: FONT.bold })),
        run(String(numbers[at]), 520, 120 + 22 * at, { font: FONT.bold })
      ])
    const text = lines(prose(200), 60, 240, 80)
    const htmlOf = (title: string, numbers: ReadonlyArray<number>) =>
      laidOut([page([heading(title), ...rows(numbers), ...text]), ...numbered()]).html
    const listed = htmlOf("Contents", [1, 1, 3, 5])
    assert.match(
      listed,
      /^<nav><h\d[^>]*>Contents<\/h\d><ul><li><a href="#page-3"><strong>1 Use 1<\/strong><\/a><\/li>.*<a href="#page-7">.*<\/ul><\/nav><p/
    )
    assert.notInclude(listed, "<table")
    for (const other of [htmlOf("Contents", [5, 1, 3, 2]), htmlOf("Prices", [1, 1, 3, 5])]) {
      assert.include(other, "<table")
      assert.notInclude(other, "<nav")
    }
  })

  it("needs no heading where a few of its entries have leaders: those without are rows of no table", () => {
    const bold = { font: FONT.bold }
    const listed = (leaders: number, last: number) => {
      const rows = ["Use", "Examples", "Advanced use"].flatMap((words, at) => [
        run(String(at + 1), 60, 120 + 22 * at, bold),
        run(words, 90, 120 + 22 * at, bold),
        run(at === 2 ? String(last) : "2", 520, 120 + 22 * at, bold)
      ])
      const led = Array.from({ length: leaders }, (_, at) => [
        run(`3.${at + 1} Part${LEADERS}`, 90, 190 + 14 * at),
        run("7", 520, 190 + 14 * at)
      ])
      const text = lines(prose(400), 60, 300, 80)
      return laidOut([page([...rows, ...led.flat(), ...text]), ...numbered()]).html
    }
    const html = listed(3, 6)
    assert.notInclude(html, "<table")
    assert.match(html, /<li><strong>3 Advanced use 6<\/strong><ul><li>3.1 Part … 7/)
    for (const other of [listed(2, 6), listed(3, 1)]) assert.include(other, "<table")
  })

  it("has leaders of a mathematical face, which are no emphasis; words of such a face are", () => {
    const rows = ["Use", "Examples", "Ends"].flatMap((words, at) => [
      run(words, 60, 114 + 12 * at, { font: at === 0 ? FONT.italic : FONT.plain }),
      run(LEADERS, 110, 114 + 12 * at, { font: FONT.italic }),
      run(String(at + 1), 320, 114 + 12 * at)
    ])
    const { html } = laidOut([
      page([run("Contents", 60, 90, { font: FONT.bold, size: 14 }), ...rows]),
      ...numbered()
    ])
    assert.match(html, /Examples\s+…\s+2/)
    assert.match(html, /<em>Use\s?/)
  })

  it("has titles of two lines, the second of which is set in and has no number", () => {
    const listed = (below: string) => {
      const long = "1.2 What is said of rivers and of the stones in them, and of all"
      const rows = [
        run("Contents", 60, 90, { font: FONT.bold, size: 14 }),
        run(`1.1 Use${LEADERS} 2`, 80, 114),
        run(long, 80, 126),
        run(`${below}${LEADERS} 3`, 104, 138),
        run(`1.3 Ends${LEADERS} 4`, 80, 150)
      ]
      return laidOut([page(rows), ...numbered()]).html
    }
    assert.match(listed("Letters"), /<li>(<a [^>]*>)?1.2 What [^<]* all Letters … 3</)
    assert.notMatch(listed("1.2.1 Letters"), /of all 1.2.1/)
  })

  it("has entries whose page's number stands right behind their words, where a section's number begins them", () => {
    const rows = [
      ["I", "RIVERS", "1"],
      ["1", "Waters", "1"],
      ["1.1", "Still ones", "2"],
      ["1.2", "Deep ones", "2"],
      ["2", "Stones", "3"]
    ]
    const below = rows.flatMap(([number = "", words = "", at = ""], row) => [
      run(number, 60, 114 + 12 * row),
      run(words, 100, 114 + 12 * row),
      run(at, 110 + 5 * words.length, 114 + 12 * row)
    ])
    const under = (title: string) =>
      laidOut([page([run(title, 60, 90, { font: FONT.bold, size: 14 }), ...below]), ...numbered()]).html
    for (const title of ["Contents", "Lijst van rivieren"]) {
      assert.include(under(title), '<li><a href="#page-4">1.2 Deep ones 2</a></li>')
      assert.notInclude(under(title), "<table")
    }
    assert.include(under("Figures of rivers"), "<table")
  })

  it("goes by the outline first; a title that is there twice by its number", () => {
    const outline = [
      { title: "Beginnings", page: 6, level: 1 },
      { title: "What is there", page: 2, level: 2 },
      { title: "What is there", page: 4, level: 2 }
    ]
    const { html } = laidOut([contents(), ...numbered()], { outline })
    assert.include(html, '<a href="#page-7">1 Beginnings 1</a>')
    assert.include(html, '<a href="#page-3">1.1 What is there … 1</a>')
    assert.include(html, '<a href="#page-5">2.1 What is there … 3</a>')
    const bare = laidOut([contents(), ...numbered(false)], { outline }).html
    assert.strictEqual(bare.match(/<a /g)?.length, 1)
    assert.include(bare, '<a href="#page-7">1 Beginnings 1</a>')
  })

  it("keeps the links that the document has", () => {
    const link: PageLink = {
      box: { x0: 50, y0: 90, x1: 560, y1: 104 },
      target: { kind: "page", page: 1, y: undefined }
    }
    const { html } = laidOut([contents(ENTRIES, [link]), ...numbered()])
    assert.include(html, '<li><a href="#page-2">1 Beginnings 1</a>')
    assert.include(html, '<a href="#page-6">2.2 Further on … 4</a>')
  })

  it("is not a price list, a form with dotted lines, a page of text with some entries", () => {
    const prices = ENTRIES.map(
      ([text, , , leaders], at) => [text, [5, 1, 4, 2, 5, 1, 3, 2][at] ?? 0, 0, leaders] as const
    )
    const form = page(Array.from({ length: 8 }, (_, at) => run(`Field ${at} ${LEADERS}`, 60, 100 + 14 * at)))
    const text = page([...entries(ENTRIES), ...lines(prose(300), 60, 300, 80)])
    for (const other of [contents(prices), form, text]) {
      const { html, tier } = laidOut([other, ...numbered()])
      assert.strictEqual(tier, "layout")
      assert.notInclude(html, "<a ")
    }
  })

  it("names pages of the document only, and says the same words", () => {
    const margins = fc.dictionary(
      fc.tuple(fc.nat(60), fc.integer({ min: -5, max: 5 })).map(([slot, lead]) => `${slot} @${lead}`),
      fc.integer({ min: 1, max: 9 })
    )
    const title = fc.constantFrom("Ends", "Means", "1 Means", "Ends … 3", "… 4", "")
    const outline = fc.array(
      fc.record({
        title,
        page: fc.option(fc.nat(6), { nil: undefined }),
        level: fc.integer({ min: 1, max: 3 })
      })
    )
    const between = fc.constantFrom(" ", " … ", " . . . . ", "")
    const number = fc.oneof(fc.nat(12_000).map(String), fc.constantFrom("iv", "x", ""))
    let named = 0
    fc.assert(
      fc.property(
        margins,
        outline,
        fc.tuple(title, between, number).map((parts) => parts.join("")),
        fc.boolean(),
        (counts, titles, text, listed) => {
          const statistics: PageStatistics = { ...NO_STATISTICS, margins: counts }
          const target = targetOf(text, contentsTargets(7, titles, profileOf(statistics)), listed)
          if (target === undefined) return
          named += 1
          assert.isTrue(Number.isInteger(target) && target >= 0 && target < 7, `${target}`)
        }
      ),
      { numRuns: 2_000 }
    )
    assert.isAbove(named, 100)
  })

  it("of hostile lines is read in linear time", () => {
    const targets = contentsTargets(7, [], profileOf(NO_STATISTICS))
    for (const text of [
      ". ".repeat(200_000),
      "a . ".repeat(100_000),
      `${" ".repeat(200_000)}x`,
      "1".repeat(200_000)
    ])
      assert.isUndefined(targetOf(text, targets, true))
  })
})

it("looks at each line a few times at most on a page of contents, however many of them are no entries", () => {
  let looks = 0
  const blocks = Array.from({ length: 2_000 }, (): Block => ({
    kind: "paragraph",
    get spans() {
      looks += 1
      return [plain("The river, and where it goes")]
    },
    seam: NO_SEAM,
    lang: undefined
  }))
  assert.deepStrictEqual(withContentsApart(blocks, true).length, blocks.length)
  assert.isAtMost(looks, 4 * blocks.length)
})
