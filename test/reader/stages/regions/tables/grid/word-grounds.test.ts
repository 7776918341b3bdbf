/** Coloured grounds of words, as highlighters and the colours of source code draw them, beside cells that are filled. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, rule, run } from "../../../page-builder.ts"

const TOP = 200
const STEP = 14

const filled = (x0: number, y0: number, x1: number, y1: number): Drawing => ({
  ...rule(x0, y0, x1, y1),
  kind: "path",
  stroked: false,
  filled: true,
  curved: false,
  color: 0xeeece1
})

/** Rows of two stretches in code, each on a ground that leaves so much room at its sides. */
const rows = (
  room: number
): { readonly runs: ReadonlyArray<TextRun>; readonly grounds: ReadonlyArray<Drawing> } => {
  const set = { font: FONT.code }
  const runs = ["river = 1;", "stone = 2;", "quiet = 3;", "under = 4;"].flatMap((words, row) => {
    const first = run(words, 80, TOP + STEP * row + 10, set)
    return [first, run("// what it is", first.box.x1 + Math.max(6, 2 * room), first.baseline, set)]
  })
  const grounds = runs.map(({ baseline, box }) =>
    filled(box.x0 - room, baseline - 10, box.x1 + room, baseline + 4)
  )
  return { runs, grounds }
}

describe("grounds of words", () => {
  it("are no cells, wherever in the line they begin", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.8, noNaN: true }), (room) => {
        const { grounds, runs } = rows(room)
        // Behind them lies the ground of the whole listing, line by line.
        const lying = [0, 1, 2, 3].map((row) => filled(75, TOP + STEP * row, 400, TOP + STEP * (row + 1)))
        assert.notInclude(htmlBelowText(runs, [...lying, ...grounds]), "<table")
      }),
      { numRuns: 20 }
    )
  })

  it("are cells where they leave a margin around their words", () => {
    const { grounds, runs } = rows(5)
    const html = htmlBelowText(runs, grounds)
    assert.include(html, "<table")
    assert.strictEqual(html.split("<tr>").length - 1, 4)
  })

  it("are no cells either where the space before a phrase is part of its ground, unlike cells with margins", () => {
    const html = (room: number, space: number) => {
      const runs = [0, 1, 2, 3].flatMap((row) => {
        let x = 80
        return ["river waters", "are what it is", "that flows"].map((words) => {
          const phrase = run(words, x, TOP + STEP * row + 10)
          x = phrase.box.x1 + 2 * room + space
          return phrase
        })
      })
      const grounds = runs.map(({ baseline, box }, at) =>
        filled(box.x0 - room - (at % 3 === 0 ? 0 : space), baseline - 10, box.x1 + room, baseline + 4)
      )
      return htmlBelowText(runs, grounds)
    }
    assert.notInclude(html(0, 4), "<table")
    assert.include(html(3, 0), "<table")
  })

  it("are no cells in justified lines, whose words stand nearly as far apart as cells", () => {
    const phrases = [
      ["where it", "is the width of", "the underlying", "distribution"],
      ["whatever", "that is, it", "represents", "a very sharp one"]
    ]
    const html = (space: number) => {
      const runs = phrases.flatMap((row, at) => {
        let x = 80
        return row.map((words) => {
          const phrase = run(words, x, TOP + STEP * at + 10)
          x = phrase.box.x1 + space
          return phrase
        })
      })
      const grounds = runs.map(({ baseline, box }) =>
        filled(box.x0, baseline - 10, box.x1 + space, baseline + 4)
      )
      return htmlBelowText(runs, grounds)
    }
    assert.notInclude(html(9), "<table")
    assert.include(html(12), "<table")
  })

  it("are looked for in time that grows with the page alone", () => {
    const runs = Array.from({ length: 4000 }, (_, at) => run("a", 60 + (at % 40) * 10, TOP, { size: 10 }))
    const grounds = Array.from({ length: 3000 }, (_, at) =>
      filled(60 + at / 10, TOP - 9, 61 + at / 10, TOP + 3)
    )
    assert.include(htmlBelowText(runs, grounds), "a")
  })
})
