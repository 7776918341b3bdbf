/** Tables of word processors that few rules or none part: the order of drawing tells their rows, cell by cell. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, rule, run, type Set as Look } from "../../../page-builder.ts"

const PLACES = [60, 150, 300, 450]
const BOLD = { font: FONT.bold }

/** How far apart rows are, and lines within them. */
const [TOP, STEP, LINE] = [200, 40, 12]

type Lines = ReadonlyArray<string>
type Rows = ReadonlyArray<ReadonlyArray<string>>

/** The lines of a cell, parted by strokes, from the top of its row down. */
const cell = (lines: Lines, x: number, y: number, look: Look = {}): ReadonlyArray<TextRun> =>
  lines.map((line, at) => run(line, x, y + LINE * at, look))

/** Rows of cells in columns, drawn cell by cell; their lines are parted by strokes. */
const cells = (
  rows: Rows,
  look: (row: number, column: number) => Look = () => ({})
): ReadonlyArray<TextRun> =>
  rows.flatMap((row, at) =>
    row.flatMap((words, column) =>
      words === "" ? [] : cell(words.split("/"), PLACES[column] ?? 0, TOP + STEP * at, look(at, column))
    )
  )

/** The same, drawn from line to line over all columns. */
const byLine = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> =>
  runs.toSorted((a, b) => a.baseline - b.baseline || a.box.x0 - b.box.x0)

/** Level rules above the first row, and below each of so many. */
const levels = (count: number, right = 560): ReadonlyArray<Drawing> =>
  Array.from({ length: count + 1 }, (_, at) => TOP + STEP * at - 14).map((y) => rule(56, y, right, y + 0.4))

const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1
const rowsOf = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) =>
    row.replaceAll(/<\/?(tr|th|strong)[^>]*>/g, "").replaceAll(/<td( colspan="\d")?[^>]*>/g, "<$1>")
  )

