/** Which rows of a table name its columns, where its words alone tell. */
import { assert, describe, it } from "vitest"

import { FONT, htmlBelowText, rule, run, type Set as Look } from "../../../page-builder.ts"

const COLUMNS = [60, 220, 380, 540]
const [TOP, STEP] = [200, 20]

interface Grid {
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** Columns, and rows above whose cells no rule is drawn: they go on from above. */
  readonly open?: ReadonlyArray<readonly [column: number, row: number]>
  /** Upright rules, and rows that they leave out: cells over two columns. */
  readonly over?: ReadonlyArray<readonly [column: number, row: number]>
  readonly look?: (row: number, column: number) => Look
}

const htmlOf = ({ look = () => ({}), open = [], over = [], rows }: Grid): string => {
  const width = Math.max(...rows.map((row) => row.length))
  const [levels, columns] = [Array.from({ length: rows.length + 1 }), Array.from({ length: width })]
  const has = (of: ReadonlyArray<readonly [number, number]>, column: number, row: number): boolean =>
    of.some(([c, r]) => c === column && r === row)
  const across = levels.flatMap((_, row) =>
    columns.flatMap((__, column) => {
      const y = TOP + STEP * row
      return has(open, column, row)
        ? []
        : [rule(COLUMNS[column] ?? 0, y - 0.2, COLUMNS[column + 1] ?? 0, y + 0.2)]
    })
  )
  const down = levels.slice(1).flatMap((_, row) =>
    [...columns, undefined].flatMap((__, column) => {
      const [x, y] = [COLUMNS[column] ?? 0, TOP + STEP * row]
      return has(over, column, row) ? [] : [rule(x - 0.2, y, x + 0.2, y + STEP)]
    })
  )
  const words = rows.flatMap((row, at) =>
    row.flatMap((text, column) =>
      text === ""
        ? []
        : [run(text, (COLUMNS[column] ?? 0) + 5, TOP + STEP * at + 13, { size: 8, ...look(at, column) })]
    )
  )
  return htmlBelowText(words, [...across, ...down])
}
const headOf = (html: string): string => /<thead>.*<\/thead>/.exec(html)?.[0] ?? ""
const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1

const waters = [
  ["Aa", "still water", "a pond"],
  ["Bode", "flowing water", "a river"],
  ["Elbe", "much water", "a stream"]
]

describe("a head whose names reach down over rows", () => {
  const head = [
    ["Name", "Waters", ""],
    ["", "Kind", "What it is"]
  ]
  const reaching = {
    rows: [...head, ...waters],
    open: [[0, 1]],
    over: [[2, 0]]
  } as const

  it("has all of these rows", () => {
    const html = htmlOf(reaching)
    assert.include(headOf(html), '<th scope="col" rowspan="2">Name</th>')
    assert.include(headOf(html), '<th scope="col">What it is</th>')
    assert.strictEqual(count(headOf(html), "tr"), 2)
  })

  it("has them, too, where all are bold, though no name is over several columns", () => {
    const html = htmlOf({
      rows: [["Name", "One", "Other"], ["", "Kind", "What it is"], ...waters],
      open: [[0, 1]],
      look: (row) => ({ font: row < 2 ? FONT.bold : FONT.plain })
    })
    assert.strictEqual(count(headOf(html), "tr"), 2)
  })

  it("is none where the cell that reaches down holds a group of rows, or all", () => {
    const group = [["Waters", "still water", "a pond"], ["", "flowing water", "a river"], ...waters.slice(2)]
    assert.strictEqual(headOf(htmlOf({ rows: group, open: [[0, 1]] })), "")
    const whole = { rows: group, open: [1, 2].map((row) => [0, row] as const) }
    assert.strictEqual(headOf(htmlOf({ ...whole, look: () => ({ font: FONT.bold }) })), "")
  })
})

