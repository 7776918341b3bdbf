/** Tables as word processors draw them: grounds of cells in parts, level rules a column at a time, no frame. */
import { assert, describe, it } from "vitest"

import type { Drawing } from "../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, htmlBelowText, lines, page, prose, rule, run } from "../../page-builder.ts"

const [LEFT, MIDDLE, RIGHT] = [60, 200, 400]
/** The margins of a cell. */
const MARGIN = 5

const ground = (x0: number, y0: number, x1: number, y1: number, color = 0xd9d9d9): Drawing => ({
  ...rule(x0, y0, x1, y1),
  kind: "path",
  stroked: false,
  filled: true,
  curved: false,
  color
})

/** A cell's ground as Word draws it: of its words, and of each margin. */
const padded = (
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  margins = 0xd9d9d9
): ReadonlyArray<Drawing> => [
  ground(x0, y0, x0 + MARGIN, y1, margins),
  ground(x1 - MARGIN, y0, x1, y1, margins),
  ground(x0 + MARGIN, y0, x1 - MARGIN, y1)
]

/** A level rule, drawn for each column. */
const level = (y: number): ReadonlyArray<Drawing> => [
  rule(LEFT, y - 0.2, MIDDLE, y + 0.2),
  rule(MIDDLE, y - 0.2, RIGHT, y + 0.2)
]
const upright = (x: number, y0: number, y1: number): Drawing => rule(x - 0.2, y0, x + 0.2, y1)

const row = (y: number, ...words: ReadonlyArray<string>) =>
  words.map((one, at) => run(one, (at === 0 ? LEFT : MIDDLE) + MARGIN + 1, y))

const CELLS = [
  ...row(212, "Name", "What it is"),
  ...row(232, "river", "flowing water"),
  ...row(252, "pond", "still water")
]

describe("a cell's ground with its margins", () => {
  const frame = [
    ...[200, 220, 240, 260].flatMap(level),
    ...[LEFT, MIDDLE, RIGHT].map((x) => upright(x, 200, 260))
  ]

  it("is one, and no column stands beside it", () => {
    const head = [...padded(LEFT, 200, MIDDLE, 220), ...padded(MIDDLE, 200, RIGHT, 220)]
    const html = htmlBelowText(CELLS, [...head, ...frame])
    assert.match(html, /<tr><th scope="col">Name<\/th><th scope="col">What it is<\/th><\/tr>/)
    assert.notInclude(html, "colspan")
  })

  it("over all columns is one cell", () => {
    const html = htmlBelowText(
      [run("Waters", 66, 212), ...CELLS.slice(2)],
      [
        ...padded(LEFT, 200, RIGHT, 220),
        ...[200, 220, 240, 260].flatMap(level),
        ...[LEFT, RIGHT].map((x) => upright(x, 200, 260)),
        upright(MIDDLE, 220, 260)
      ]
    )
    assert.match(html, /colspan="2"[^>]*>Waters</)
    assert.notMatch(html, /colspan="[3-9]"/)
  })

  it("is several where they differ in colour", () => {
    const head = padded(LEFT, 200, RIGHT, 220, 0xff0000)
    assert.match(htmlBelowText(CELLS, [...head, ...frame]), /colspan="2"[^>]*>river</)
  })
})

it("words over a border of other rows are not cut there", () => {
  const html = htmlBelowText(
    [run("Waters of all k", 130, 212), run("inds", 205, 212), ...CELLS.slice(2)],
    [
      ...[200, 220, 240, 260].flatMap(level),
      ...[LEFT, RIGHT].map((x) => upright(x, 200, 260)),
      upright(MIDDLE, 220, 260)
    ]
  )
  assert.match(html, /colspan="2"[^>]*>Waters of all kinds</)
})

