/** Tables that the order of drawing shows: all lines of a cell together, cell after cell, row after row. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../../src/reader/pipeline.ts"
import { segmentsOf } from "../../../../../../src/reader/stages/lines/segment.ts"
import { NO_STATISTICS } from "../../../../../../src/reader/stages/profile/statistics.ts"
import { Beginnings, rowsOf } from "../../../../../../src/reader/stages/regions/tables/drawn/drawn-rows.ts"
import { FACTS, FONT, FONTS, lines, page, prose, rule, run, type Set as Look } from "../../../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing> = []): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs, 0, { drawings })], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""| scope="\w+"/g, ""))
    .join("")

/** Lines of a cell, 18 points apart, in the middle of a row. */
const cell = (words: ReadonlyArray<string>, x: number, middle: number, look: Look = {}) =>
  words.map((line, at) => run(line, x, middle + 18 * (at - (words.length - 1) / 2), look))

const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1
const text = lines(prose(60), 60, 60, 90)
const BOLD = { font: FONT.bold }

const head = [run("Code", 70, 200, BOLD), run("Meaning", 150, 200, BOLD), run("Cure", 290, 200, BOLD)]
const row = (code: string, middle: number, meaning: ReadonlyArray<string>, cure: ReadonlyArray<string>) => [
  ...cell([code], 60, middle),
  ...cell(meaning, 130, middle),
  ...cell(cure, 274, middle)
]