describe("a first row of words alone", () => {
  const names = ["Name", "Kind of water", "What it is"]

  it("names the columns, though a name is as long as the short cells below", () => {
    assert.strictEqual(count(headOf(htmlOf({ rows: [names, ...waters] })), "th "), 3)
  })

  it("names none where one of its cells is a sentence, unlike a name with a point", () => {
    const rows = (last: string) => [["Oder", "still", last], ...waters]
    assert.strictEqual(headOf(htmlOf({ rows: rows("is a pond.") })), "")
    assert.strictEqual(count(headOf(htmlOf({ rows: rows("Std. Dev.") })), "th "), 3)
  })

  it("names none above figures either, where it is a sentence", () => {
    const figures = waters.map(([name = "", kind = ""]) => [name, kind, "12"])
    assert.strictEqual(headOf(htmlOf({ rows: [["Oder", "It is still.", "x"], ...figures] })), "")
    assert.strictEqual(count(headOf(htmlOf({ rows: [["Name", "Kind", "Length"], ...figures] })), "th "), 3)
  })

  it("names none where a column is code from there on beside words", () => {
    const code = (columns: number, from = 0) =>
      htmlOf({
        rows: [names, ...waters],
        look: (row, column) => ({ font: column < columns && row >= from ? FONT.code : FONT.plain })
      })
    assert.strictEqual(headOf(code(1)), "")
    assert.strictEqual(count(headOf(code(1, 1)), "th "), 3)
    assert.strictEqual(count(headOf(code(3)), "th "), 3)
  })

  it("names none above code with gaps, unlike one above nothing", () => {
    const htmlWith = (last: ReadonlyArray<string>) =>
      htmlOf({
        rows: [names, ...waters].map(([name = "", kind = ""], row) => [name, kind, last[row] ?? ""]),
        look: (_, column) => ({ font: column === 2 ? FONT.code : FONT.plain })
      })
    assert.strictEqual(headOf(htmlWith(["is", "", "has", "has"])), "")
    assert.strictEqual(count(headOf(htmlWith(["is", "", "", ""])), "th "), 3)
    assert.strictEqual(count(headOf(htmlWith(["", "is", "has", "has"])), "th "), 2)
  })

  it("names none where it is as long as the cells below", () => {
    const rows = (first: string) => [
      ["Oder", "still", first],
      ...waters.map(([name = "", kind = ""]) => [name, kind, "goes from here to there"])
    ]
    assert.strictEqual(headOf(htmlOf({ rows: rows("stays where it was made") })), "")
    assert.strictEqual(count(headOf(htmlOf({ rows: rows("where it goes") })), "th "), 3)
  })
})

describe("a first row whose cells are of the kind of those below", () => {
  const told = [
    ["what it is", "where it is"],
    ["still water", "a pond"],
    ["flowing water", "a river"],
    ["much water", "a stream"],
    ["no water", "a desert"]
  ]
  /** How many names has the head of a table in whose first column these stand. */
  const names = (...column: ReadonlyArray<string>): number =>
    count(headOf(htmlOf({ rows: column.map((text, at) => [text, ...(told[at] ?? [])]) })), "th ")

  it("names no columns: codes with the same signs", () => {
    assert.strictEqual(names("U+16A", "U+17B", "U+18C", "U+19D"), 0)
    assert.strictEqual(names("<angle>", "<colour>", "<size>", "<sign>", "any"), 0)
    assert.strictEqual(names("(c7)", "(d8)", "(d9)", "(d10)"), 0)
    assert.strictEqual(names("(c7)", "(any)", "(of)", "(none)"), 3)
    assert.strictEqual(names("Code", "U+17B", "U+18C", "U+19D"), 3)
  })

  it("names none: as many words that begin alike, or one of a code", () => {
    assert.strictEqual(names("from a book", "from two shelves", "from the room", "from all houses"), 0)
    assert.strictEqual(names("uni69A0", "uni6B", "uni6C12D", "uni70"), 0)
    assert.strictEqual(names("from books", "from two shelves", "from the room", "from all houses"), 3)
    assert.strictEqual(names("Name", "Names", "Named", "Namely"), 3)
  })

  it("names none where it is the same as a cell below, whatever the others are", () => {
    assert.strictEqual(names("Piano", "Drum", "Violin", "Piano"), 0)
  })

  it("names them where a cell over several columns stands before one like them", () => {
    const rows = [
      ["Name", "Kind", "Of"],
      ["Aa", "still", "us"],
      ["This and that", "", "Kind"],
      ["Bode", "full", "it"]
    ]
    assert.strictEqual(count(headOf(htmlOf({ rows, over: [[1, 2]] })), "th "), 3)
  })

  it("names them where few are alike, or one alone", () => {
    assert.strictEqual(names("a-b", "c-d", "Drum", "Violin", "e-f"), 3)
    assert.strictEqual(names("a-b", "c-d", ""), 3)
  })

  it("names them where it has in brackets what the column is measured in", () => {
    assert.strictEqual(names("Length (m)", "river (long)", "stone (short)", "letter (none)"), 3)
  })
})

