/** Tables between level rules, as papers set them: groups of rows, names of several columns, wrapped cells. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, htmlBelowText, htmlOf, page, prose, rule, run } from "../../../page-builder.ts"
import { NAMES, RIVERS } from "../rivers.ts"

const TOP = 200
const STEP = 12
const PLACES = [60, 160, 220, 280]

/** Cells from row to row, an empty one left out. */
const cellsOf = (rows: ReadonlyArray<ReadonlyArray<string>>, from = 0): ReadonlyArray<TextRun> =>
  rows.flatMap((row, at) =>
    row.flatMap((words, column) =>
      words === "" ? [] : [run(words, PLACES[column] ?? 0, TOP + STEP * (at + from))]
    )
  )

/** Rules above, below the head and below all. */
const rulesOf = (head: number, rows: number, right = 320): ReadonlyArray<Drawing> =>
  [-1, head - 1, rows - 1].map((row) => rule(60, TOP + STEP * row + 4, right, TOP + STEP * row + 4.4))

const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1
const cell = (words: string): string => `<t[dh][^>]*>${words}</t[dh]>`

describe("rules drawn cell by cell, as browsers draw the borders of rows", () => {
  const rows = cellsOf([NAMES, ...RIVERS])
  const drawn = (...parts: ReadonlyArray<readonly [number, number]>) =>
    [-1, 0, 4].flatMap((row) =>
      parts.map(([from, to]) => rule(from, TOP + STEP * row + 4, to, TOP + STEP * row + 4.4))
    )

  it("are one where they meet", () => {
    const html = htmlBelowText(rows, drawn([60, 150], [150, 320]))
    assert.match(html, /<th scope="col">River<\/th><th scope="col">Deep<\/th>/)
    assert.strictEqual(count(html, "tr>"), 5)
  })

  it("are those of two tables where they do not", () => {
    const beside = rows.map((one) => ({
      ...one,
      box: { ...one.box, x0: one.box.x0 + 280, x1: one.box.x1 + 280 }
    }))
    const html = htmlBelowText([...rows, ...beside], drawn([60, 320], [340, 600]))
    assert.strictEqual(count(html, "table"), 2)
  })

  it("are one also where a table below has a last column as wide", () => {
    const below = cellsOf([NAMES, ...RIVERS], 8)
    const lower = [7, 8, 12].flatMap((row) =>
      [50, 170, 240].map((from, at) =>
        rule(from, TOP + STEP * row + 4, [170, 240, 320][at] ?? 0, TOP + STEP * row + 4.4)
      )
    )
    const html = htmlBelowText([...rows, ...below], [...drawn([60, 150], [150, 240], [240, 320]), ...lower])
    assert.lengthOf(html.match(/<th scope="col">River<\/th><th scope="col">Deep<\/th>/g) ?? [], 2)
  })
})

describe("rules below a running head and above a running foot", () => {
  /** Two names a line, between rules so far apart, with words above and below. */
  const names = (lines: number) => {
    const bottom = 60 + STEP * lines + 16
    const runs = [
      run("Release notes", 250, 50),
      ...Array.from({ length: lines }, (_, at) => [
        run(`Person of ${at} letters`, 80, 72 + STEP * at),
        run(`Company of ${at} people`, 300, 72 + STEP * at)
      ]).flat(),
      run("17", 300, bottom + 14)
    ]
    return htmlOf(runs, [rule(50, 60, 550, 60.4), rule(50, bottom, 550, bottom + 0.4)])
  }

  it("make no table of the page's text", () => {
    assert.notMatch(names(52), /<table/)
  })

  it("are a table's where they hold a part of the page", () => {
    assert.match(names(12), /<table/)
  })
})

