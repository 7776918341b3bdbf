/** Tables as LaTeX sets them in papers: names over several columns, units below names, cells that rows share, narrow paragraphs. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, rule, run } from "../../page-builder.ts"
import { NAMES, RIVERS } from "./rivers.ts"

const TOP = 200
const STEP = 12
const PLACES = [60, 160, 220, 280]

const at = (row: number, words: string, x: number, font: number = FONT.plain): TextRun =>
  run(words, x, TOP + STEP * row, { font })

/** The cells of a row, an empty one left out. */
const rowAt = (
  row: number,
  words: ReadonlyArray<string>,
  font: number = FONT.plain
): ReadonlyArray<TextRun> =>
  words.flatMap((one, column) => (one === "" ? [] : [at(row, one, PLACES[column] ?? 0, font)]))

/** A level rule below a row. */
const below = (row: number, from = 60, to = 320): Drawing =>
  rule(from, TOP + STEP * row + 4, to, TOP + STEP * row + 4.4)

const cell = (words: string): string => `<t[dh][^>]*>${words}</t[dh]>`
const over = (columns: number, words: string): string =>
  `<t[dh][^>]*colspan="${columns}"[^>]*>(?:<\\w+>)?${words}`

const riverRows = (from: number) => RIVERS.flatMap((row, number) => rowAt(from + number, row))

describe("a cell in the middle of the rows that share it", () => {
  const kinds = ["rush", "moss", "fern", "reed"]
  const table = (places: ReadonlyArray<number>) =>
    htmlBelowText(
      [
        at(0, "Place Kind Days", 60),
        ...["Marsh", "Moor"].map((name, number) => at(places[number] ?? 0, name, 60)),
        ...kinds.flatMap((kind, number) => [at(number + 1, kind, 90), at(number + 1, `${number}`, 120)])
      ],
      [below(-1, 60, 140), below(0, 60, 140), below(4, 60, 140)]
    )

  it("shows the white before the next column, so that their names are cut there", () => {
    const html = table([1.5, 3.5])
    assert.match(html, /rowspan="2"[^>]*>Marsh<\/t[hd]>/)
    assert.match(html, new RegExp(cell("Place") + cell("Kind") + cell("Days")))
  })

  it("is none where it stands a row above them, as a name of a group does", () => {
    assert.notInclude(table([1, 3]), "rowspan")
  })
})

describe("a sign of mathematics", () => {
  const table = (signs: ReadonlyArray<string>) =>
    htmlBelowText(
      [
        at(0, "Odds Fit  Days", 60),
        ...signs.map((sign, number) => at(number + 1, `B${number}    ${sign}`, 60))
      ],
      [below(-1, 60, 180), below(0, 60, 180), below(signs.length, 60, 180)]
    )

  it("is a cell's only one where the white beside it is wide", () => {
    assert.match(
      table(["×    12", "×    31", "×    44", "×    58"]),
      new RegExp(cell("B1") + cell("×") + cell("31"))
    )
  })

  it("is a formula's where it is a word's", () => {
    assert.match(table(["× 12", "× 31", "× 44", "× 58"]), new RegExp(cell("× 31")))
  })
})

describe("what the columns are measured in", () => {
  const table = (second: ReadonlyArray<string>) =>
    htmlBelowText(
      // Drawn column by column: only the places tell of rows.
      [...rowAt(0, ["River", "Depth has", "Width", "Fish"]), ...rowAt(1, second), ...riverRows(2)].toSorted(
        (a, b) => a.box.x0 - b.box.x0
      ),
      [below(-1), below(1), below(5)]
    )

  it("is a row below their names where it stands in brackets", () => {
    assert.match(table(["", "(m)", "(km)", "[kg]"]), new RegExp(cell("\\(m\\)") + cell("\\(km\\)")))
  })

  it("is the rest of a name where some of it is not", () => {
    assert.match(table(["", "in metres", "(km)", "[kg]"]), new RegExp(cell("Width \\(km\\)")))
  })

  it("stands below a name of the last column alone, two lines above the first row", () => {
    const named = (name: string) =>
      htmlBelowText(
        [
          at(0, name, 160),
          at(1, "(m)", 160),
          ...RIVERS.flatMap((row, number) => rowAt(number + 2, row.slice(0, 2)))
        ],
        [below(-1, 60, 190), below(1, 60, 190), below(5, 60, 190)]
      )
    assert.match(named("Deep"), new RegExp(`${cell("") + cell("Deep")}</tr>.*${cell("\\(m\\)")}`))
  })
})

