/** Tables of figures that dots lead to. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, run } from "../../../page-builder.ts"

const DOTS = ".".repeat(40)
const bold = { font: FONT.bold }

/** A row: a name with dots, and figures that end in columns 60 points wide. */
const row = (y: number, name: string, ...figures: ReadonlyArray<string>): ReadonlyArray<TextRun> => [
  run(`${name}${DOTS}`, 60, y),
  ...figures.flatMap((text, at) => (text === "" ? [] : [run(text, 400 + 60 * at - 5 * text.length, y)]))
]

/** The texts of a table's rows; a cell over several columns says so. */
const rowsOf = (html: string): ReadonlyArray<string> =>
  html
    .split("<tr>")
    .slice(1)
    .map((one) =>
      [...one.matchAll(/<t[dh]([^>]*)>(.*?)<\/t[dh]>/g)]
        .map(
          ([, given = "", text = ""]) =>
            text.replaceAll(/<[^>]*>/g, "") + (/colspan="\d"/.exec(given)?.[0] ?? "")
        )
        .join("|")
    )

describe("names that lead to figures by dots", () => {
  const table = [
    run("2012", 412, 206, bold),
    run("2007", 532, 206, bold),
    ...["ALL", "SOME", "ALL", "SOME"].map((text, at) =>
      run(text, 400 + 60 * at - 5 * text.length, 218, bold)
    ),
    run("By kind", 60, 230, bold),
    ...row(242, "Any injury", "1.9", "2.1", "2.4", "2.0"),
    ...row(254, "Long illness", "5.1", "4.1", "3.3"),
    run("By place", 60, 266, bold),
    ...row(278, "Of the heart", "8.9", "9.3", "7.2", "7.9")
  ]

  it("are the rows of a table, with its heads, its groups and its empty cells", () => {
    assert.deepEqual(rowsOf(htmlBelowText(table)), [
      '|2012colspan="2"|2007colspan="2"',
      "|ALL|SOME|ALL|SOME",
      'By kindcolspan="5"',
      "Any injury|1.9|2.1|2.4|2.0",
      "Long illness|5.1|4.1|3.3|",
      'By placecolspan="5"',
      "Of the heart|8.9|9.3|7.2|7.9"
    ])
  })

  it("are no table with one column of figures, as a list of contents has, or before words", () => {
    const contents = [242, 254, 266, 278].flatMap((y) => row(y, "Of rivers", "12"))
    const words = [242, 254, 266, 278].flatMap((y) => row(y, "Of rivers", "north", "12"))
    for (const runs of [contents, words]) assert.notInclude(htmlBelowText(runs), "<td>12</td><td>")
  })
})