describe("a table between rules", () => {
  it("goes on below the names of groups, which are above all columns", () => {
    const name = (row: number) => [run("Rivers of the north, all years", 60, TOP + STEP * row)]
    const rows = [
      ...cellsOf([NAMES]),
      ...name(1),
      ...cellsOf(RIVERS.slice(0, 2), 2),
      ...name(4),
      ...cellsOf(RIVERS.slice(2), 5)
    ]
    const html = htmlBelowText(rows, rulesOf(1, 7))
    assert.strictEqual(count(html, "tr>"), 7)
    assert.strictEqual(html.split(/colspan="4">Rivers of the north/).length - 1, 2)
  })

  it("has the names of its columns also where they stand in bold above its first rule", () => {
    const rules = [0, 2, 4].map((row) => rule(60, TOP + STEP * row + 4, 320, TOP + STEP * row + 4.4))
    const html = (names: ReadonlyArray<TextRun>) => htmlBelowText([...names, ...cellsOf(RIVERS, 1)], rules)
    const names = NAMES.map((name, at) =>
      run(name, PLACES[at] ?? 0, TOP, { font: FONT.bold, size: at === 0 ? 10 : 12 })
    )
    assert.match(
      html(names),
      /<thead><tr><th scope="col">River<\/th>.*Fish<\/th><\/tr><\/thead><tbody><tr><t[dh][^>]*>Aa</
    )
    const none = (other: ReadonlyArray<TextRun>) => assert.notInclude(html(other), ">River</th>")
    const moved = (x: number, y: number) =>
      names.map((one) => run(one.text, one.box.x0 + x, TOP + y, { font: FONT.bold }))
    none(names.map((one) => ({ ...one, font: FONT.plain })))
    none(moved(0, -16))
    none(names.slice(0, 2))
    none([...moved(0, 0), run("and more of it", 400, TOP, { font: FONT.bold })])
    none([run("Of the", 10, TOP, { font: FONT.bold }), ...moved(0, 0)])
  })

  it("has no head of rows of figures, which a rule parts from others", () => {
    const html = (head: ReadonlyArray<ReadonlyArray<string>>) =>
      htmlBelowText(cellsOf([...head, ...RIVERS]), rulesOf(head.length, head.length + RIVERS.length))
    assert.notInclude(
      html(RIVERS.slice(1).map(([river, ...cells]) => [`New ${river}`, ...cells])),
      '<th scope="col'
    )
    // Names may have figures, and fewer rows are read as names.
    const years = ["Year", "2001", "2002", "2003"]
    const third = ["of all", "mean", "mean", "kinds"]
    assert.strictEqual(html([NAMES, years, third]).split("</thead>")[0]?.split("<tr>").length, 4)
    assert.strictEqual(html([years, years]).split("</thead>")[0]?.split("<tr>").length, 3)
  })

  it("is none of lines of text that follow some rows", () => {
    const words = [2, 3, 4, 5].map((row) =>
      run("These words are a line of the text below them", 60, TOP + STEP * row)
    )
    const html = htmlBelowText([...cellsOf([NAMES, RIVERS[0] ?? []]), ...words], rulesOf(1, 6))
    assert.notInclude(html, 'colspan="4">These words')
  })

  it("is none of sentences before lone words", () => {
    const sentences = [2, 5].flatMap((row) => [
      run("These words are a line of the text below them", 60, TOP + STEP * row),
      run("Rivers", 60, TOP + STEP * (row + 1))
    ])
    const html = htmlBelowText(
      [
        ...cellsOf([NAMES, RIVERS[0] ?? []]),
        ...cellsOf([RIVERS[1] ?? []], 4),
        ...sentences,
        ...cellsOf(RIVERS, 7)
      ],
      rulesOf(1, 11)
    )
    assert.notInclude(html, 'colspan="4">These words')
  })

  it("begins a row where a number stands below a number, however near", () => {
    const at = (y: number, ...words: ReadonlyArray<string>) =>
      words.flatMap((one, column) => (one === "" ? [] : [run(one, PLACES[column] ?? 0, TOP + y)]))
    const rows = [
      ...at(0, "No", "What it says of rivers"),
      ...at(20, "1", "words of a note that"),
      ...at(32, "", "goes on below it here"),
      ...at(52, "2", "words of another that"),
      ...at(64, "", "goes on as well as it"),
      ...at(84, "3", "no words that go on"),
      ...at(96, "4", "and none here as well")
    ]
    const rules = [-10, 6, 104].map((y) => rule(60, TOP + y, 320, TOP + y + 0.4))
    const html = htmlBelowText(rows, rules)
    assert.match(html, new RegExp(cell("1") + cell("words of a note that goes on below it here")))
    assert.match(html, new RegExp(cell("3") + cell("no words that go on")))
  })

  it("has as many lines in a cell as are wrapped", () => {
    const wrapped = [1, 2, 3, 4, 5, 6].map((row) => run(prose(4, row), 220, TOP + STEP * (1 + row)))
    const head = cellsOf([["River", "Deep", "Remarks of all kinds"]])
    const rows = [
      ...cellsOf([["Aa", "12", "words of a note on it"]], 1),
      ...wrapped,
      ...cellsOf([["Bode", "169", "nothing more to it"]], 8),
      ...cellsOf([["Elbe", "1094", "nothing more to it"]], 9)
    ]
    const html = htmlBelowText([...head, ...rows], rulesOf(1, 10, 340))
    assert.strictEqual(count(html, "tr>"), 4)
    assert.match(html, new RegExp(cell("Bode") + cell("169") + cell("nothing more to it")))
  })
})