describe("a rule below each row", () => {
  const rows = [
    ["Author", "Anna", "Date", "today"],
    ["Status", "in work/since May", "Class", "open"],
    ["Owner", "Tom", "Phone", "none"]
  ]
  const remarks = [
    ...cell(["Remarks"], 60, TOP + 3 * STEP),
    ...cell(
      ["All of this is still to be read with care by somebody who has time and", "knows the matter well"],
      150,
      TOP + 3 * STEP
    )
  ]

  it("makes one row of all that is drawn above it, be cells wrapped or wider than a column", () => {
    const html = htmlBelowText([...cells(rows), ...remarks], levels(4))
    assert.strictEqual(count(html, "tr"), 4)
    assert.include(html, "<td>in work since May</td>")
    assert.match(
      html,
      /<td colspan="3">All of this is still to be read with care by somebody who has time and knows the matter well<\/td>/
    )
  })

  it("is below a row without words as well", () => {
    assert.strictEqual(count(htmlBelowText([...cells(rows), ...remarks], levels(6)), "tr"), 4)
  })

  it("makes one row of cells that wrap each by itself, drawn line by line over all columns", () => {
    const office = [
      ["Service", "Contact", "Hours"],
      ["Civil/registry", "Main Street 4/Riverton/By post", "Mondays/in the morning"],
      ["Library", "New Square 1/Hilltown", "On all days/until late/not on Sundays"],
      ["Town/clerk", "Sun Avenue 8/Lakeside", "Tuesdays/in the evening"]
    ]
    const html = htmlBelowText(byLine(cells(office)), levels(4))
    assert.strictEqual(count(html, "tr"), 4)
    assert.include(html, "<td>Main Street 4 Riverton By post</td><td>Mondays in the morning</td>")
    const named = [
      ["Town", "Harbour", "Boats"],
      ["North", "Kiel/Husum/Plau", "many/few/none"],
      ["South", "Ulm/Lindau/Konstanz", "none/few/many"],
      ["West", "Bonn/Trier/Mainz", "few/few/none"]
    ]
    assert.notInclude(htmlBelowText(byLine(cells(named)), levels(4)), "Kiel Husum")
  })

  it("says nothing where several rows stand between two rules", () => {
    const more = [...cells(rows), ...cell(["Room"], 60, TOP + 26), ...cell(["12"], 150, TOP + 26)]
    const html = htmlBelowText(byLine(more), levels(3))
    assert.include(html, "Room")
    assert.notInclude(html, "Author Room")
  })

  it("is below the names of groups, too, in bold or over several columns", () => {
    const name = cell(["This is the name of a group"], 60, TOP + 3 * STEP)
    assert.include(
      htmlBelowText(
        [...cells(rows), ...name, ...remarks.map((one) => run(one.text, one.box.x0, one.baseline + STEP))],
        levels(5)
      ),
      '<td colspan="4">This is the name of a group</td>'
    )
    const html = htmlBelowText(
      [
        ...cells([["Code", "Name", "Comment", "Of"]], () => BOLD),
        ...cell(["First"], 60, TOP + STEP, BOLD),
        ...cells([
          [],
          [],
          ["1", "Aa/Bb", "what it is", "me"],
          ["2", "Cc", "what else", "you"],
          ["3", "", "", ""]
        ])
      ],
      levels(5)
    )
    assert.include(html, '<td colspan="4"><strong>First</strong></td>')
    assert.match(html, /<t[dh][^>]*>3<\/t[dh]><td><\/td><td><\/td><td><\/td>/)
  })

  it("has names of columns that stand as near as words above it", () => {
    const names = [
      run("Method", 60, TOP, BOLD),
      run("Operations", 280, TOP, BOLD),
      run("Accuracy", 334, TOP, BOLD),
      run("Sampled", 400, TOP, BOLD),
      run("Fastest", 447, TOP, BOLD)
    ]
    const body = cells([
      [],
      ["new (16)", "", "12,345/ops", "3 %"],
      ["old", "", "1,234/ops", "4 %"],
      ["none", "", "123/ops", "5 %"]
    ]).map((one) => {
      const y = one.baseline + (one.box.x0 === 300 ? 0 : LINE)
      return run(one.text, one.box.x0 === 450 ? 350 : one.box.x0, y)
    })
    const marks = [1, 2, 3].map((row) => run("92 x yes", 420, TOP + STEP * row + LINE))
    const drawn = body.flatMap((one) => [
      one,
      ...marks.filter((mark) => one.box.x0 === 350 && mark.baseline === one.baseline)
    ])
    const html = htmlBelowText([...names, ...drawn], levels(4))
    assert.strictEqual(count(html, "tr"), 4)
    assert.match(html, /<th[^>]*>Method<\/th><th[^>]*>Operations<\/th><th[^>]*>Accuracy<\/th>/)
  })

  it("is below its head as well where that and one row are all", () => {
    const html = htmlBelowText(
      cells([
        ["Name", "Kind"],
        ["Aa", "still/water"]
      ]),
      levels(2)
    )
    assert.include(html, '<th scope="col">Name</th>')
  })

  it("is none where each line of a listing has a ground of its own", () => {
    const code = { font: FONT.code, size: 8 }
    const rest = [1, 2, 3, 4].flatMap((at) => [
      run(`-${at}, --all`, 60, TOP + 12 * at, code),
      run("says it", 200, TOP + 12 * at, code)
    ])
    const grounds = [1, 2, 3, 4].map((at) => rule(56, TOP + 12 * at - 9, 560, TOP + 12 * at + 3))
    assert.strictEqual(count(htmlBelowText(rest, grounds), "table"), 0)
  })

  it("is none of a table's where most rows fill other columns than the others", () => {
    const html = htmlBelowText(
      cells([["Alone here"], ["Alone as well"], ["Alone again"], ["One", "Two"]]),
      levels(4)
    )
    assert.strictEqual(count(html, "table"), 0)
  })
})