describe("tables by the order of drawing", () => {
  const rows = [
    ...head,
    ...row(
      "W-001",
      260,
      ["The schema of a route that", "is served is missing or", "not well defined."],
      ["Check it."]
    ),
    ...row(
      "W-002",
      350,
      ["Two styles are mixed that", "cannot both be used."],
      ["Use one of", "them only,", "or none"]
    ),
    ...row("W-003", 440, ["A handler is set twice."], ["Set it once", "in a scope."])
  ]

  it("have the lines of wrapped cells together, wherever in their row they stand", () => {
    const html = htmlOf([...text, ...rows])
    assert.strictEqual(count(html, "tr"), 4)
    assert.include(html, "The schema of a route that is served is missing or not well defined.")
    assert.include(
      html,
      "<td>Two styles are mixed that cannot both be used.</td><td>Use one of them only, or none</td>"
    )
  })

  it("are none of an index whose pages end in spaces", () => {
    const entries = ["alpha", "gamma", "kappa", "omega"].flatMap((name, at) => [
      run(name, 60, 200 + 20 * at),
      run(". . . . . . . 7, ", 150, 200 + 20 * at),
      run(String(20 + at), 290, 200 + 20 * at)
    ])
    assert.strictEqual(count(htmlOf([...text, ...entries]), "table"), 0)
  })

  it("begin below the title that is drawn right before their first cell", () => {
    const cells = [
      ["City", "2022", "2023"],
      ["Bern", "12", "14"],
      ["Rome", "31", "30"],
      ["Oslo", "17", "19"]
    ].flatMap((words, at) => words.map((word, column) => run(word, 60 + 120 * column, 216 + 16 * at)))
    const titled = htmlOf([...text, run("Numbers", 60, 203, BOLD), ...cells])
    assert.include(titled, "<th>City</th>")
    assert.match(titled, /<(p|h\d)\b[^>]*>(<strong>)?Numbers</)
    // Of a wrapped name the lines look alike.
    const wrapped = htmlOf([
      ...text,
      run("Place and", 60, 203, BOLD),
      ...cells.map((one, at) => (at < 3 ? { ...one, font: FONT.bold } : one))
    ])
    assert.include(wrapped, "<th>Place and City</th>")
  })

  it("are found by the names of their columns above a single row", () => {
    const html = htmlOf([...text, ...rows.slice(0, head.length + 5)])
    assert.strictEqual(count(html, "tr"), 2)
    assert.include(html, "<th>Code</th><th>Meaning</th><th>Cure</th>")
  })

  it("keep columns apart that stand as near as words", () => {
    // "Manual" begins a word's width behind "Self-managed", and far from the shorter cells of other rows.
    const near = [
      run("Provider", 60, 200, BOLD),
      run("Type", 120, 200, BOLD),
      run("Errors", 196, 200, BOLD),
      ...["Queue", "Topic", "Function"].flatMap((name, at) => [
        run(name, 60, 230 + 30 * at),
        run(["Self-managed", "Self-managed", "Both"][at] ?? "", 120, 230 + 30 * at),
        run("Manual", 183.5, 230 + 30 * at)
      ])
    ]
    const html = htmlOf([...text, ...near])
    assert.include(html, "<td>Self-managed</td><td>Manual</td>")
    assert.include(html, "<td>Both</td><td>Manual</td>")
  })

  it("end where names of columns begin another", () => {
    const below = rows.map((one) => ({
      ...one,
      baseline: one.baseline + 300,
      box: { ...one.box, y0: one.box.y0 + 300, y1: one.box.y1 + 300 }
    }))
    assert.strictEqual(count(htmlOf([...text, ...rows, ...below]), "table"), 2)
  })

  it("are not made of the headings of sections, nor of a term and its text", () => {
    const sections = ["1", "2"].flatMap((number, at) => [
      run(number, 60, 200 + 100 * at, BOLD),
      run("General information", 80, 200 + 100 * at, BOLD),
      ...lines(prose(30, at), 60, 220 + 100 * at, 90)
    ])
    assert.strictEqual(count(htmlOf([...text, ...sections]), "table"), 0)
    const terms = ["alpha", "beta"].flatMap((term, at) => [
      run(term, 60, 200 + 60 * at, BOLD),
      ...lines(prose(30, at), 130, 200 + 60 * at, 70)
    ])
    assert.strictEqual(count(htmlOf([...text, ...terms]), "table"), 0)
  })

  it("are not made of columns of text, of items, nor of a listing", () => {
    const columns = [60, 320].flatMap((x, at) => lines(prose(150, at), x, 200, 44))
    assert.strictEqual(count(htmlOf([...text, ...columns]), "table"), 0)
    const items = ["name", "code", "option"].flatMap((name, at) => [
      run("•", 70, 200 + 14 * at),
      run(name, 84, 200 + 14 * at, { font: FONT.code }),
      run(`is ${prose(4, at)}`, 84 + 6 * (name.length + 1), 200 + 14 * at)
    ])
    assert.strictEqual(count(htmlOf([...text, ...items]), "table"), 0)
    const listing = [0, 1, 2].flatMap((at) =>
      ["put", "set", "value"].map((word, column) =>
        run(word, 60 + 78 * column, 200 + 12 * at, { font: FONT.code })
      )
    )
    assert.strictEqual(count(htmlOf([...text, ...listing]), "table"), 0)
  })
})

describe("tables between level rules", () => {
  const level = [186, 230, 340].map((y) => rule(60, y, 400, y))
  const cells = [
    ...head,
    ...["number", "in words", "in short"].map((words, at) => run(words, [60, 130, 274][at] ?? 0, 222)),
    ...row("W-001", 262, ["The schema of a route", "that is served."], ["Check it."]),
    ...row("W-002", 312, ["Two styles are mixed."], ["Use one of", "them only."])
  ]

  it("have the lines of a cell together, as they are drawn, and their head above the second rule", () => {
    const html = htmlOf([...text, ...cells], level)
    assert.strictEqual(count(html, "tr"), 4)
    assert.match(html, /<thead><tr><th>Code.*<\/tr><tr><th>number.*<\/tr><\/thead><tbody>/)
    assert.include(html, "<td>The schema of a route that is served.</td><td>Check it.</td>")
  })

  it("go by their lines where these are drawn from top to bottom", () => {
    const byLine = [...cells].sort((a, b) => a.baseline - b.baseline)
    assert.strictEqual(count(htmlOf([...text, ...byLine], level), "tr"), 4)
  })
})

