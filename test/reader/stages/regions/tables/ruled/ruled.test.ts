/** Tables whose rules are drawn in parts, or leave sides open. */
import { assert, describe, it } from "vitest"

import type { Drawing } from "../../../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, lines, prose, rule, run } from "../../../page-builder.ts"

const COLUMNS = [60, 160, 260, 360]
const TOP = 200
const STEP = 14

/** Rows of words at the columns, below text. */
const htmlOf = (rows: ReadonlyArray<ReadonlyArray<string>>, drawings: ReadonlyArray<Drawing>): string => {
  const cells = rows.flatMap((row, at) =>
    row.flatMap((words, column) =>
      words === "" ? [] : [run(words, (COLUMNS[column] ?? 0) + 5, TOP + STEP * at + 10)]
    )
  )
  return htmlBelowText(cells, drawings)
}
const count = (html: string, tag: string): number => html.split(`<${tag}>`).length - 1

const across = (row: number, from = 60, to = 360): Drawing =>
  rule(from, TOP + STEP * row - 0.2, to, TOP + STEP * row + 0.2)
/** Upright rules as TeX draws them: one a row. */
const down = (x: number, rows: number): ReadonlyArray<Drawing> =>
  Array.from({ length: rows }, (_, row) => rule(x - 0.2, TOP + STEP * row, x + 0.2, TOP + STEP * (row + 1)))

const rows = [
  ["River", "Length", "Stones"],
  ["Aa", "12", "few"],
  ["Bode", "169", "some of them"],
  ["Elbe", "1094", "many"]
]

