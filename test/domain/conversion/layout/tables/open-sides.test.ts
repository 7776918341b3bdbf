/** Tables that rules show, drawn as LaTeX, word processors and others draw them. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../../src/domain/conversion/layout/statistics.ts"
import type { Drawing } from "../../../../../src/domain/conversion/page-content.ts"
import { FACTS, FONTS, lines, page, prose, rule, run } from "../page-builder.ts"

const text = lines(prose(60), 60, 60, 90)

const rowsOf = (rows: ReadonlyArray<ReadonlyArray<string>>, drawings: ReadonlyArray<Drawing>) => {
  const cells = rows.flatMap((row, at) =>
    row.map((words, column) => run(words, 65 + 130 * column, 200 + 18 * at))
  )
  const [html = ""] = layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [page([...text, ...cells], 0, { drawings })],
    others: NO_STATISTICS
  }).map((one) => one.html)
  return [...html.matchAll(/<table.*?<\/table>/gs)].map(([table]) =>
    [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => cell)
    )
  )
}

const fruit = [
  ["Name", "Kind", "What one does with it"],
  ["apple", "a fruit", "It is eaten"],
  ["carrot", "a root", "It is cooked"],
  ["walnut", "a nut", "Oil is made of it"],
  ["plum", "a fruit", "It is dried"]
]
const [left, right] = [60, 450]
const inner = [190, 320]
const top = 186
const step = 18
const bottom = top + step * fruit.length
const level = (rows: ReadonlyArray<number>) =>
  rows.map((row) => rule(left, top + step * row, right, top + step * row))
/** Upright rules in one piece each, or one piece a row. */
const upright = (places: ReadonlyArray<number>, pieces: boolean) =>
  places.flatMap((x) =>
    pieces
      ? fruit.map((_, row) => rule(x, top + step * row, x, top + step * (row + 1)))
      : [rule(x, top, x, bottom)]
  )
const everyRow = fruit.map((_, at) => at).concat(fruit.length)

describe("a table with rules", () => {
  it("is one though its sides are open", () => {
    assert.deepStrictEqual(rowsOf(fruit, [...level(everyRow), ...upright(inner, false)]), [fruit])
  })

  it("has the rows that its upright rules are drawn in where no level ones part them, with open sides or closed ones", () => {
    for (const places of [inner, [left, ...inner, right]])
      assert.deepStrictEqual(
        rowsOf(fruit, [...level([0, 1, fruit.length]), ...upright(places, true)]),
        [fruit],
        places.join(" ")
      )
  })

  it("keeps a cell over two rows whole where a level rule parts the others only", () => {
    const rows = [...fruit.slice(0, 3), ["", "a tuber", "It is eaten, too"], ...fruit.slice(4)]
    const below = 3
    const drawings = [
      ...level(everyRow.filter((at) => at !== below)),
      rule(inner[0] ?? 0, top + step * below, right, top + step * below),
      ...upright([left, ...inner, right], true)
    ]
    const [table] = rowsOf(rows, drawings)
    assert.deepStrictEqual(table?.[2]?.length, 3)
    assert.deepStrictEqual(table?.[3], ["a tuber", "It is eaten, too"])
  })

  it("does not take in what stands beside it where its level rules end with it", () => {
    const [table] = rowsOf(fruit, [
      ...everyRow.map((row) => rule(190, top + step * row, right, top + step * row)),
      ...upright([...inner, right], true)
    ])
    assert.deepStrictEqual(
      table,
      fruit.map(([, ...cells]) => cells)
    )
  })
})