describe("rows that begin with a bullet", () => {
  const rows = (mark: string) =>
    [0, 1, 2].flatMap((at) => [
      run(mark, 60, 200 + 30 * at),
      run(`--option-${at}`, 80, 200 + 30 * at, { font: FONT.code }),
      ...lines(prose(10, at), 200, 200 + 30 * at, 40)
    ])

  it("are a list's items, whatever columns their words stand in", () => {
    assert.notMatch(htmlOf([...text, ...rows("•")]), /<table|<dl|•/)
    assert.match(htmlOf([...text, ...rows("yes")]), /<dt>yes <code>--option-0/)
  })
})

describe("a row of bold cells", () => {
  const words = (cells: number) =>
    Array.from({ length: 2 * cells }, (_, at) => run("ab", 10 + 12 * at, 200, { font: FONT.bold, size: 4 }))

  it("names columns only up to so many: more are not compared with what follows, one by one", () => {
    const looks = { fonts: FONTS, places: new Beginnings([], FONTS), step: 1.2 }
    let compared = 0
    const counted = new Proxy(FONTS, {
      get: (of, key): unknown => {
        compared += 1
        return Reflect.get(of, key)
      }
    })
    const rows = (cells: number) => {
      compared = 0
      rowsOf(segmentsOf(words(cells)), { ...looks, fonts: counted })
      return compared
    }
    assert.isBelow(rows(400), 3 * rows(200))
  })
})

describe("rules that a page's end leaves open", () => {
  it("are closed by the ends of the upright ones", () => {
    const level = [200, 230].map((y) => rule(60, y, 360, y))
    const upright = [60, 160, 260, 360].map((x) => rule(x, 200, x, 290))
    const cells = ["Name", "Kind", "Use"].flatMap((name, column) => [
      run(name, 66 + 100 * column, 220),
      run(`${name} one`, 66 + 100 * column, 246),
      run("goes on", 66 + 100 * column, 266)
    ])
    const html = htmlOf([...text, ...cells], [...level, ...upright])
    assert.include(html, "<td><p>Name one</p><p>goes on</p></td><td><p>Kind one</p><p>goes on</p></td>")
    // A line that only hangs from a rule closes nothing.
    const loose = htmlOf([...text, ...cells], [...level, rule(160, 230, 160, 290)])
    assert.notInclude(loose, "<p>goes on</p></td>")
  })
})

describe("a line on top of every page", () => {
  it("is no running header where it names the columns of the table below", () => {
    const onPage = (index: number, font: number) =>
      page(
        [
          ...["Name", "Kind", "Use"].map((name, column) => run(name, 60 + 100 * column, 40, { font })),
          ...[0, 1, 2].flatMap((at) =>
            ["a", "b", "c"].map((name, column) =>
              run(`${name}${at} ${index}`, 60 + 100 * column, 60 + 20 * at)
            )
          ),
          ...lines(prose(80, index), 60, 200, 90)
        ],
        index
      )
    const all = (font: number) =>
      layoutPages({
        facts: { ...FACTS, pageCount: 3 },
        fonts: FONTS,
        pages: [0, 1, 2].map((index) => onPage(index, font)),
        others: NO_STATISTICS
      }).map(({ html }) => html)
    for (const html of all(FONT.bold)) assert.include(html, '<th scope="col">Kind</th>')
    for (const html of all(FONT.plain)) assert.notInclude(html, "Kind")
  })
})

describe("names in columns", () => {
  const names = ["Abel", "Beth", "Cain", "Dora", "Egon", "Finn", "Gerd", "Hans", "Ivan", "Jens"]
  const inColumns = (of: ReadonlyArray<readonly [string, string]>) =>
    htmlOf([...text, ...of.flatMap(([a, b], at) => [run(a, 60, 200 + 14 * at), run(b, 300, 200 + 14 * at)])])

  it("are a list where they are sorted down the columns", () => {
    const html = inColumns(names.slice(0, 5).map((name, at) => [`${name} One`, `${names[at + 5]} Two`]))
    assert.include(html, "<li>Abel One</li><li>Finn Two</li><li>Beth One</li>")
    assert.notInclude(html, "<table")
  })

  it("are a table where the columns have to do with one another", () => {
    const html = inColumns(names.slice(0, 5).map((name, at) => [`${name} One`, `${names[9 - at]} Two`]))
    assert.include(html, "<table")
  })
})