describe("rows that wrap, drawn cell by cell", () => {
  const steps: Rows = [
    ["1", "Open the first/door of the house", "The door is open/and light comes in", ""],
    ["2", "Close the second/door behind you", "The door is closed/and nobody comes", "X"],
    ["3", "Look for the/third door there", "There is no such/door in the house", ""],
    ["4", "Go home again", "You are there", ""]
  ]
  /** A last column of which each row fills one half. */
  const marks = (rows: Rows) =>
    rows.flatMap((row, at) => [
      ...cells([row]).map((one) => run(one.text, one.box.x0, one.baseline + STEP * at)),
      ...(row[3] === "" ? [run("yes", 500, TOP + STEP * at)] : [])
    ])

  it("are a table's though none fills all columns", () => {
    const rows = rowsOf(htmlBelowText(marks(steps)))
    assert.lengthOf(rows, 4)
    assert.include(rows[1], "<>The door is closed and nobody comes</td><>X</td><></td>")
  })

  it("are none where fewer than three wrap, nor where their columns are not aligned", () => {
    const plain = steps.map((row, at) => (at < 2 ? row : row.map((words) => words.split("/")[0] ?? "")))
    assert.notInclude(htmlBelowText(marks(plain)), "<td>The door is open and light comes in</td>")
    const shifted = marks(steps).map((one, at) => run(one.text, one.box.x0 + (at % 5) * 7, one.baseline))
    assert.strictEqual(count(htmlBelowText(shifted), "table"), 0)
  })
})

describe("first cells at the bottom of their rows", () => {
  const terms = ["river", "stone", "letter"]
  const told = [
    "water that flows from a spring/down to the sea",
    "what is hard and lies about",
    "signs that are sent/to somebody else"
  ]
  const drawn = (low: (at: number) => boolean) =>
    terms.flatMap((term, at) => {
      const lines = (told[at] ?? "").split("/")
      const y = TOP + STEP * at
      return [run(term, 60, y + (low(at) ? LINE * (lines.length - 1) : 0)), ...cell(lines, 200, y)]
    })

  it("are beside all lines of their rows", () => {
    const html = htmlBelowText(drawn(() => true))
    assert.match(html, /water that flows from a spring down to the sea/)
  })

  it("are in the middle of one row, too", () => {
    const [first, ...rest] = drawn(() => false)
    const lines = [run("spring", 200, TOP - LINE), run("a", 200, TOP - 2 * LINE)].toReversed()
    const html = htmlBelowText([...(first === undefined ? [] : [first]), ...lines, ...rest])
    assert.match(html, /<d[td]>|<td>/)
  })

  it("tell nothing where there is one such row", () => {
    const html = htmlBelowText(drawn((at) => at === 0))
    assert.notMatch(html, /water that flows from a spring down to the sea/)
  })
})

describe("names in the middle of columns whose cells begin at the left", () => {
  const rows: Rows = [
    ["607", "and the", "This has to do with some of it"],
    ["423", "or none of", "That has not"],
    ["689", "but if", "What it is good for nobody knows"]
  ]
  const body = rows.flatMap((row, at) =>
    row.map((words, column) => run(words, [60, 150, 250][column] ?? 0, TOP + 20 * (at + 1)))
  )
  const names = (first: number) => [run("Code", first, TOP), run("Name", 152, TOP), run("Comment", 300, TOP)]

  it("are those of their columns, be they beside what is below them", () => {
    const rowsFound = rowsOf(htmlBelowText([...names(90), ...body]))
    assert.lengthOf(rowsFound, 4)
    assert.strictEqual(rowsFound[1], "<>607</td><>and the</td><>This has to do with some of it</td>")
  })

  it("are none where one stands over the column of another", () => {
    const others = [run("Code", 140, TOP), run("Name", 210, TOP), run("Comment", 300, TOP)]
    assert.notInclude(htmlBelowText([...others, ...body]), "colspan")
  })
})
