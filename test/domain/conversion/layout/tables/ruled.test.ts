/** Tables whose rules are drawn in parts, or leave sides open. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../../src/domain/conversion/layout/statistics.ts"
import type { Drawing, TextRun } from "../../../../../src/domain/conversion/page-content.ts"
import { FACTS, FONT, FONTS, lines, page, prose, rule, run } from "../page-builder.ts"

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
  const runs = [...lines(prose(60), 60, 60, 90), ...cells]
  return layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [page(runs, 0, { drawings })],
    others: NO_STATISTICS
  })
    .map(({ html }) => html)
    .join("")
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
    const laidOut = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing>): string =>
      layoutPages({
        facts: FACTS,
        fonts: FONTS,
        pages: [page([...lines(prose(60), 60, 60, 90), ...runs], 0, { drawings })],
        others: NO_STATISTICS
      })
        .map(({ html }) => html)
        .join("")
    const framed = laidOut(listing(200), [rule(60, 188, 360, 188.4), rule(60, 242, 360, 242.4)])
    assert.strictEqual(count(framed, "tr"), 0)
    assert.strictEqual(count(framed, "pre"), 1)
    const caption = run("Listing 2: of stones", 150, 256)
    const two = laidOut([...listing(200), caption, ...listing(272)], [])
    assert.strictEqual(count(two, "tr"), 0)
    assert.strictEqual(count(two, "pre"), 2)
  })
})
