/** Tables of papers where no rule tells: columns as near as words, names of groups, and values with the marks of their notes. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, rule, run } from "../../../page-builder.ts"
import { NAMES, RIVERS } from "../rivers.ts"

const TOP = 200
const STEP = 12
const PLACES = [60, 160, 220, 280]

const at = (row: number, words: string, x: number): TextRun =>
  run(words, x, TOP + STEP * row, { font: FONT.plain })

const rowAt = (row: number, words: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  words.flatMap((one, column) => (one === "" ? [] : [at(row, one, PLACES[column] ?? 0)]))

/** Drawn column by column: only the places tell of rows. */
const byColumn = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> =>
  runs.toSorted((a, b) => a.box.x0 - b.box.x0)

/** The last value is drawn before all others, and the first one after them: the order of drawing tells nothing. */
const outOfOrder = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => [
  ...runs.slice(-1),
  ...runs.slice(1, -1),
  ...runs.slice(0, 1)
]

const cell = (words: string): string => `<t[dh][^>]*>${words}</t[dh]>`
const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1

describe("columns without rules that stand as near as words", () => {
  const table = (second: ReadonlyArray<string>) =>
    htmlBelowText(
      outOfOrder(
        ["Marsh", "Moor", "Fen", "Bog", "Heath"].flatMap((name, row) =>
          rowAt(row, [name, second[row] ?? "", "", `${row + 3}.5`])
        )
      )
    )

  it("are one where words stand there, however long", () => {
    const html = table(["Kinds of", "moss fern", "reed rush", "bird fish", "peat clay"])
    assert.match(html, new RegExp(cell("reed rush")))
  })

  it("are one where the white is a word's space, as in a sequence of numbers", () => {
    const html = htmlBelowText(
      outOfOrder(
        ["Marsh", "Moor", "Fen", "Bog", "Heath"].flatMap((name, row) => [
          ...rowAt(row, [name, `1${row}.4`]),
          at(row, `3${row}.1`, 182.5),
          ...rowAt(row, ["", "", "", `${row + 3}.5`])
        ])
      )
    )
    assert.match(html, new RegExp(cell("12.4 32.1")))
  })

  it("are one where a row's words go over the white", () => {
    const html = table(["Deep Wide", "12.4 33.1", "not known", "40.9 15.6", "about 729"])
    assert.match(html, new RegExp(cell("40.9 15.6")))
  })
})

describe("a line over columns without rules", () => {
  const words = "Rivers of the north that never reach the sea in a dry year"
  const table = (apart: number, columns = 4) => {
    const rows = RIVERS.map((row) => row.slice(0, columns))
    return htmlBelowText(
      outOfOrder([
        ...rowAt(0, NAMES.slice(0, columns)),
        ...rows.flatMap((row, number) => rowAt(number + 1, row)),
        at(RIVERS.length + apart, words, 60),
        ...rows.flatMap((row, number) => rowAt(RIVERS.length + 2 * apart + number, row))
      ])
    )
  }

  it("names the group of rows below it where it stands as near as they do", () => {
    const html = table(1)
    assert.strictEqual(count(html, "table"), 1)
    assert.match(html, new RegExp(`colspan="4"[^>]*>${words}`))
  })

  it("names none between two columns, as lines before dates make them", () => {
    assert.notInclude(table(1, 2), "colspan")
  })

  it("is text between two tables where white parts it from them", () => {
    const html = table(2)
    assert.strictEqual(count(html, "table"), 2)
    assert.match(html, new RegExp(`<p>${words}`))
  })
})

describe("lines of groups between rules", () => {
  const table = (values: ReadonlyArray<string>) =>
    htmlBelowText(
      byColumn([
        ...rowAt(0, ["Place", "Deep", "Wide", "High"]),
        ...["Marsh", "Moor"].flatMap((name, group) =>
          [0, 1].flatMap((line) => {
            const own = values.slice(6 * group + 3 * line, 6 * group + 3 * line + 3)
            return rowAt(1 + 2.8 * group + line, [line === 0 ? name : "", ...own])
          })
        )
      ]),
      [-1, 0, 2.4, 5].map((row) => rule(60, TOP + STEP * row + 4, 320, TOP + STEP * row + 4.4))
    )
  const stars = [
    "1.25∗",
    "0.31∗∗",
    "7.5",
    "0.44∗∗",
    "2.16",
    "3.5∗",
    "6.2†",
    "5.5∗",
    "9.1",
    "4.8∗",
    "1.7∗",
    "2.4"
  ]

  it("are rows where values stand below values, whatever marks these have", () => {
    assert.strictEqual(count(table(stars), "tr"), 5)
  })

  it("are the rest of the cells above where words go on in them", () => {
    assert.strictEqual(count(table(stars.map((_, number) => `words ${"abcdefghijkl"[number]}`)), "tr"), 3)
  })
})
