/** Lines of a justified text in a narrow column, whose white is as wide as that between columns. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { segmentsOf } from "../../../../../../src/reader/stages/lines/segment.ts"
import { areDealtOut } from "../../../../../../src/reader/stages/regions/tables/cells/justified-rows.ts"
import { FONT, htmlBelowText, lines, prose, run } from "../../../page-builder.ts"

const [LEFT, RIGHT, TOP] = [60, 200, 240]

/** Words dealt out between the margins, each after the first moved by so much. */
const line = (
  words: string,
  row: number,
  [left, right]: readonly [number, number],
  moved: number
): ReadonlyArray<TextRun> => {
  const parts = words.split(" ")
  const letters = parts.join("").length
  const white = (right - left - 5 * letters) / (parts.length - 1)
  let x = left
  return parts.map((word, at) => {
    const placed = run(word, at > 0 && at < parts.length - 1 ? x + moved : x, TOP + 12 * row)
    x += 5 * word.length + white
    return placed
  })
}

const text = ["then returns the", "results of rivers", "that water with", "page by page", "lakes or ponds"]
/** How many rows lines become. */
const count = (
  words: ReadonlyArray<string>,
  at: { readonly moved?: (row: number) => number; readonly left?: number; readonly right?: number } = {}
): number => {
  const { left = 0, moved = () => 0, right = 0 } = at
  const runs = words.flatMap((one, row) => {
    const odd = row % 2
    return line(one, row, [LEFT + left * odd, RIGHT - right * odd], moved(row))
  })
  return htmlBelowText(runs).split("<tr").length - 1
}

describe("lines of a justified text", () => {
  it("are no rows", () => {
    assert.strictEqual(count(text), 0)
  })

  it("are no rows where the white behind a stop is wider", () => {
    const stopped = [...text.slice(0, 2), "flows. From rocks", ...text.slice(2)]
    assert.strictEqual(count(stopped, { moved: (row) => (row === 2 ? 3 : 0) }), 0)
  })

  it("are rows where their white differs within a line, or is the same on all", () => {
    assert.isAbove(count(text, { moved: () => 3 }), 1)
    assert.isAbove(count(["river stone letter", "water ponds meadow", "lakes banks across"]), 1)
  })

  it("are no rows where the white between their cells is that between their words", () => {
    const long = "streams of rivers that flow to a sea by the lakes"
    const cells = (moved: number, words = long) => {
      let x = LEFT
      const placed = words.split(" ").map((word, at) => {
        const one = run(word, x + moved * (at % 3), TOP)
        x += 5 * word.length + 11
        return segmentsOf([one])
      })
      return [placed.slice(0, 1).flat(), placed.slice(1, 2).flat(), placed.slice(2).flat()]
    }
    const heading = [segmentsOf([run("Contacts", LEFT, TOP - 16)])]
    assert.isTrue(areDealtOut([heading, cells(0)]))
    assert.isFalse(areDealtOut([heading, heading, cells(0)]))
    assert.isFalse(areDealtOut([heading, cells(1)]))
    // Cells of one word each are as far apart.
    assert.isFalse(areDealtOut([heading, cells(0, "1 2 3 4 5")]))
    assert.isFalse(areDealtOut([]))
  })

  it("are no rows where they are items that are set in, and dealt out to the margin", () => {
    const code = { font: FONT.code, size: 7.6 }
    const item = (number: string, names: ReadonlyArray<readonly [x: number, name: string]>, y: number) => [
      run(`${number}. A`, 91.5, y, { size: 7.6 }),
      ...names.map(([x, name]) => run(name, x, y, code))
    ]
    const html = htmlBelowText([
      ...lines(prose(60), 62, TOP - 40, 126, { size: 7.6 }),
      ...lines(prose(90), 62, TOP + 42, 126, { size: 7.6 }),
      ...item(
        "4",
        [
          [128.2, "goldengrahamsrc"],
          [220.7, "goldengrahamsrc.json"],
          [336.1, "goldengrahamsrc.yaml"],
          [451.5, "goldengrahamsrc.yml"]
        ],
        TOP
      ),
      run("goldengrahamsrc.ts, or goldengrahamsrc.cjs file in the .config subdirectory.", 101.2, TOP + 10.5, {
        size: 7.6
      }),
      ...item(
        "5",
        [
          [131.3, "goldengrahams.config.js"],
          [263.6, "goldengrahams.config.ts"],
          [395.9, "goldengrahams.config.mjs"],
          [532.7, "or"]
        ],
        TOP + 21
      ),
      run(
        "goldengrahams.config.cjs file. (To learn more about how files are loaded, see below.)",
        101.2,
        TOP + 31.5,
        {
          size: 7.6
        }
      )
    ])
    assert.notInclude(html, "<table")
  })

  it("are rows where they do not all begin and end at the margins", () => {
    assert.isAbove(count(text, { right: 4 }), 1)
    assert.isAbove(count(text, { left: 4 }), 1)
  })
})