describe("tables with rules", () => {
  it("are one where only some rows have a rule below; rows end where the upright rules do", () => {
    const uprights = [60, 160, 260, 360].flatMap((x) => down(x, 4))
    const html = htmlOf(rows, [across(0), across(1), across(4), ...uprights])
    assert.strictEqual(count(html, "tr"), 4)
    assert.match(html, /<td>169<\/td><td>some of them<\/td>/)
  })

  it("have rows as high as their upright rules where these are drawn at once", () => {
    const uprights = [60, 160, 260, 360].map((x) => rule(x - 0.2, TOP, x + 0.2, TOP + 4 * STEP))
    const html = htmlOf(rows, [across(0), across(1), across(4), ...uprights])
    assert.strictEqual(count(html, "tr"), 2)
  })

  it("are whole where rules stand between rows and columns alone, as word processors draw them without a frame", () => {
    const terms = ["Aa", "Bode", "Elbe", "Oder"]
    const cells = terms.flatMap((term, at) => [
      run(term, 66, 210 + 50 * at, { font: FONT.bold }),
      ...lines(prose(22, at), 106, 210 + 50 * at, 60)
    ])
    // The one rule between the columns goes on over the first and the last row; a rule may be a little wider than the others.
    const inner = [
      rule(60, 246, 420, 246.4),
      rule(60, 296, 426, 296.4),
      rule(60, 346, 420, 346.4),
      rule(99.8, TOP, 100.2, 400)
    ]
    const html = htmlBelowText(cells, inner)
    assert.deepEqual([html.split("<table").length - 1, html.split("<tr").length - 1], [1, 4])
    assert.include(html, `${prose(22, 2)}</td>`)
  })

  it("keep words that stand out over a side where few lines have some", () => {
    const uprights = [160, 260, 360].flatMap((x) => down(x, 13))
    const level = Array.from({ length: 14 }, (_, row) => across(row, 160))
    const html = (out: number, side: "before" | "behind") => {
      const cells = Array.from({ length: 12 }, (_, row) => {
        const y = TOP + STEP * row + 10
        const own = [run(`aa ${row}`.padEnd(18, "x"), 164, y), run("ab".padEnd(18, "x"), 264, y)]
        const more = row < out ? [run(side, side === "before" ? 130 : 362, y)] : []
        return side === "before" ? [...more, ...own] : [...own, ...more]
      })
      return htmlBelowText(cells.flat(), [...level, ...uprights])
    }
    assert.match(html(1, "before"), />before aa 0x+<\/t[hd]><t[hd][^>]*>abx+</)
    assert.match(html(1, "behind"), />aa 0x+<\/t[hd]><t[hd][^>]*>abx+ behind</)
    // Then they are the rules of something else: their last row, which is empty, is none.
    for (const side of ["before", "behind"] as const) {
      assert.strictEqual(count(html(1, side), "tr"), 13)
      assert.strictEqual(count(html(3, side), "tr"), 12)
    }
  })

  it("have a cell over rows where a rule is drawn beside it alone", () => {
    const shared = [rows[0] ?? [], ["Aa", "12", "few"], ["", "169", "some of them"]]
    const uprights = [60, 160, 260, 360].flatMap((x) => down(x, 3))
    const html = htmlOf(shared, [across(0), across(1), across(2, 160), across(3), ...uprights])
    assert.match(html, /rowspan="2"[^>]*>Aa</)
  })

  it("have the columns that level rules go over, beside the outermost upright ones", () => {
    const wide = rows.map((row, at) => [...row, `fish ${at}`])
    const inner = [160, 260, 360].flatMap((x) => down(x, 4))
    const html = htmlOf(wide, [across(0, 60, 460), across(1, 60, 460), across(4, 60, 460), ...inner])
    assert.match(html, />Bode<\/t[hd]><td>169<\/td><td>some of them<\/td><td>fish 2<\/td><\/tr>/)
    // Where they end with the upright ones, what stands beside is none.
    const narrow = htmlOf(wide, [...[0, 1, 4].map((row) => across(row, 160)), ...inner])
    assert.match(narrow, /<tr><td>169<\/td><td>some of them<\/td><\/tr>/)
  })

  it("are two rows between three rules, of which one is below the head; two lines without are none", () => {
    const two = [
      ["Code", "Output"],
      ["river", "water"]
    ]
    assert.strictEqual(count(htmlOf(two, [across(0), across(1), across(2)]), "tr"), 2)
    assert.strictEqual(count(htmlOf(two, []), "tr"), 0)
  })

  it("are not the listings that rules frame, nor do they go over a caption between two listings", () => {
    const code = { font: FONT.code }
    const listing = (y: number) =>
      ["{", "river {", "}{", "}}"].flatMap((words, at) => [
        run(String(at + 1), 60, y + 12 * at),
        run(words, 80, y + 12 * at, code)
      ])
    const framed = htmlBelowText(listing(200), [rule(60, 188, 360, 188.4), rule(60, 242, 360, 242.4)])
    assert.strictEqual(count(framed, "tr"), 0)
    assert.strictEqual(count(framed, "pre"), 1)
    const caption = run("Listing 2: of stones", 150, 256)
    const two = htmlBelowText([...listing(200), caption, ...listing(272)], [])
    assert.strictEqual(count(two, "tr"), 0)
    assert.strictEqual(count(two, "pre"), 2)
  })

  it("have a cell in the middle of the rows that it names, which are no lines of one row", () => {
    const y = (row: number) => TOP + STEP * row + 10
    const cells = (names: ReadonlyArray<readonly [string, number]>) => [
      ...["Place", "Kind", "Spring", "Autumn"].map((word, at) => run(word, 60 + 80 * at, y(0))),
      ...names.map(([name, row]) => run(name, 60, y(row))),
      ...["carex", "juncus", "caltha", "poa", "clover"].flatMap((kind, at) => [
        run(kind, 140, y(at + 1)),
        run(String(20 + at), 220, y(at + 1)),
        run(String(90 - at), 300, y(at + 1))
      ])
    ]
    const drawings = [across(0), across(1), across(4), across(6)]
    const laidOut = (names: ReadonlyArray<readonly [string, number]>): string =>
      htmlBelowText(cells(names), drawings)
    const html = laidOut([
      ["Marsh", 2],
      ["Meadow", 4.5]
    ])
    assert.strictEqual(count(html, "tr"), 6)
    assert.match(
      html,
      /rowspan="3"[^>]*>Marsh<\/t[hd]><td>carex<\/td><td>20<\/td><td>90<\/td><\/tr><tr><td>juncus/
    )
    assert.match(html, /rowspan="2"[^>]*>Meadow</)
    // Names beside the first of their rows stand in it alone.
    const beside = laidOut([
      ["Marsh", 1],
      ["Meadow", 4]
    ])
    assert.strictEqual(count(beside, "tr"), 6)
    assert.notInclude(beside, "rowspan")
  })

  it("have columns nearer than elsewhere below a ruled head", () => {
    const near = [
      ["River", "Kind"],
      ["Bodes", "brook"],
      ["Weser", "river"],
      ["Okers", "stream"]
    ]
    const runs = near.flatMap(([a = "", b = ""], at) => [
      run(a, 60, TOP + STEP * at + 10),
      run(b, 94.3 + 1.2 * (at % 2), TOP + STEP * at + 10)
    ])
    const laidOut = (drawings: ReadonlyArray<Drawing>): string => htmlBelowText(runs, drawings)
    const ruled = laidOut([across(0, 60, 130), across(1, 60, 130), across(4, 60, 130)])
    assert.match(ruled, /<td>Weser<\/td><td>river<\/td>/)
    assert.strictEqual(count(laidOut([]), "td"), 0)
  })

  describe("whose columns stand as near as words", () => {
    const laidOut = (texts: ReadonlyArray<string>, drawings: ReadonlyArray<Drawing>): string =>
      htmlBelowText(
        texts.map((words, at) => run(words, 60, TOP + STEP * at + 10)),
        drawings
      )
    const ruled = [0, 1, 5].map((row) => across(row, 60, 200))

    it("are not looked for between the line below a heading and the ground of a listing, as wide as that", () => {
      const texts = [
        "River  Kind   Count",
        "Bode   brook     12",
        "Weser  river    409",
        "Elbe   river   1094",
        "Aa     brook      8"
      ]
      const ground = rule(60, TOP + STEP, 200, TOP + 5 * STEP)
      assert.include(laidOut(texts, ruled), "<table")
      assert.notInclude(laidOut(texts, [across(0, 60, 200), ground]), "<table")
    })

    it("are cut where white goes down between all rows, and their head where that names each column", () => {
      const html = laidOut(
        [
          "River  Kind   Count",
          "Bode   brook     12",
          "Weser  river    409",
          "Oker   stream    80",
          "Aa     ditch      7"
        ],
        ruled
      )
      assert.match(html, />River<\/th>.*>Kind<\/th>.*>Count<\/th>/)
      assert.match(html, /Weser<\/t[hd]><td>river<\/td><td>409<\/td>/)
    })

    it("are not the first words of rows that begin with one each, nor cut without rules", () => {
      const same = ["Star     Count", "HD 9706    12", "HD 2665   409", "HD 43       7", "HD 5426   170"]
      assert.match(laidOut(same, ruled), />HD 2665<\/t[hd]><td>409</)
      assert.strictEqual(
        count(laidOut(["River  Kind", "Bode   brook", "Weser  river", "Aa     ditch"], []), "td"),
        0
      )
    })

    it("are no words of code, a letter's width apart, be other lines smaller", () => {
      const table = ["key", "bridge gap", "bridge arc", "bridge radius", ""].flatMap((first, at) => [
        ...(first === "" ? [] : [run(first, 60, TOP + STEP * at + 10, { font: FONT.code })]),
        run(`Some width ${at}`, 180, TOP + STEP * at + 10, { size: first === "" ? 8 : 10 })
      ])
      const drawings = [0, 1, 5].map((row) => across(row, 60, 280))
      const html = htmlBelowText(table, drawings)
      assert.match(html, /<code>bridge gap<\/code><\/t[hd]>/)
    })
  })

  it("are two where rules of one width are those of two tables, with text between", () => {
    const table = (row: number) =>
      rows.flatMap((cells, at) =>
        cells.map((words, column) => run(words, (COLUMNS[column] ?? 0) + 5, TOP + STEP * (row + at) + 10))
      )
    const between = [7, 8, 9, 10].flatMap((row) => lines(prose(14, row), 60, TOP + STEP * row + 4, 90))
    const drawings = [0, 1, 4, 12, 13, 16].map((row) => across(row))
    const html = htmlBelowText([...table(0), ...between, ...table(12)], drawings)
    assert.strictEqual(count(html, "thead"), 2)
    assert.strictEqual(count(html, "tr"), 8)
  })
})