describe("a row of a table with stripes that has no rule between its columns", () => {
  /** Rules between the columns of every second row. */
  const striped = [
    ...[200, 220, 240, 264].flatMap(level),
    ...[LEFT, RIGHT].map((x) => upright(x, 200, 264)),
    upright(MIDDLE, 200, 240)
  ]

  it("has a cell for each of its columns, also where words are wrapped", () => {
    const html = htmlBelowText([...CELLS, run("at night", 206, 262)], striped)
    assert.include(html, ">pond</td><td><p>still water</p><p>at night</p></td>")
  })

  it("is one cell where no words stand beside one another", () => {
    const html = htmlBelowText([...CELLS.slice(0, 4), run("pond", 66, 250)], striped)
    assert.match(html, /colspan="2"[^>]*>pond</)
  })

  it("is one cell where words go over the border of other rows", () => {
    const over = [run("pond with still", 150, 250), run("water", 260, 250)]
    assert.match(htmlBelowText([...CELLS.slice(0, 4), ...over], striped), /colspan="2"[^>]*>pond with/)
  })
})

describe("a table without a frame", () => {
  /** Rules between columns and rows alone; below the last row is none. */
  const inner = [...level(220), ...level(240), upright(MIDDLE, 200, 260)]

  it("has its last row, whatever level rules are drawn of", () => {
    assert.include(htmlBelowText(CELLS, inner), "still water</td></tr></tbody>")
  })

  it("has it below a ground whose sides end with the head", () => {
    const head = [...padded(LEFT, 200, MIDDLE, 220), ...padded(MIDDLE, 200, RIGHT, 220)]
    assert.include(htmlBelowText(CELLS, [...head, ...inner]), "still water</td></tr></tbody>")
  })

  it("ends with its last rule where the upright one does", () => {
    const html = htmlBelowText(CELLS, [
      ...level(200),
      ...level(220),
      ...level(240),
      upright(MIDDLE, 200, 240)
    ])
    assert.notInclude(html, "still water</td>")
  })
})

describe("names of columns on top of every page", () => {
  const TOP = 50
  const pages = (end: number) =>
    layoutPages({
      facts: { ...FACTS, pageCount: 3 },
      fonts: FONTS,
      pages: [0, 1, 2].map((index) => ({
        ...page(
          [
            ...row(TOP, "Name", "What it is"),
            ...[0, 1, 2, 3, 4].flatMap((at) =>
              row(TOP + 20 + 20 * at, `river ${index}${at}`, `water ${index}${at}`)
            ),
            ...lines(prose(160, index), 60, 220, 90)
          ],
          index
        ),
        drawings: [
          ...[0, 1, 2, 3, 4, 5, 6].flatMap((at) => level(TOP - 14 + 20 * at)),
          ...[LEFT, MIDDLE, RIGHT].map((x) => upright(x, TOP - 14, end))
        ]
      })),
      others: NO_STATISTICS
    }).map(({ html }) => html)

  it("are none of its running header where the rule between them goes on down the page", () => {
    for (const html of pages(TOP + 106)) assert.include(html, "What it is")
  })

  it("are a running header where the rule ends in the margin", () => {
    for (const html of pages(TOP + 6)) assert.notInclude(html, "What it is")
  })
})

describe("boxes within a frame", () => {
  /** A frame around lines of prose, with so many boxes beside each, at places of their own; one word stands in a box. */
  const framed = (boxes: number) => {
    const rows = [200, 230, 260, 290]
    const xs = (at: number) => Array.from({ length: boxes }, (_, box) => 230 + 11 * at + 40 * box)
    return htmlBelowText(
      [...rows.map((y, at) => run(prose(5, at).slice(0, 30), 62, y + 18)), run("sum", 244, 248)],
      [
        ...[...rows, 320].map((y) => rule(LEFT, y - 0.2, RIGHT, y + 0.2)),
        ...[LEFT, RIGHT].map((x) => upright(x, 200, 320)),
        ...rows.flatMap((y, at) => xs(at).map((x) => upright(x, y, y + 30)))
      ]
    )
  }

  it("are no columns where no row has a cell with words for half of them", () => {
    assert.notInclude(framed(1), "<table")
  })

  it("are columns where a row has", () => {
    const html = htmlBelowText(
      [...CELLS, ...row(272, "Total", "two")],
      [
        ...[200, 220, 240, 260, 280].flatMap(level),
        ...[LEFT, RIGHT].map((x) => upright(x, 200, 280)),
        upright(MIDDLE, 200, 260),
        upright(120, 260, 280)
      ]
    )
    assert.include(html, "<table")
  })
})