describe("labels above values", () => {
  const labels = (size: number, ...rows: ReadonlyArray<ReadonlyArray<string>>) =>
    htmlBelowText(
      rows.flatMap((row, at) =>
        row.map((text, column) =>
          run(text, COLUMNS[column] ?? 0, TOP + 12 * at, { size: at === 0 ? size : 10 })
        )
      )
    )
  const NAMES = ["Invoice date", "Due date", "Your order"]
  const VALUES = ["3 May 2021", "17 May 2021", "L-77"]

  it("name their columns where they are small print", () => {
    const html = labels(7, NAMES, VALUES)
    assert.strictEqual(count(html, 'th scope="col"'), 3)
    assert.include(html, "<td>L-77</td>")
  })

  it("name none in the print of the values, with numbers, or above words that go on", () => {
    assert.strictEqual(count(labels(10, NAMES, VALUES), 'th scope="col"'), 0)
    assert.strictEqual(count(labels(7, ["Room 1", "Room 2", "Room 3"], VALUES), 'th scope="col"'), 0)
  })
})

describe("names of columns that are figures, and labels beside values", () => {
  const bold = (is: (row: number, column: number) => boolean) => (row: number, column: number) =>
    is(row, column) ? { font: FONT.bold } : {}
  const trains = [
    ["4201", "4203", "4205"],
    ["5.10", "5.30", "5.50"],
    ["5.18", "5.38", "5.58"]
  ]

  it("are a head where they are bold and count from left to right, and none where they are sums or all is bold", () => {
    const html = (rows: ReadonlyArray<ReadonlyArray<string>>, is: (row: number) => boolean) =>
      headOf(htmlOf({ rows, look: bold(is) }))
    assert.include(
      html(trains, (row) => row === 0),
      "4203"
    )
    assert.strictEqual(
      html(trains, () => true),
      ""
    )
    const sums = [["4201", "402", "12"], ...trains.slice(1)]
    assert.strictEqual(
      html(sums, (row) => row === 0),
      ""
    )
  })

  it("a first row of labels and values is none where the label is bold in each row", () => {
    const rows = [
      ["Patient", "Marta Lind"],
      ["Born", "in May"],
      ["Number", "unknown yet"]
    ]
    assert.strictEqual(headOf(htmlOf({ rows, look: bold((_, column) => column === 0) })), "")
    assert.include(headOf(htmlOf({ rows, look: bold((row) => row === 0) })), "Patient")
  })

  it("a first row with a measure as those below is none, whatever its decimals", () => {
    const rows = [
      ["Energy", "92 kcal"],
      ["Fat", "4.1 g"],
      ["Sugar", "1.2 g"]
    ]
    assert.strictEqual(headOf(htmlOf({ rows })), "")
    assert.include(headOf(htmlOf({ rows: [["Part", "Amount"], ...rows] })), "Amount")
  })

  it("a plain first row is none above a row of bold names", () => {
    const rows = [
      ["Sender", "Reference"],
      ["Item", "Goods"],
      ["one", "Black tea in packets"],
      ["two", "Tin caddies"]
    ]
    assert.strictEqual(headOf(htmlOf({ rows, look: bold((row) => row === 1) })), "")
    assert.include(headOf(htmlOf({ rows })), "Sender")
  })
})