describe("names of columns without upright rules", () => {
  const grid = (above: number, right: number) => [
    rule(60, above, right, above + 0.4),
    ...[214, 230, 246].map((y) => rule(60, y, 240, y + 0.4)),
    ...[60, 120, 180, 240].map((x) => rule(x, 214, x + 0.4, 246))
  ]
  const words = ["Name", "Deep", "Wide", "Aa", "12", "31", "Bode", "169", "44"].map((word, at) =>
    run(word, 64 + 60 * (at % 3), 210 + 16 * Math.floor(at / 3))
  )

  it("are the head of the grid below, where a rule as wide as it closes them", () => {
    assert.match(htmlBelowText(words, grid(198, 240)), /Name<\/t[dh]>.*Wide<\/t[dh]><\/tr>.*>Aa</)
    assert.notMatch(htmlBelowText(words, grid(198, 300)), /Name<\/t[dh]>/)
    // Upright rules above are those of another table.
    const other = [60, 240].map((x) => rule(x, 190, x + 0.4, 210))
    assert.notMatch(htmlBelowText(words, [...grid(198, 240), ...other]), /Name<\/t[dh]>/)
  })

  it("are a row each line, and names of several over their columns", () => {
    const units = [run("Both in metres", 140, 198)]
    const html = htmlBelowText([...units, ...words], grid(186, 240))
    assert.match(html, /<tr><t[dh][^>]*><\/t[dh]><t[dh][^>]* colspan="2"[^>]*>Both in metres<\/t[dh]><\/tr>/)
  })
})