describe("the names of columns", () => {
  const numbers = ["Aa", "Bode", "Elbe"].map((name) => [name, "112.31", "144.97", "155.08"])

  it("have a name of several above the middle of them, though it does not reach them all", () => {
    const [left, right] = [220, 280 + 30]
    const html = htmlBelowText(
      [
        run("Both", (left + right) / 2 - 10, TOP),
        ...cellsOf([["River", "Deep", "Wide", "High"]], 1),
        ...cellsOf(numbers, 2)
      ],
      rulesOf(2, 5)
    )
    assert.match(html, new RegExp(`${cell("")}${cell("")}<t[dh][^>]* colspan="2"[^>]*>Both</t[dh]></tr>`))
  })

  it("have a name of several beside another name, both within the column below", () => {
    const wide = numbers.map(([name = "", , ...rest]) => [name, "11112.31456", ...rest])
    const names = (x: number) =>
      // Drawn column by column: only the places tell of rows.
      htmlBelowText(
        [
          run("All", x, TOP),
          run("Else", 280, TOP),
          ...cellsOf([["River", "Deep", "Wide", "High"]], 1),
          ...cellsOf(wide, 2)
        ].toSorted((a, b) => a.box.x0 - b.box.x0),
        rulesOf(2, 5)
      )
    // The two columns reach from 160 to 250.
    assert.match(
      names(197.5),
      new RegExp(`${cell("")}<t[dh][^>]* colspan="2"[^>]*>All</t[dh]>${cell("Else")}</tr>`)
    )
    assert.match(names(170), new RegExp(cell("") + cell("All") + cell("") + cell("Else")))
  })

  it("have one above its own column where it begins there", () => {
    const html = htmlBelowText(
      [run("Both", 220, TOP), ...cellsOf([["River", "Deep", "Wide", "High"]], 1), ...cellsOf(numbers, 2)],
      rulesOf(2, 5)
    )
    assert.match(html, new RegExp(cell("") + cell("") + cell("Both") + cell("")))
  })

  it("are a row, and their units another, where a name had room for its unit", () => {
    const rows = [["River", "Deep", "Wide", "High"], ["", "m", "m", "m"], ...numbers]
    const named = (second: ReadonlyArray<string>) =>
      // Drawn column by column: only the places tell of rows.
      htmlBelowText(
        cellsOf(rows.map((row, at) => (at === 1 ? second : row))).toSorted((a, b) => a.box.x0 - b.box.x0),
        rulesOf(2, 5)
      )
    assert.match(named(["", "m", "m", "m"]), new RegExp(cell("m") + cell("m") + cell("m")))
    // Words without room on the line above continue it.
    assert.match(named(["", "below", "enough", "enough"]), new RegExp(cell("Deep below")))
  })
})

