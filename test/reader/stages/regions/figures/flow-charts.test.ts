/** Flow charts: boxes with words in them, and lines between them. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../src/reader/model/page-content.ts"
import { htmlBelowText, rule, run } from "../../page-builder.ts"

const WORDS = ["Start", "Read", "Stone", "Letter", "Margin", "Quiet", "Over", "Under", "End"]
const [WIDTH, HEIGHT] = [90, 30]

/** Three rows of three boxes, their words in them, so far apart; each as one drawing or as four sides. */
const boxes = (apart: number, draw: (x: number, y: number) => ReadonlyArray<Drawing>) => {
  const at = WORDS.map((words, place) => ({
    words,
    x: 80 + (place % 3) * (WIDTH + apart),
    y: 300 + Math.floor(place / 3) * (HEIGHT + apart)
  }))
  return {
    runs: at.map(({ words, x, y }): TextRun => run(words, x + 8, y + 18)),
    drawings: at.flatMap(({ x, y }) => draw(x, y)),
    /** Lines from each box to the one beside it. */
    lines: at.flatMap(({ x, y }, place) =>
      place % 3 === 2 ? [] : [rule(x + WIDTH, y + 15, x + WIDTH + apart, y + 15.5)]
    )
  }
}
const whole = (x: number, y: number): ReadonlyArray<Drawing> => [rule(x, y, x + WIDTH, y + HEIGHT)]
const sides = (x: number, y: number): ReadonlyArray<Drawing> => [
  rule(x, y, x + WIDTH, y + 0.5),
  rule(x, y + HEIGHT, x + WIDTH, y + HEIGHT + 0.5),
  rule(x, y, x + 0.5, y + HEIGHT),
  rule(x + WIDTH, y, x + WIDTH + 0.5, y + HEIGHT)
]

describe("boxes with words in them", () => {
  it("are a figure where lines lead from one to another, drawn as one or as four sides", () => {
    for (const draw of [whole, sides]) {
      const { drawings, lines, runs } = boxes(30, draw)
      const html = htmlBelowText(runs, [...drawings, ...lines])
      assert.include(html, "<figure>")
      assert.notInclude(html, "<table")
      for (const words of WORDS) assert.include(html, words)
    }
  })

  it("are cells where they share their sides, or no line joins three of them", () => {
    const cells = boxes(0, whole)
    const apart = boxes(30, whole)
    for (const [runs, drawings] of [
      [cells.runs, [...cells.drawings, ...cells.lines]],
      [apart.runs, apart.drawings],
      [apart.runs, [...apart.drawings, ...apart.lines.slice(0, 1)]]
    ] as const) {
      const html = htmlBelowText(runs, drawings)
      assert.include(html, "<table")
      assert.notInclude(html, "<figure>")
    }
  })

  it("are looked at within bounds, however many there are", () => {
    const many = Array.from({ length: 30_000 }, (_, at) =>
      rule(at % 500, at / 100, (at % 500) + 30, at / 100 + 20)
    )
    assert.include(htmlBelowText([run("River", 80, 320)], many), "River")
  })
})
