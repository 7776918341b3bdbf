/** Notes at a page's foot, right below a table too. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, rule, run } from "../page-builder.ts"

const SMALL = { size: 8 }
const raised = (mark: string, x: number, y: number): TextRun => run(mark, x, y - 3.2, { size: 4.8 })
/** A small table of three columns, whose rows stand 14 points apart. */
const table = (y: number): ReadonlyArray<TextRun> =>
  [
    ["Item", "Count", "Sum"],
    ["Paper", "12", "4.50"],
    ["Stone", "13", "5.50"],
    ["River", "14", "6.50"]
  ].flatMap((cells, at) => cells.map((cell, column) => run(cell, 60 + 140 * column, y + 14 * at, SMALL)))
const TEXT = [
  ...lines(prose(200), 60, 60, 90),
  run("More is said of the river", 60, 560),
  raised("1", 186, 560),
  run("and of the quiet stone that stands over the letters", 192, 560)
]

const htmlOf = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing> = []): string =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [page([...TEXT, ...runs], 0, { drawings })],
    others: NO_STATISTICS
  })
    .map(({ html }) => html)
    .join("")
const count = (html: string, sign: RegExp): number => html.match(sign)?.length ?? 0
/** How many notes, lists, tables and rows a page has. */
const parts = (html: string) => ({
  notes: count(html, /role="doc-footnote"/g),
  lists: count(html, /<[ou]l/g),
  tables: count(html, /<table/g),
  rows: count(html, /<tr>/g)
})

const WORDS = ["See the other river.", "And the stones.", "And the letters."]
/** Notes whose words begin so far behind their marks. */
const marked = (tab: number): ReadonlyArray<TextRun> =>
  WORDS.flatMap((words, at) => [
    raised(String(at + 1), 60, 757 + 10 * at),
    run(words, 62.5 + tab, 757 + 10 * at, SMALL)
  ])
/** The same, whose marks are not raised, behind a tab. */
const PLAIN = WORDS.flatMap((words, at) => [
  run(String(at + 1), 60, 757 + 10 * at, SMALL),
  run(words, 90, 757 + 10 * at, SMALL)
])
const SEPARATOR = rule(60, 747, 204, 747)

describe("notes at a page's foot", () => {
  it("are no steps of an algorithm, three and more of them, nor words without marks behind a tab", () => {
    for (const tab of [2, 30]) {
      const html = htmlOf(marked(tab))
      assert.deepStrictEqual(parts(html), { notes: 3, lists: 0, tables: 0, rows: 0 }, `${tab}`)
      assert.include(html, '<a role="doc-noteref" href="#fn-1"><sup>1</sup></a>')
    }
  })

  it("are words of their own where they stand further from what looks like a mark than a tab reaches", () => {
    assert.strictEqual(parts(htmlOf(marked(120))).notes, 0)
  })

  it("are no rows of the table above them where a rule parts them, whatever stands behind their marks", () => {
    const html = htmlOf([...table(690), ...PLAIN], [SEPARATOR])
    assert.deepStrictEqual(parts(html), { notes: 3, lists: 0, tables: 1, rows: 4 })
    assert.deepStrictEqual(parts(htmlOf([...table(690), ...marked(30)])), {
      notes: 3,
      lists: 0,
      tables: 1,
      rows: 4
    })
  })

  it("are rows where the rule is a table's: below its head, or as long as the others", () => {
    const numbered = (y: number) =>
      [
        ["No", "Name"],
        ["1", "River"],
        ["2", "Stone"],
        ["3", "Letter"]
      ].flatMap((cells, at) => cells.map((cell, column) => run(cell, 60 + 100 * column, y + 12 * at, SMALL)))
    const edges = [rule(60, 710, 204, 710), rule(60, 723, 204, 723), rule(60, 762, 204, 762)]
    for (const drawings of [edges, edges.slice(1, 2)])
      assert.deepInclude(parts(htmlOf(numbered(720), drawings)), { notes: 0, tables: 1, rows: 4 })
  })
})

describe("a listing with numbers at a page's foot", () => {
  const code = { size: 8, font: FONT.code }
  const listing = (raise: number) =>
    ["let river = stone + letter", "let stone = river", "let letter = river * stone"].flatMap((words, at) => [
      run(String(at + 30), 60, 757 + 10 * at - raise, { size: 5 }),
      run(words, 74, 757 + 10 * at, code)
    ])

  it("is code", () => {
    const html = htmlOf(listing(0))
    assert.strictEqual(parts(html).notes, 0)
    assert.match(html, /<pre[^>]*><code>30 +let river = stone \+ letter\n31 let stone/)
  })

  it("is code below a first line that is none", () => {
    const [number, , ...rest] = listing(0)
    const html = htmlOf([...(number === undefined ? [] : [number]), run("<class>", 74, 757, SMALL), ...rest])
    assert.strictEqual(parts(html).notes, 0)
    assert.match(html, /<pre[^>]*><code>31 let stone/)
  })

  it("is notes where the numbers are raised, or where words stand among its code", () => {
    assert.strictEqual(parts(htmlOf(listing(3.2))).notes, 3)
    const words = [run("1", 60, 757, SMALL), run("river", 70, 757, code), run("is a name.", 100, 757, SMALL)]
    assert.strictEqual(parts(htmlOf(words)).notes, 1)
  })
})
