/** Text that is turned on a page of upright text: where it stands, and its rules. */
import { assert, describe, it } from "vitest"

import type { Box, Drawing, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, rule, run } from "../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing> = []): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs, 0, { drawings })], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-\w+="[^"]*"/g, ""))
    .join("")

/** What is made upright at the page's top left, written down the page at its middle. */
const downwards = ({ x0, x1, y0, y1 }: Box): Box => ({
  x0: 400 - y1,
  y0: 240 + x0,
  x1: 400 - y0,
  y1: 240 + x1
})
const turned = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> =>
  runs.map((one) => ({ ...one, angle: 90, box: downwards(one.box) }))
const turnedRules = (rules: ReadonlyArray<Drawing>): ReadonlyArray<Drawing> =>
  rules.map((one) => ({ ...one, box: downwards(one.box) }))

const rows = (...of: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<TextRun> =>
  of.flatMap((cells, at) => cells.map((cell, column) => run(cell, 10 + 100 * column, 60 + 14 * at)))
const PLAIN = rows(
  ["Item", "Count", "Sum"],
  ["Paper", "12", "4.50"],
  ["Stone", "13", "5.50"],
  ["River", "14", "6.50"]
)
const CAPTION = run("Table 3: Lengths of rivers", 10, 40)
const ABOVE = lines(`Above ${prose(120)}`, 60, 60, 90)
const BELOW = lines(`Below ${prose(120, 3)}`, 60, 620, 90)

describe("a table that is turned", () => {
  it("stands between the paragraphs above and below it, with its caption", () => {
    const html = htmlOf([...ABOVE, ...BELOW, ...turned([CAPTION, ...PLAIN])])
    assert.match(
      html,
      /<p>Above .*<\/p><table><caption>Table 3: Lengths of rivers<\/caption>.*<\/table><p>Below /
    )
  })

  it("has the cells that its rules make", () => {
    const words = rows(["Item", "Count"], ["Paper that", "12"], ["is written on", ""], ["Stone", "13"])
    const [left, middle, right] = [5, 100, 200]
    const grid = [
      ...[47, 64, 92, 106].map((y) => rule(left, y, right, y)),
      ...[left, middle, right].map((x) => rule(x, 47, x, 106))
    ]
    const shown = words.filter(({ text }) => text !== "")
    const html = htmlOf([...ABOVE, ...BELOW, ...turned(shown)], turnedRules(grid))
    assert.match(html, /<p>Above .*Paper that is written on<\/t[hd]><td>12<\/td><\/tr>.*<\/table><p>Below /)
    assert.notInclude(htmlOf([...ABOVE, ...BELOW, ...turned(shown)]), "Paper that is written on")
  })

  it("is read last where upright words stand within it", () => {
    const html = htmlOf([...ABOVE, run("Beside", 320, 300), ...BELOW, ...turned(PLAIN)])
    assert.match(html, /<p>Below .*<\/p><table>/)
  })
})