describe("names above a grid", () => {
  const grid = (top: number, columns: ReadonlyArray<number>, heights: ReadonlyArray<number>) => {
    const ys = [
      top,
      ...heights.map((_, at) => top + heights.slice(0, at + 1).reduce((sum, one) => sum + one, 0))
    ]
    const [left = 0, right = 0, foot = 0] = [columns[0], columns.at(-1), ys.at(-1)]
    return [
      ...ys.map((y) => rule(left, y - 0.2, right, y + 0.2)),
      ...columns.map((x) => rule(x - 0.2, top, x + 0.2, foot))
    ]
  }
  const cells = (rows_: typeof rows, top: number, set = {}) =>
    rows_.flatMap((row, at) =>
      row.map((words, column) => run(words, (COLUMNS[column] ?? 0) + 5, top + STEP * at + 10, set))
    )
  const [names = [], ...body] = rows
  const below = [...cells(body, TOP), ...lines(prose(30), 60, 300, 90)]
  const bold = { font: FONT.bold }

  it("are its head: in a grid of their own, or with no rule at all", () => {
    const rules = grid(TOP, COLUMNS, [STEP, STEP, STEP])
    for (const drawings of [rules, [...rules, ...grid(TOP - 22, COLUMNS, [STEP])]]) {
      const html = htmlBelowText([...cells([names], TOP - 22, bold), ...below], drawings)
      assert.match(html, /<thead><tr><th scope="col">River<\/th>.*<\/thead>.*>Aa<.*<\/table>/s)
      assert.strictEqual(count(html, "table"), 1)
    }
    const two = [names, ["of all", "in km", "and size"]]
    const html = htmlBelowText(
      [...cells(two, TOP - 36, bold), ...below],
      [...rules, ...grid(TOP - 36, COLUMNS, [STEP, STEP])]
    )
    assert.match(html, /<thead><tr><th scope="col">River<.*<th scope="col">and size<\/th><\/tr><\/thead>/)
  })

  it("are none where they stand over no columns, in the weight of the rows, or above another head", () => {
    const rules = grid(TOP, COLUMNS, [STEP, STEP, STEP])
    const above = [
      [run("Rivers and stones of the country", 65, TOP - 12, bold)],
      [run("River and its length", 65, TOP - 12, bold), run("Stones", 265, TOP - 12, bold)],
      cells([["on the", "one or", "other"]], TOP - 22)
    ]
    for (const words of above) assert.notInclude(htmlBelowText([...words, ...below], rules), "<thead>")
    const headed = htmlBelowText(
      [...cells([["Map", "Sheet", "Year"]], TOP - 22, bold), ...cells([names], TOP, bold), ...below.slice(3)],
      rules
    )
    assert.notMatch(headed, /<th[^>]*>Map/)
  })
})
