/** Tagged tables whose tags leave out how far cells span, as Word's do: the rules around them tell. */
import { assert, describe, it } from "vitest"

import type { Drawing, StructureElement, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, page, rule, run, tag } from "../page-builder.ts"

const [LEFT, TOP, WIDE, STEP] = [60, 100, 100, 20]

const htmlOf = (
  runs: ReadonlyArray<TextRun>,
  structure: ReadonlyArray<StructureElement>,
  drawings: ReadonlyArray<Drawing>
): string =>
  (
    layoutPages({
      facts: { ...FACTS, tagged: true },
      fonts: FONTS,
      pages: [page(runs, 0, { structure, drawings })],
      others: NO_STATISTICS
    })[0]?.html ?? ""
  ).replaceAll(/ data-\w+="\d*"| scope="\w+"/g, "")

/** Words in the middle of a cell from one row and column up to others. */
interface At {
  readonly words: string
  readonly row: number
  readonly column: number
  readonly down?: number
  readonly more?: ReadonlyArray<number>
}

/** A table's rows, one array each. */
const tableOf = (
  rows: ReadonlyArray<ReadonlyArray<At>>,
  headRows = 0
): { readonly runs: ReadonlyArray<TextRun>; readonly structure: ReadonlyArray<StructureElement> } => {
  const cells = rows.flat()
  const runs = cells.flatMap(({ column, down = 1, row, words }, mcid) =>
    words === "" ? [] : [run(words, LEFT + WIDE * column + 8, TOP + STEP * (row + down / 2) + 3, { mcid })]
  )
  const structure = [
    tag(
      "Table",
      rows.map((row, at) =>
        tag(
          "TR",
          row.map((cell) =>
            tag(
              at < headRows ? "TH" : "TD",
              cell.words === "" ? [] : [cells.indexOf(cell), ...(cell.more ?? [])]
            )
          )
        )
      )
    )
  ]
  return { runs, structure }
}

const across = (row: number, from: number, to: number): Drawing =>
  rule(LEFT + WIDE * from, TOP + STEP * row - 0.2, LEFT + WIDE * to, TOP + STEP * row + 0.2)
const down = (column: number, from: number, to: number): Drawing =>
  rule(LEFT + WIDE * column - 0.2, TOP + STEP * from, LEFT + WIDE * column + 0.2, TOP + STEP * to)

/** Three columns: the first cell of the second row reaches down, and the last row has a cell over two columns. */
const RULES = [
  across(0, 0, 3),
  across(1, 0, 3),
  across(2, 1, 3),
  across(3, 0, 3),
  across(4, 0, 3),
  down(0, 0, 4),
  down(1, 0, 4),
  down(2, 0, 3),
  down(3, 0, 4)
]
const ROWS: ReadonlyArray<ReadonlyArray<At>> = [
  [
    { words: "Name", row: 0, column: 0 },
    { words: "Bits", row: 0, column: 1 },
    { words: "What", row: 0, column: 2 }
  ],
  [
    { words: "Mode", row: 1, column: 0, down: 2 },
    { words: "7", row: 1, column: 1 },
    { words: "Reserved", row: 1, column: 2 }
  ],
  [
    { words: "6", row: 2, column: 1 },
    { words: "", row: 2, column: 2 }
  ],
  [
    { words: "Rest", row: 3, column: 0 },
    { words: "none of these", row: 3, column: 1 }
  ]
]
const SPANNED =
  '<tr><td rowspan="2">Mode</td><td>7</td><td>Reserved</td></tr><tr><td>6</td><td></td></tr>' +
  '<tr><td>Rest</td><td colspan="2">none of these</td></tr>'