describe("cells that hold several words", () => {
  const head = ["Odds", "All"]
  const at = (row: number, words: string, x: number) => run(words, x, TOP + STEP * row)
  const table = (value: string, range: string) =>
    htmlBelowText(
      [
        at(0, head[0] ?? "", 60),
        at(0, head[1] ?? "", 160),
        ...[1, 2, 3, 4].flatMap((row) => [at(row, `B${row}`, 60), at(row, `${value} ${range}`, 160)])
      ],
      rulesOf(1, 5)
    )

  it("are not cut within brackets, nor before them", () => {
    assert.match(table("2.11", "(1.81, 2.51)"), new RegExp(cell("2.11 \\(1.81, 2.51\\)")))
  })

  it("are cut between two numbers without any", () => {
    assert.match(table("2.11", "1.81"), new RegExp(cell("2.11") + cell("1.81")))
  })

  it("are cut where names of groups stand over the white between them", () => {
    const names = [1, 4].map((row) => at(row, "Odds of the rivers in all of the years", 60))
    const rows = [2, 3, 5, 6].flatMap((row) => [at(row, `B${row}`, 60), at(row, "2.11 1.81", 160)])
    const html = htmlBelowText([at(0, "Odds", 60), at(0, "All", 160), ...names, ...rows], rulesOf(1, 7))
    assert.match(html, new RegExp(cell("2.11") + cell("1.81")))
  })
})

describe("rules that cross once", () => {
  const upright = [0, 1, 2, 3, 4].map((row) =>
    rule(150, TOP + STEP * (row - 1) + 4, 150.4, TOP + STEP * row + 4)
  )
  const cross = [rule(60, TOP + 4, 240, TOP + 4.4), ...upright]
  const rows = cellsOf([
    ["Year", "Sum"],
    ...[1953, 1954, 1955, 1956].map((year) => [`${year}`, `${year - 1920}`])
  ])

  it("stand below names and beside them: the rows below are apart", () => {
    assert.match(htmlBelowText(rows, cross), new RegExp(cell("1955") + cell("35")))
  })

  it("are a grid where others close it", () => {
    const [first, last] = [TOP - STEP + 4, TOP + 4 * STEP + 4]
    const closed = [...cross, rule(60, first, 240, first + 0.4), rule(60, last, 240, last + 0.4)]
    const html = htmlBelowText(rows, [...closed, ...[60, 240].map((x) => rule(x, first, x + 0.4, last))])
    assert.strictEqual(count(html, "table"), 1)
  })
})

it("thousands of rules that each might hold a page's words are not tried one after the other", () => {
  const words = Array.from({ length: 600 }, (_, at) =>
    run(at % 5 === 0 ? "−" : ". . 7", 20 + 20 * (at % 3), 40 + 0.5 * at)
  )
  const looks = (levels: number) => {
    let looked = 0
    const fonts = new Proxy(FONTS, {
      get: (of, key): unknown => {
        looked += 1
        return Reflect.get(of, key)
      }
    })
    const drawings = Array.from({ length: levels }, (_, at) => {
      const y = (1020 * Math.floor(at / 3)) / levels + 0.3 * (at % 3)
      return rule(0, y, 600 - 4 * (Math.floor(at / 3) % 40), y)
    })
    layoutPages({ facts: FACTS, fonts, pages: [page(words, 0, { drawings })], others: NO_STATISTICS })
    return looked
  }
  assert.isBelow(looks(1_200), 1.5 * looks(600))
})
