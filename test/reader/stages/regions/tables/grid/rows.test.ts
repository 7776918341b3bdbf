/** Which lines are rows of a table, and which stand beside it. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, rule, run, type Set as Look } from "../../../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing> = []): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs, 0, { drawings })], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")

/** Cells at the given places, an empty one left out. */
const rowsAt = (
  places: ReadonlyArray<number>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  y: number,
  step = 12,
  looks: (row: number, column: number) => Look = () => ({})
): ReadonlyArray<TextRun> =>
  rows.flatMap((row, at) =>
    row.flatMap((cell, column) =>
      cell === "" ? [] : [run(cell, places[column] ?? 0, y + step * at, looks(at, column))]
    )
  )

const text = lines(prose(60), 60, 60, 90)
const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1

describe("rows of tables without rules", () => {
  it("stay apart where some share their first cell", () => {
    const rows = [
      ["Unit", "Token", "Output"],
      ["Month", "M", "1 to 12"],
      ["", "MM", "01 to 12"],
      ["", "MMM", "Jan to Dec"],
      ["Day", "D", "1 to 31"],
      ["", "DD", "01 to 31"],
      ["Year", "YY", "00 to 99"]
    ]
    const html = htmlOf([...text, ...rowsAt([60, 160, 240], rows, 200, 16)])
    assert.strictEqual(count(html, "tr"), rows.length)
    assert.include(html, "<td>MM</td><td>01 to 12</td>")
  })

  it("hold code, in one cell or in all", () => {
    const rows = [
      ["Header", "Value"],
      ["Accept", "*/*"],
      ["Agent", "some words of it"],
      ["Encoding", "chunked"],
      ["Length", "of the body"]
    ]
    const looks = (row: number): Look =>
      row === 0 ? { font: FONT.bold } : row % 2 === 1 ? { font: FONT.code } : {}
    const html = htmlOf([...text, ...rowsAt([60, 200], rows, 200, 12, looks)])
    assert.strictEqual(count(html, "tr"), rows.length)
    assert.strictEqual(count(html, "pre"), 0)
    // A listing in columns is none.
    const listing = htmlOf([...text, ...rowsAt([60, 198], rows, 200, 12, () => ({ font: FONT.code }))])
    assert.strictEqual(count(listing, "table"), 0)
    assert.strictEqual(count(listing, "pre"), 1)
  })

  it("may be two below bold names", () => {
    const near = [
      ["Layer", "Purpose", "Speed"],
      ["First", "analysis of words", "fast"],
      ["Second", "all semantic rules", "slow"]
    ]
    const bold = (row: number): Look => (row === 0 ? { font: FONT.bold } : {})
    const runs = [
      ...rowsAt([70, 130, 210], near.slice(0, 1), 200, 12, bold),
      ...rowsAt([60, 98, 192], near.slice(1), 212)
    ]
    const html = htmlOf([...text, ...runs])
    assert.strictEqual(count(html, "tr"), 3)
    assert.include(html, "<td>analysis of words</td><td>fast</td>")
    // Without names above there is nothing to tell them from text.
    assert.strictEqual(count(htmlOf([...text, ...runs.slice(3)]), "table"), 0)
  })

  it("have cells as near as words where these begin anew below one another, for no reason of their looks", () => {
    const rows = [
      ["Compiler", "ajv-s", "In it"],
      ["v4", "v10.x", "^5"],
      ["v3", "v9.x", "-"],
      ["v2", "v12.x", "^3.14"]
    ]
    // One name is in another face, so that it ends elsewhere.
    const bold = (row: number, column: number): Look =>
      row === 0 ? { font: FONT.bold } : row === 2 && column === 1 ? { font: FONT.code } : {}
    // As it is read from a file, with the space that parts it from what follows.
    const spaced = (one: TextRun): TextRun =>
      one.box.x0 === 160 ? { ...one, text: `${one.text} `, edges: [...one.edges, 187.5] } : one
    const near = (of: typeof rows, looks = bold, above: ReadonlyArray<TextRun> = text) =>
      htmlOf([...above, ...rowsAt([60, 160, 187.5], of, 200, 12, looks).map(spaced)])
    assert.include(near(rows), "<td>v10.x </td><td>^5</td>")
    const plain = (row: number, column: number): Look =>
      row === 1 && column === 1 ? { font: FONT.code } : {}
    assert.include(near(rows.slice(1), plain), "<td>v10.x </td><td>^5</td>")
    // Below bold names one row is enough; without any, three lines.
    const few = (names: Look) => {
      const of = [
        ["Framework", "Version", "Router", "Requests"],
        ["-", "", "", ""],
        ["http.Sv", "16.14", "no", "74,513"]
      ]
      const set = (row: number, column: number): Look =>
        row === 0 ? names : row === 2 && column === 0 ? { font: FONT.code } : {}
      const runs = rowsAt([60, 108, 150, 190], of, 200, 16, set).map((one) =>
        one.box.x0 === 60 ? { ...one, text: `${one.text} `, edges: [...one.edges, 108] } : one
      )
      return htmlOf([...text, ...runs])
    }
    assert.include(few({ font: FONT.bold }), "<td>16.14</td>")
    assert.notInclude(few({}), "<td>16.14</td>")
    // Behind the same words others begin below one another, too.
    const same = ["Kind", "v4", "v3", "v2"].map((name, at) => [name, "v10.x", rows[at]?.[2] ?? ""])
    assert.notInclude(near(same), "<td>^5</td>")
    // Another face begins anew by itself, and where words are written one by one each does.
    const faces = (row: number, column: number): Look =>
      column === 2 ? { font: FONT.italic } : bold(row, column)
    assert.notInclude(near(rows, faces), "<td><em>^5")
    const words = text.flatMap(({ baseline, box, text: line }) =>
      [...line.matchAll(/\S+/g)].map(({ 0: word, index }) => run(word, box.x0 + 5 * index, baseline))
    )
    assert.notInclude(near(rows, bold, words), "<td>^5</td>")
  })

  it("may end with one whose cells stand on different lines", () => {
    const rows = [
      ["Header", "Value"],
      ["Accept", "all of them"],
      ["Agent", "some words"],
      ["Length", "of the body"]
    ]
    const last = [
      run("words that do not", 200, 290),
      run("Last one", 60, 296),
      run("fit in a line", 200, 302)
    ]
    const html = htmlOf([...text, ...rowsAt([60, 200], rows, 200, 24), ...last])
    assert.include(html, "<td>words that do not fit in a line</td></tr></tbody></table>")
  })

  it("may end with one of which only the first cell is filled, unless text goes on below", () => {
    const rows = [
      ["Version", "State"],
      ["8.0", "works"],
      ["7.4", "works"],
      ["7.2", "works"],
      ["7.0", ""]
    ]
    const table = rowsAt([60, 200], rows, 200, 16)
    assert.strictEqual(count(htmlOf([...text, ...table]), "tr"), 5)
    const below = Array.from({ length: 4 }, (_, at) => run("Short line", 60, 280 + 16 * at))
    assert.strictEqual(count(htmlOf([...text, ...table, ...below]), "tr"), 4)
  })

  it("may hold a large bold cell; a large line at their left is a heading", () => {
    const rows = [
      ["Part", "Done", "Note"],
      ["Alpha", "N", "some words"],
      ["", "", ""],
      ["Beta", "N", "more words"],
      ["Gamma", "N", "few words"]
    ]
    const table = rowsAt([60, 200, 300], rows, 200, 20)
    const large = { font: FONT.bold, size: 14 }
    const inside = htmlOf([...text, ...table, run("TBD", 200, 240, large)])
    assert.strictEqual(count(inside, "table"), 1)
    assert.notMatch(inside, /<h\d/)
    const between = htmlOf([...text, ...table, run("Other parts", 60, 240, large)])
    assert.match(between, /<h\d[^>]*>Other parts/)
  })
})