describe("a tagged table whose rows are not as long as each other", () => {
  it("has the spans that its rules show, and the head that is tagged", () => {
    const { runs, structure } = tableOf(ROWS, 1)
    assert.strictEqual(
      htmlOf(runs, structure, RULES),
      `<table><thead><tr><th>Name</th><th>Bits</th><th>What</th></tr></thead><tbody>${SPANNED}</tbody></table>`
    )
    const two = tableOf(ROWS, 3)
    assert.match(htmlOf(two.runs, two.structure, RULES), /<th[^>]*>6<\/th><td><\/td><\/tr><\/thead>/)
  })

  it("has them beside the grounds of its words", () => {
    const { runs, structure } = tableOf(ROWS)
    const grounds = runs.map(({ box }): Drawing => ({
      ...rule(box.x0 - 5, box.y0 - 3, box.x1 + 20, box.y1 + 3),
      kind: "path",
      stroked: false,
      filled: true,
      curved: false,
      color: 0xdddddd
    }))
    assert.include(htmlOf(runs, structure, [...grounds, ...RULES]), SPANNED)
  })

  it("has them where its borders are the sides of boxes", () => {
    const { runs, structure } = tableOf(ROWS)
    const box = (x: number, y: number, columns: number, rows: number): Drawing =>
      rule(LEFT + WIDE * x, TOP + STEP * y, LEFT + WIDE * (x + columns), TOP + STEP * (y + rows))
    const boxes = [
      ...[0, 1, 2].map((column) => box(column, 0, 1, 1)),
      box(0, 1, 1, 2),
      ...[1, 2].flatMap((column) => [box(column, 1, 1, 1), box(column, 2, 1, 1)]),
      box(0, 3, 1, 1),
      box(1, 3, 2, 1)
    ]
    assert.include(htmlOf(runs, structure, boxes), SPANNED)
  })

  it("goes on from the page before with empty cells", () => {
    const { runs, structure } = tableOf([[{ words: "Clock", row: 2, column: 2 }], ...ROWS.slice(3)])
    const open = RULES.filter(({ box }) => box.y0 >= TOP + 2 * STEP - 1 || box.x1 - box.x0 < 1)
    assert.match(
      htmlOf(runs, structure, [across(2, 0, 3), ...open]),
      /<tr><td><\/td><td><\/td><td>Clock<\/td><\/tr><tr><td>Rest<\/td><td colspan="2">/
    )
  })

  it("stays as it is tagged where words go over a border, stand in no cell, or two cells in one", () => {
    const asTagged = (rows: ReadonlyArray<ReadonlyArray<At>>, rules = RULES): void => {
      const { runs, structure } = tableOf(rows)
      assert.notInclude(htmlOf(runs, structure, rules), "span=")
    }
    asTagged(ROWS, [])
    const [head = [], ...rest] = ROWS
    asTagged([[...head.slice(0, 2), { words: "Far", row: 0, column: 3 }], ...rest])
    asTagged([[...head.slice(0, 2), { words: "Far", row: -3, column: 2 }], ...rest])
    asTagged([[...head.slice(0, 2), { words: "Same", row: 0, column: 1.3 }], ...rest])
    asTagged([[...head.slice(0, 2), { words: "What", row: 0, column: 2, more: [0] }], ...rest])
    // The tagged row stands in two rows of the grid, or above the row before.
    asTagged([[...head.slice(0, 2), { words: "What", row: 1, column: 2 }], ...rest.slice(1)])
    asTagged([rest[1] ?? [], head])
  })

  it("ends with its last row, over a cell that reaches down, and may have rows without words", () => {
    const [head = [], second = []] = ROWS
    const rows = [head.slice(0, 2), [{ words: "", row: 0, column: 0 }], second]
    const { runs, structure } = tableOf(rows)
    assert.include(
      htmlOf(runs, structure, RULES),
      "<tr><th>Name</th><th>Bits</th><td></td></tr></thead><tbody><tr><td>Mode</td><td>7</td><td>Reserved</td></tr></tbody>"
    )
  })

  it("stays as it is where most of the grid's cells are not tagged, or no words are", () => {
    const rows = [
      [{ words: "Name", row: 0, column: 0 }],
      [
        { words: "Rest", row: 3, column: 0 },
        { words: "none of these", row: 3, column: 1 }
      ]
    ]
    const { runs, structure } = tableOf(rows)
    assert.notInclude(htmlOf(runs, structure, RULES), "span=")
    const empty = tag("Table", [tag("TR", [tag("TD", [])]), tag("TR", [tag("TD", []), tag("TD", [])])])
    const html = htmlOf([run("Below", 60, 300, { mcid: 0 })], [empty, tag("P", [0])], RULES)
    assert.include(html, "<tr><td></td></tr><tr><td></td><td></td></tr>")
  })

  it("takes the spans that are tagged where its rows are as long as each other with them", () => {
    const { runs } = tableOf(ROWS)
    let mcid = 0
    const rows = ROWS.map((row) =>
      tag(
        "TR",
        row.map(({ words }) => {
          const attributes =
            words === "Mode" ? { RowSpan: 2 } : words === "none of these" ? { ColSpan: 2 } : {}
          return tag("TD", [mcid++], { attributes })
        })
      )
    )
    // One more rule would make two cells of the last.
    assert.include(htmlOf(runs, [tag("Table", rows)], [...RULES, down(2, 3, 4)]), SPANNED)
  })

  it("is looked for in time that grows with the page alone", () => {
    const many = Array.from({ length: 4000 }, (_, at): ReadonlyArray<At> => [
      { words: "a", row: (at % 40) / 2, column: (at % 9) / 3 },
      ...(at % 2 === 0 ? [{ words: "b", row: (at % 40) / 2, column: 2 }] : [])
    ])
    const { runs } = tableOf(many)
    let mcid = 0
    const structure = many.map((row) =>
      tag("Table", [
        tag(
          "TR",
          row.map(() => tag("TD", [mcid++]))
        ),
        tag("TR", [])
      ])
    )
    const grid = Array.from({ length: 39 }, (_, at) => [across(at / 2, 0, 3), down(at / 13, 0, 20)]).flat()
    assert.include(htmlOf(runs, structure, grid), "a")
  })
})
