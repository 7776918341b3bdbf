/** DOC-28: a page is doubted where its evidence disagrees, and only there. */
import { assert, describe, it } from "vitest"

import type { Doubt } from "../../../../src/reader/model/doubt.ts"
import type { Drawing, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { DOUBT_RULES } from "../../../../src/reader/stages/doubt/doubts.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, picture, prose, rule, run, tag } from "../page-builder.ts"

const doubtsOn = (
  runs: ReadonlyArray<TextRun>,
  rest: Parameters<typeof page>[2] = {}
): ReadonlyArray<Doubt> =>
  layoutPages({
    facts: { ...FACTS, tagged: rest.structure !== undefined },
    fonts: FONTS,
    pages: [page(runs, 0, rest)],
    others: NO_STATISTICS
  })[0]?.doubts ?? []

const text = lines(prose(90), 60, 60, 60)
/** Lines of a column, tagged a paragraph each in some order. */
const tagged = (order: ReadonlyArray<number>): ReadonlyArray<Doubt> =>
  doubtsOn(
    order
      .toSorted((a, b) => a - b)
      .map((at) => run(`Line ${at} of the rivers and stones`, 60, 100 + 14 * at, { mcid: at })),
    { structure: order.map((at) => tag("P", [at])) }
  )
const cell = (texts: ReadonlyArray<string>) => texts.map((_, at) => at)
/** A tagged table with a run for each cell; an empty text is an empty cell. */
const table = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<Doubt> => {
  const runs: Array<TextRun> = []
  const structure = rows.map((row, at) =>
    tag(
      "TR",
      cell(row).map((column) => {
        const words = (row[column] ?? "").split("|").filter((word) => word !== "")
        const ids = words.map((word, below) => {
          runs.push(run(word, 60 + 90 * column, 100 + 60 * at + 12 * below, { mcid: runs.length }))
          return runs.length - 1
        })
        return tag(at === 0 ? "TH" : "TD", ids)
      })
    )
  )
  return doubtsOn(runs, { structure: [tag("Table", structure)] })
}
const white = { color: 0xffffff }
const ground: Drawing = {
  ...rule(50, 480, 400, 520),
  kind: "path",
  stroked: false,
  filled: true,
  curved: false,
  color: 0x204080
}
const words = run("Words for machines", 60, 504, white)
const slanted = run("A line that goes up along the slope of the hill", 60, 500, { angle: 330 })

describe("a page is doubted", () => {
  it("has a rule for each reason", () => {
    assert.deepStrictEqual(
      DOUBT_RULES.map(({ id }) => id),
      [
        "tags_disagree",
        "order_unsure",
        "cells_left_over",
        "words_torn",
        "unseen_text",
        "odd_angles",
        "letters_unsure"
      ]
    )
  })

  it("whose tags go up and down a column; a box that is tagged last is none", () => {
    assert.deepEqual(tagged([0, 4, 1, 5, 2, 6, 3, 7, 8, 9]), ["tags_disagree"])
    assert.deepEqual(tagged([1, 2, 3, 4, 5, 6, 7, 8, 9, 0]), [])
    assert.deepEqual(tagged([0, 1, 2, 3, 4, 5]), [])
    // The labels of a figure are in no such order.
    const labels = [0, 4, 1, 5, 2, 6, 3, 7]
    const runs = labels
      .toSorted((a, b) => a - b)
      .map((at) => run(`Label ${at}`, 60, 100 + 14 * at, { mcid: at }))
    const drawings = [0, 1, 2].map((at): Drawing => ({ ...rule(50, 80 + 9 * at, 300, 220), mcid: 8 }))
    const figure = tag("Figure", [...labels, 8], { alt: "Rivers" })
    assert.deepEqual(doubtsOn(runs, { structure: [figure], drawings }), [])
  })

  it("with values without a row or a name", () => {
    const head = ["Town", "Books", "Films"]
    const rows = [
      ["Norrvik", "12", "3"],
      ["Lindby", "14", "4"],
      ["Sund", "15", "5"]
    ]
    assert.deepEqual(table([head, ...rows]), [])
    assert.deepEqual(table([["", "Books", "Films"], ...rows]), [])
    assert.deepEqual(table([["Town", "Books", ""], ...rows]), ["cells_left_over"])
    // A name that is alone is that of what is below it.
    assert.deepEqual(
      table([
        ["Towns", ""],
        ["Norrvik", "12"]
      ]),
      []
    )
    const torn = [...rows, ["Moon", "Astronomical tables", "6"], ["", "edition of May", ""]]
    const named = torn.map(([town = "", books = "", films = ""], at) => [
      town,
      at < 3 ? `Book ${books}` : books,
      films
    ])
    assert.deepEqual(table([head, ...named]), ["cells_left_over"])
    assert.deepEqual(table([head, ...named.slice(0, 4), ["", "Edition of May", ""]]), [])
    const lone = ["", "1 and 2", ""]
    assert.deepEqual(table([head, ...rows, lone, ["Vik", "4", "4"], lone]), ["cells_left_over"])
    assert.deepEqual(table([head, ...rows, lone]), [])
    const withoutWords = [head, ...rows].map(([town = "", ...rest]) => [town, "", ...rest])
    assert.deepEqual(table(withoutWords), ["cells_left_over"])
    // Where an empty cell is not tagged, the columns of full rows show which one it is.
    assert.deepEqual(table([head, ["Norrvik", "12"], ...rows]), [])
    const short = ["Norrvik", "12"]
    assert.deepEqual(table([[...head.slice(0, 2), ""], short, short]), ["cells_left_over"])
    assert.deepEqual(table([head, ["All", "1|2|3", "4|5|6"], ...rows]), ["cells_left_over"])
    assert.deepEqual(table([head, ["All", "1|2|3", "4"], ...rows]), [])
  })

  it("with a cell over several columns; not where a name is over them, or rules show it", () => {
    const spanning = (names: ReadonlyArray<number>) => {
      const runs: Array<TextRun> = []
      const row = (y: number, spans: ReadonlyArray<number>, kind: string) => {
        let column = 0
        const cells = spans.map((span) => {
          runs.push(run(`Word ${runs.length}`, 60 + 90 * column, y, { mcid: runs.length }))
          column += span
          return tag(kind, [runs.length - 1], { attributes: { ColSpan: span } })
        })
        return tag("TR", cells)
      }
      const structure = [
        tag("Table", [row(100, names, "TH"), row(130, [1, 1, 1], "TD"), row(160, [1, 2], "TD")])
      ]
      return doubtsOn(runs, { structure })
    }
    assert.deepEqual(spanning([1, 1, 1]), ["cells_left_over"])
    assert.deepEqual(spanning([1, 2]), [])
    const ys = [500, 520, 540, 560]
    const drawings = [
      ...ys.map((y) => rule(60, y, 330, y + 0.4)),
      ...[60, 150, 240, 330].map((x) => rule(x, 500, x + 0.4, x === 240 ? 540 : 560))
    ]
    const cells = [
      ...["Town", "Books", "Films"].map((word, at) => run(word, 64 + 90 * at, 514, { font: FONT.bold })),
      ...["Norrvik", "12", "13"].map((word, at) => run(word, 64 + 90 * at, 534)),
      ...["Lindby", "the same for both"].map((word, at) => run(word, 64 + 90 * at, 554))
    ]
    assert.deepEqual(doubtsOn([...text, ...cells], { drawings }), [])
  })

  it("with a cell over rows that says nothing; a corner is none, and a grid shows what is empty", () => {
    const rows = (first: ReadonlyArray<string>, head = 1) => {
      const runs: Array<TextRun> = []
      const put = (word: string, column: number, row: number) => {
        if (word === "") return []
        runs.push(run(word, 60 + 90 * column, 100 + 30 * row, { mcid: runs.length }))
        return [runs.length - 1]
      }
      const structure = first.map((word, row) => {
        const kind = row < head ? "TH" : "TD"
        const name = row % 2 === 0 ? [tag(kind, put(word, 0, row), { attributes: { RowSpan: 2 } })] : []
        return tag("TR", [
          ...name,
          ...[1, 2].map((column) => tag(kind, put(`Word ${row}${column}`, column, row)))
        ])
      })
      return doubtsOn(runs, { structure: [tag("Table", structure)] })
    }
    assert.deepEqual(rows(["Town", "", "Norrvik", ""], 2), [])
    assert.deepEqual(rows(["Town", "", "", ""], 2), ["cells_left_over"])
    assert.deepEqual(rows(["", "", "Norrvik", ""], 2), [])
  })

  it("with a column without a name, or rows of one cell; not where rules show them", () => {
    const grid = (drawn: boolean, last: string, others: ReadonlyArray<string>) => {
      const ys = [500, 520, 540, 560, 580]
      const cells = [
        ["Town", "Books", last],
        ["Norrvik", "12", "13"],
        [others[0] ?? "", "14", others[1] ?? ""],
        [others[2] ?? "", "15", others[3] ?? ""]
      ]
      const runs = cells.flatMap((row, at) =>
        row.flatMap((word, column) =>
          word === "" ? [] : [run(word, 64 + 90 * column, 514 + 20 * at, at === 0 ? { font: FONT.bold } : {})]
        )
      )
      const level = ys.map((y) => rule(60, y, 330, y + 0.4))
      const upright = [60, 150, 240, 330].map((x) => rule(x, 500, x + 0.4, 580))
      return doubtsOn([...text, ...runs], { drawings: [...level, ...(drawn ? upright : [])] })
    }
    const full = ["Lindby", "16", "Sund", "17"]
    assert.deepEqual(grid(true, "", full), [])
    assert.deepEqual(grid(false, "", full), ["cells_left_over"])
    assert.deepEqual(grid(true, "Films", []), [])
    assert.deepEqual(grid(false, "Films", []), ["cells_left_over"])
    assert.deepEqual(grid(false, "Films", full), [])
  })

  it("with words that were written in another order than they are read in", () => {
    const line = (side: string, at: number) =>
      ["river", "stone", "letter", "margin"].map((word) => `${word}${side}${"abcdefgh".charAt(at)}`).join(" ")
    const column = (side: string, x: number) =>
      Array.from({ length: 8 }, (_, at) => run(line(side, at), x, 60 + 12 * at))
    const [left, right] = [column("l", 60), column("r", 320)]
    assert.deepEqual(doubtsOn([...left, ...right]), [])
    const mixed = left.flatMap((one, at) => [one, ...right.slice(at, at + 1)])
    assert.deepEqual(doubtsOn(mixed), ["order_unsure"])
    // Too few words say nothing.
    assert.deepEqual(doubtsOn(left.slice(0, 3).toReversed()), [])
    // The numbers of items are among what was written, and a word in small capitals was put together.
    const item = (at: number) => [run(`${at + 3}. Water ${at}`, 60, 60 + 14 * at)]
    assert.deepEqual(doubtsOn(Array.from({ length: 9 }, (_, at) => item(at)).flat()), [])
    let x = 60
    const capitals = ["RIVERS", "STONES", "PONDS", "LAKES", "BANKS", "MEADOWS", "HILLS"].flatMap((word) => {
      const [first, rest] = [run(word.slice(0, 1), x, 300), run(word.slice(1), x + 5.2, 300, { size: 8 })]
      x = rest.box.x1 + 4
      return [first, rest]
    })
    assert.deepEqual(doubtsOn([...text, ...capitals]), [])
  })

  it("with several words in two lines of narrow cells that may be two; not where the page has one of them by itself", () => {
    const narrow = (...pairs: ReadonlyArray<readonly [above: string, below: string]>) => {
      const ys = [200, 228, 256, 284]
      return doubtsOn(
        [
          ...text,
          ...pairs.flatMap((pair, column) =>
            pair.map((word, at) => run(word, 64 + 60 * column, 210 + 12 * at))
          ),
          ...["plain", "small"].flatMap((word, at) => [64, 124].map((x) => run(word, x, 238 + 28 * at))),
          ...ys.slice(1).map((y, at) => run(`what is meant by ${at}`, 184, y - 18))
        ],
        {
          drawings: [
            ...ys.map((y) => rule(60, y, 400, y + 0.4)),
            ...[60, 120, 180, 400].map((x) => rule(x, 200, x + 0.4, 284))
          ]
        }
      )
    }
    const other = ["approximat", "ive"] as const
    assert.deepEqual(narrow(["indetermin", "ate"], other), ["words_torn"])
    assert.deepEqual(narrow(["indetermin", "meant"], other), [])
    assert.deepEqual(narrow(["indeterm", "ate"], other), [])
    assert.deepEqual(narrow(["indetermin", "Ate"], other), [])
    // One is soon seen.
    assert.deepEqual(narrow(other), [])
  })

  it("with words in the colour of the paper; not on a ground or a picture", () => {
    assert.deepEqual(doubtsOn([...text, words]), ["unseen_text"])
    for (const drawing of [ground, picture(0, 50, 480, 400, 520)])
      assert.deepEqual(doubtsOn([...text, words], { drawings: [drawing] }), [])
    assert.deepEqual(doubtsOn([...text, run("—", 60, 504, white)]), [])
  })

  it("with words that are blacked out; not with a ground of another colour between, or a shadow", () => {
    const name = run("John Smith of Oslo", 60, 500)
    const fill = (x0: number, y0: number, x1: number, y1: number, color = 0) => ({
      ...rule(x0, y0, x1, y1),
      color,
      filled: true
    })
    const bar = fill(58, 490, 152, 504)
    for (const one of [bar, fill(58, 490, 90, 504)])
      assert.deepEqual(doubtsOn([...text, name], { drawings: [one] }), ["unseen_text"])
    for (const drawings of [
      [fill(58, 490, 152, 504, 0x3366cc)],
      [fill(20, 400, 560, 700), fill(58, 490, 152, 504, 0xffffff)],
      [fill(60, 492, 154, 506), fill(58, 490, 152, 504, 0xeeeeee)],
      [fill(58, 505, 152, 506)],
      [fill(58, 496.5, 180, 497.5)],
      // The frame of a cell.
      [fill(56, 484, 152, 510)],
      [fill(56, 490, 240, 504)]
    ])
      assert.deepEqual(doubtsOn([...text, name], { drawings }), [])
  })

  it("with words that others stand over, on a fill like paper; not where the same are drawn twice", () => {
    const price = run("The price is 1200 euros a year", 60, 500)
    const fill = { ...rule(118, 490, 190, 504), color: 0xffffff, filled: true }
    const over = (other: string, drawings = [fill]) =>
      doubtsOn([...text, price, run(other, 125, 500)], { drawings }).includes("unseen_text")
    assert.isTrue(over("900 euros"))
    assert.isFalse(over("1200 euros"))
    assert.isFalse(over("900 euros", []))
    assert.deepEqual(doubtsOn([...text, price], { drawings: [fill] }), [])
  })

  it("with lines at odd angles; a stamp is none", () => {
    assert.deepEqual(doubtsOn([...text, slanted]), ["odd_angles"])
    assert.deepEqual(doubtsOn([...text, run("DRAFT", 60, 500, { angle: 330 })]), [])
    assert.deepEqual(doubtsOn([...text, { ...slanted, angle: 270 }]), [])
  })

  it("with signs whose letters are unknown; a few bullets are none", () => {
    const unknown = lines(prose(12).replaceAll("r", "\ufffd"), 60, 500, 60)
    assert.deepEqual(doubtsOn([...text, ...unknown]), ["letters_unsure"])
    assert.deepEqual(doubtsOn([...text, run("\ue001", 60, 500)]), [])
    const looks = Array.from({ length: 12 }, (_, at) => run("\ufe00\ufe00 \ufe00", 60, 500 + 14 * at))
    assert.deepEqual(doubtsOn([...text, ...looks]), ["letters_unsure"])
    // A few stand for themselves.
    assert.deepEqual(doubtsOn([...text, ...looks.slice(0, 4)]), [])
    const chosen = Array.from({ length: 9 }, (_, at) => run("\u1000\ufe00 \u2764\ufe0f", 60, 500 + 14 * at))
    assert.deepEqual(doubtsOn([...text, ...chosen]), [])
    // Cyrillic that was taken for Latin; and names of a program, which are fewer, or in a face of code.
    const soiled = (every: number, set = {}) =>
      Array.from({ length: 20 }, (_, at) =>
        run(at % every === 0 ? "opr8HH381 nO{TB8p} H8nO6rOBbiH" : "three words here", 60, 500 + 12 * at, set)
      )
    assert.deepEqual(doubtsOn(soiled(2)), ["letters_unsure"])
    assert.deepEqual(doubtsOn(soiled(4)), [])
    assert.deepEqual(doubtsOn(soiled(2, { font: FONT.code })), [])
    const bullets = Array.from({ length: 12 }, (_, at) => run("\ue001 alone", 60, 500 + 14 * at))
    assert.deepEqual(doubtsOn([...text, ...bullets]), [])
  })
})
