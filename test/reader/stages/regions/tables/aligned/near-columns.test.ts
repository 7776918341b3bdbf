/** Tables without rules whose columns stand as near as words, as browsers set them. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../../src/reader/pipeline.ts"
import { linesOf } from "../../../../../../src/reader/stages/lines/line.ts"
import { segmentsOf } from "../../../../../../src/reader/stages/lines/segment.ts"
import { NO_STATISTICS } from "../../../../../../src/reader/stages/profile/statistics.ts"
import { nearColumns } from "../../../../../../src/reader/stages/regions/tables/aligned/near-columns.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../../../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")

/** Five points a letter, and three between a column's widest cell and the next column. */
const WIDTH = 5
const GAP = 3

/** Rows of a table as a browser sets them; the first has its words in the middle and bold. */
const tableRuns = (rows: ReadonlyArray<ReadonlyArray<string>>, y = 200): ReadonlyArray<TextRun> => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => WIDTH * (row[column]?.length ?? 0)))
  )
  return rows.flatMap((row, at) => {
    let x = 60
    return row.map((cell, column) => {
      const width = widths[column] ?? 0
      const left = at === 0 ? x + (width - WIDTH * cell.length) / 2 : x
      x += width + GAP
      return run(cell, left, y + 15 * at, at === 0 ? { font: FONT.bold } : {})
    })
  })
}

const cell = fc.stringMatching(/^[a-z]{2,12}$/)

describe("columns that stand near", () => {
  it("make a table of what begins below one another, with its head", () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 2, max: 4 })
          .chain((columns) =>
            fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), {
              minLength: 5,
              maxLength: 9
            })
          )
          // Somewhere in each column but the last one there is more than a word's white, as its cells differ in length.
          .filter((rows) =>
            (rows[0] ?? []).every((_, column) => {
              const lengths = rows.slice(1).map((row) => row[column]?.length ?? 0)
              return Math.max(...lengths) - Math.min(...lengths) >= 3
            })
          ),
        (rows) => {
          const html = htmlOf([...lines(prose(60), 60, 60, 90), ...tableRuns(rows)])
          assert.strictEqual(html.match(/<table>/g)?.length, 1)
          const [head, ...body] = [...html.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
            [...(row ?? "").matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, words]) => words)
          )
          assert.deepStrictEqual([head, ...body], rows)
          assert.match(html, /<thead><tr><th scope="col">/)
        }
      ),
      { numRuns: 60 }
    )
  })

  it("are not seen in running text, drawn line by line or word by word", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 10, maxLength: 14 }), { minLength: 4, maxLength: 12 }),
        (rows) => {
          const words = rows.flatMap((row, at) => {
            let x = 60
            return row.map((word) => {
              const left = x
              x += WIDTH * word.length + GAP
              return run(word, left, 200 + 12 * at)
            })
          })
          const html = htmlOf(words)
          assert.notInclude(html, "<table")
          assert.notInclude(htmlOf(rows.map((row, at) => run(row.join(" "), 60, 200 + 12 * at))), "<table")
        }
      ),
      { numRuns: 60 }
    )
  })

  const columnsOf = (runs: ReadonlyArray<TextRun>) => nearColumns(linesOf(segmentsOf(runs), FONTS))

  it("are not where one word of many begins below another by chance", () => {
    const words = Array.from({ length: 4 }, (_, row) =>
      [60, 90 + 3 * row, 125 + 4 * row, 200, 235 + 3 * row, 270 + 4 * row, 310 + 5 * row, 350 + 3 * row].map(
        (x) => run("word", x, 200 + 12 * row)
      )
    ).flat()
    assert.deepStrictEqual(columnsOf(words).flat(), [])
  })

  it("are not where all are a word's white apart, as words of one length are", () => {
    const words = ["one", "two", "six", "ten"].flatMap((first, at) => [
      run(first, 60, 200 + 12 * at),
      run("things", 78, 200 + 12 * at)
    ])
    assert.deepStrictEqual(columnsOf(words).flat(), [])
  })

  it("are recognized line by line, and end where text overlaps them or white space separates the rows", () => {
    const three = (y: number) =>
      ["a word", "another", "x"].flatMap((name, at) => [
        run(name, 60, y + 15 * at),
        run("use", 98, y + 15 * at)
      ])
    const over = [...three(200), run("a line that goes over the columns", 60, 245), ...three(260)]
    assert.deepStrictEqual(columnsOf(over), [[98], [98], [98], [], [98], [98], [98]])
    const apart = [...three(200).slice(0, 4), ...three(290).slice(0, 4)]
    assert.deepStrictEqual(columnsOf(apart).flat(), [])
  })

  it("are not the words of a list's items, nor those after a note's mark", () => {
    const items = ["alpha", "river and stone", "letter"].flatMap((words, at) => [
      run("•", 60, 200 + 15 * at),
      run(words, 75, 200 + 15 * at)
    ])
    assert.deepStrictEqual(columnsOf(items).flat(), [])
    const notes = ["1", "2", "3"].flatMap((mark, at) => [
      run(mark, 60, 196 + 15 * at, { size: 6 }),
      run(`words of note ${mark}`, 70, 200 + 15 * at)
    ])
    assert.deepStrictEqual(columnsOf(notes).flat(), [])
  })

  it("end where something is written over them, and where white parts the rows", () => {
    const rows = [
      ["name", "use"],
      ["one", "first"],
      ["another", "second"],
      ["x", "third"]
    ]
    const over = [...tableRuns(rows), run("a line of text that goes over the columns", 60, 260)]
    assert.match(htmlOf(over), /<\/table>\n?<p>a line of text/)
    const apart = [...tableRuns(rows.slice(0, 2)), ...tableRuns(rows.slice(2), 290)]
    assert.notInclude(htmlOf(apart), "<table")
  })

  it("are not labels in a margin beside lines that go on", () => {
    const text = "words of a paragraph that is set beside the names of its"
    const beside = ["split", "istchar", "restchars", "x"].flatMap((label, at) => [
      run(label, 60, 200 + 12 * at),
      run(at === 3 ? "things." : text, 60 + 9 * WIDTH + GAP, 200 + 12 * at)
    ])
    assert.notInclude(htmlOf(beside), "<table")
  })
})

describe("a heading between two tables", () => {
  const rows = (y: number) =>
    tableRuns(
      [
        ["name", "use"],
        ["one", "first"],
        ["another", "second"],
        ["x", "third"]
      ],
      y
    )

  it("is in neither of them, larger than their text or bold and apart", () => {
    for (const set of [{ size: 14 }, { font: FONT.bold }]) {
      const html = htmlOf([
        ...rows(100),
        run("More", 60, 175, set),
        ...rows(200),
        ...lines(prose(120), 60, 300, 90)
      ])
      assert.strictEqual(html.match(/<table>/g)?.length, 2)
      assert.match(html, /<\/table>\n?<h\d>More<\/h\d>\n?<table>/)
    }
  })
})