describe("a line alone at the left of its rows", () => {
  const table = (words: string, font: number, rows: number = FONT.plain, rules = [-1, 0, 6]) =>
    htmlBelowText(
      [
        ...rowAt(0, NAMES),
        ...[1, 4].map((row) => at(row, words, 60, font)),
        ...RIVERS.flatMap((row, number) => {
          const line = number + (number < 2 ? 2 : 3)
          return [at(line, row[0] ?? "", 60, rows), ...rowAt(line, ["", ...row.slice(1)])]
        })
      ],
      rules.map((row) => below(row))
    )

  it("names them all where it is bold or in italics, and they are not", () => {
    assert.match(table("North", FONT.bold), new RegExp(over(4, "North")))
    assert.match(table("North", FONT.italic), new RegExp(over(4, "North")))
  })

  it("is a row without values where it is set as the others are", () => {
    assert.notMatch(table("North", FONT.plain), new RegExp(over(4, "North")))
    assert.notMatch(table("North", FONT.bold, FONT.bold), new RegExp(over(4, "North")))
    // Without a rule below the names of columns it may be a heading.
    assert.notMatch(table("North", FONT.bold, FONT.plain, [-1, 6]), new RegExp(over(4, "North")))
  })
})

describe("a rule below a name", () => {
  const table = (rules: ReadonlyArray<Drawing>) =>
    htmlBelowText(
      [at(0, "Both", 224), ...rowAt(1, ["River", "Deep", "Wide", "High"]), ...riverRows(2)].toSorted(
        (a, b) => a.box.x0 - b.box.x0
      ),
      [below(-1), below(1), below(5), ...rules]
    )

  it("tells which columns it is above, though it is not in their middle", () => {
    const html = table([below(0, 158, 305)])
    assert.match(html, new RegExp(`${cell("")}${over(3, "Both")}`))
  })

  it("tells nothing of a name elsewhere", () => {
    assert.notMatch(table([below(0, 60, 120)]), new RegExp(over(3, "Both")))
  })
})

describe("words of one cell", () => {
  const table = (words: ReadonlyArray<TextRun>) =>
    htmlBelowText(
      [
        at(0, "River", 60),
        at(0, "Remarks", 160),
        at(1, "Aa", 60),
        at(1, "It has a lot of", 160),
        ...words,
        at(3, "Bode", 60),
        at(3, "It has few fish", 160),
        at(4, "Elbe", 60),
        at(4, "It has as many", 160)
      ],
      [below(-1, 60, 250), below(0, 60, 250), below(4, 60, 250)]
    )

  it("go on with those above where justification sets them far apart", () => {
    const html = table(["fish", "and", "rocks"].map((word, number) => at(2, word, 160 + 32 * number)))
    assert.match(html, new RegExp(cell("Aa") + cell("It has a lot of fish and rocks")))
  })
})

describe("an upright rule beside the names of rows", () => {
  const upright = (x: number, parts: ReadonlyArray<number>) =>
    parts.slice(1).map((end, number) => {
      const [from, to] = [parts[number] ?? 0, end]
      return rule(x, TOP + STEP * from + 4, x + 0.4, TOP + STEP * to + 4.2)
    })
  /** `more`: where else upright rules stand; `once`: all are drawn in one piece. */
  const table = (
    rows: ReadonlyArray<ReadonlyArray<string>>,
    more: ReadonlyArray<number> = [],
    once = false
  ) =>
    htmlBelowText(
      rows.flatMap((row, number) => rowAt(number, row)),
      [
        below(-1),
        below(rows.length - 1),
        ...[140, ...more].flatMap((x) => upright(x, once ? [-1, rows.length - 1] : [-1, ...rows.keys()]))
      ]
    )
  const empty = ["Aa", "Bode", "Elbe", "Oder", "Oker", "Saale"].map((name) => [name])
  const sparse = [["River", "Fish"], ...empty, ["Weser", "X"]]
  const full = [NAMES, ...RIVERS]

  it("ends with each row where it is drawn anew", () => {
    const html = table(sparse)
    assert.strictEqual(html.split("<tr").length - 1, sparse.length)
    assert.match(html, new RegExp(cell("Aa") + cell("") + "</tr>"))
  })

  it("ends no row where it is drawn once", () => {
    assert.notMatch(table(sparse, [], true), new RegExp(cell("Aa") + cell("") + "</tr>"))
  })

  it("leaves the columns apart that white parts, and names over several of them whole", () => {
    assert.match(table(full), new RegExp(cell("Bode") + cell("169") + cell("44") + cell("some")))
    const named = table([["River", "What they are in metres"], ...RIVERS])
    assert.match(named, new RegExp(`${cell("River")}${over(3, "What they are")}|${over(2, "What they are")}`))
  })

  it("is one of all where the table's sides are drawn, too", () => {
    assert.match(table(full, [57, 322]), new RegExp(cell("Bode") + cell("169 44 some")))
  })

  it("leaves the words of a column together where few rows have white there", () => {
    const rows = RIVERS.map(([name = ""], number) =>
      number % 2 === 1 ? [name, "a", "b"] : [name, "words of a note on it"]
    )
    assert.match(table([["River", "Remarks"], ...rows]), new RegExp(cell("a b")))
  })
})