describe("a bulleted list", () => {
  it("is none of a table's columns where its bullets are letters of another face", () => {
    const items = Array.from({ length: 4 }, (_, at) => [
      run("o", 78, 200 + 14 * at, { font: FONT.code }),
      run(`Words of item ${at + 1} as they are`, 96, 200 + 14 * at)
    ]).flat()
    const html = htmlOf([...text, ...items])
    assert.strictEqual(count(html, "table"), 0)
    assert.include(html, "<li>Words of item 1 as they are</li>")
    // A letter of the text's own face is a letter.
    const letters = htmlOf([run("o", 78, 200), run("homem que passa", 86, 200)])
    assert.include(letters, "o homem que passa")
  })
})

describe("a bibliography", () => {
  it("is no table of its marks and its entries, and no list of terms", () => {
    const entries = (mark: (at: number) => string) =>
      [0, 1, 2, 3].flatMap((at) => [
        run(mark(at), 60, 200 + 26 * at),
        ...lines(prose(12, at), 110, 200 + 26 * at, 50)
      ])
    for (const mark of [(at: number) => `[${at + 1}]`, (at: number) => `[Wil${at + 10}]`])
      assert.notMatch(htmlOf([...text, ...entries(mark)]), /<table|<dl|<li/)
    assert.strictEqual(count(htmlOf([...text, ...entries((at) => `Wil${at + 10}`)]), "dt"), 4)
  })
})

describe("a listing with numbers", () => {
  it("is one listing, its numbers included; a table numbers rows of words", () => {
    const rows = ["put value", "set value", "", "end"].flatMap((words, at) => [
      run(String(at + 3), 60, 200 + 12 * at, { size: 6 }),
      ...(words === "" ? [] : [run(words, 100, 200 + 12 * at, { font: FONT.code })])
    ])
    const html = htmlOf([...text, ...rows])
    assert.strictEqual(count(html, "table"), 0)
    assert.match(html, /<pre><code>3 +put value\n4 +set value\n5\n6 +end<\/code><\/pre>/)
    const plain = rows.map((one) => ({ ...one, font: FONT.plain }))
    assert.strictEqual(count(htmlOf([...text, ...plain]), "pre"), 0)
  })
})

