/** Rows below a table's last rule: where no rule closes the table, and totals below the closing one. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { htmlBelowText, rule, run } from "../../../page-builder.ts"

const PLACES = [60, 120, 260, 320]
const row = (y: number, ...words: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  words.flatMap((word, at) => (word === "" ? [] : [run(word, PLACES[at] ?? 0, y)]))
/** Rules across the table, below its names and each of its rows but the last. */
const rules = (...ys: ReadonlyArray<number>): ReadonlyArray<Drawing> =>
  ys.map((y) => rule(55, y, 370, y + 0.5))

const bill = (...below: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => [
  ...row(200, "Code", "Work", "Price", "Sum"),
  ...row(214, "A12", "Pump, with seals", "420.00", "420.00"),
  ...row(228, "B07", "Filter", "12.50", "50.00"),
  ...below
]
const drawn = rules(204, 218, 232)
const rowsIn = (html: string): number => html.split("<tr").length - 1

it("names above the first rule are a head, bold or not, where one is above each column", () => {
  assert.match(htmlBelowText(bill(), drawn), /<thead><tr><th scope="col">Code<\/th><th scope="col">Work/)
  const fewer = bill().filter(({ text }) => text !== "Price")
  assert.notMatch(htmlBelowText(fewer, drawn), /<th[^>]*>Code/)
})

describe("rows below the last rule", () => {
  it("are rows where their words are in columns, and the last is a figure", () => {
    const html = htmlBelowText(bill(...row(242, "", "Freight", "25.00", "25.00")), drawn)
    assert.match(html, /<td>Freight<\/td><td>25\.00<\/td><td>25\.00<\/td><\/tr>/)
    const totals = [...row(242, "", "Net", "", "470.00"), ...row(255, "", "Tax", "", "94.00")]
    assert.strictEqual(rowsIn(htmlBelowText(bill(...totals), drawn)), 5)
  })

  it("are none of a note, of words over columns, of the head of another table, nor far below", () => {
    const none = (of: ReadonlyArray<TextRun>, more: ReadonlyArray<Drawing> = []) =>
      assert.strictEqual(rowsIn(htmlBelowText(bill(...of), [...drawn, ...more])), 3)
    none([run("Source: own count of the pumps.", 60, 242)])
    none([run("Paid in full before", 120, 242), run("the end of the year", 250, 242)])
    none([run("All that was paid in this year is", 60, 242), run("470.00", 320, 242)])
    none(row(242, "", "Later", "2023", "2024"), [rule(20, 246, 400, 246.5)])
    none(row(268, "", "Freight", "25.00", "25.00"))
  })
})