describe("the total of a ruled table", () => {
  const xs = [60, 160, 260, 360]
  const rows = [
    ["Item", "Count", "Sum"],
    ["Paper", "2", "10.00"],
    ["Ink", "1", "20.00"]
  ]
  const ys = [186, 206, 226, 246, 266]
  const rules = [
    ...ys.map((y) => rule(60, y, 360, y)),
    ...[60, 360].map((x) => rule(x, 186, x, 266)),
    ...[160, 260].map((x) => rule(x, 186, x, 246))
  ]
  const cells = rowsAt(xs, rows, 200, 20, () => ({})).map((one) => ({
    ...one,
    box: { ...one.box, x0: one.box.x0 + 5, x1: one.box.x1 + 5 }
  }))

  it("stays in its column where no rule separates it from the empty cells before it", () => {
    const html = htmlOf([...cells, run("Total", 165, 260), run("30.00", 265, 260)], rules)
    assert.match(html, /<t[dh][^>]*><\/t[dh]><td>Total<\/td><td>30.00<\/td>/)
  })

  it("does not cut a title that stands over all columns", () => {
    const html = htmlOf([...cells, run("All sums without any taxes", 145, 260)], rules)
    assert.match(html, /<t[dh][^>]* colspan="3">All sums without any taxes</)
  })
})

describe("names of columns in one stretch of words", () => {
  const rules = [190, 240].map((y) => rule(60, y, 260, y + 0.4))
  /** Drawn column by column: only the places tell of rows. */
  const named = (names: string, x: number) =>
    htmlOf(
      [
        ...text,
        run("River", 60, 200),
        run(names, x, 200),
        ...[160, 220].flatMap((place, column) =>
          [1, 2, 3].map((row) => run(column === 0 ? `123456789${row}` : `55555${row}`, place, 200 + 12 * row))
        ),
        ...[1, 2, 3].map((row) => run(`B${row}`, 60, 200 + 12 * row))
      ].toSorted((a, b) => a.box.x0 - b.box.x0),
      rules
    )

  it("are cut where their words stand in columns as the cells below do", () => {
    const html = named("Deepest yr  Widest", 160)
    assert.match(html, /<t[dh][^>]*>Deepest yr<\/t[dh]><t[dh][^>]*>Widest<\/t[dh]>/)
  })

  it("are the name of several where they do not", () => {
    assert.notMatch(named("Depth and  widths", 163), /<t[dh][^>]*>Depth and<\/t[dh]>/)
  })
})

describe("rows that pictures set far apart", () => {
  const rows = [
    ["Aa", "blue", "a river of stones"],
    ["Bode", "brown", "a lake"],
    ["Elbe", "green", "many letters"],
    ["Oder", "grey", "a margin"]
  ]
  const byColumns = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> =>
    runs.toSorted((a, b) => a.box.x0 - b.box.x0)

  it("are one table's where three cells begin below those of its first row", () => {
    const html = htmlOf([...text, ...byColumns(rowsAt([60, 180, 320], rows, 240, 60))])
    assert.deepEqual([count(html, "table"), count(html, "tr")], [1, 4])
  })

  it("are none where fewer do, nor further apart", () => {
    assert.strictEqual(count(htmlOf([...text, ...byColumns(rowsAt([60, 180], rows, 240, 60))]), "table"), 0)
    assert.strictEqual(
      count(htmlOf([...text, ...byColumns(rowsAt([60, 180, 320], rows, 240, 100))]), "table"),
      0
    )
  })
})

describe("lines behind the last row of a table", () => {
  /** The last row's second cell, on more lines. */
  const wrapped = (x: number, step: number, more: ReadonlyArray<string>): ReadonlyArray<TextRun> => [
    run("River", 60, 240),
    run("12", 200, 240),
    run("Lake", 60, 260),
    run("13", 200, 260),
    run("Stone", 60, 280),
    run("Rolls", 200, 280),
    ...more.map((words, at) => run(words, x, 280 + step * (at + 1)))
  ]
  const MORE = ["and lies", "where it", "lay once"]

  it("go on with a cell where they begin below it, as near as lines are", () => {
    const html = htmlOf([...text, ...wrapped(200, 12, MORE)])
    assert.match(html, /<td>Rolls and lies where it lay once<\/td>/)
  })

  it("do not where they begin elsewhere, stand further below, or are text that begins there", () => {
    for (const [x, step, more] of [
      [190, 12, MORE],
      [60, 12, MORE],
      [200, 16, MORE],
      [200, 12, [...MORE, "and ever", "will lie"]]
    ] as const)
      assert.match(htmlOf([...text, ...wrapped(x, step, more)]), /<td>Rolls<\/td>/, `${x} ${step}`)
    const html = htmlOf([...text, ...wrapped(200, 12, MORE), run("And more.", 200, 340)])
    assert.match(html, /<td>Rolls<\/td>/)
  })
})
