/** Charts that no caption names: bars, curves and pies, by what is drawn and the numbers at it. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../../src/reader/model/page-content.ts"
import { htmlBelowText, lines, prose, rule, run } from "../../page-builder.ts"

const filled = (x0: number, y0: number, x1: number, y1: number, color = 0x4080): Drawing => ({
  ...rule(x0, y0, x1, y1),
  kind: "path",
  stroked: false,
  filled: true,
  curved: false,
  color
})
const curved = (one: Drawing): Drawing => (one.kind === "path" ? { ...one, curved: true } : one)

const LENGTHS = [20, 56, 92, 83, 38, 74]
const bars = LENGTHS.map((length, at) => filled(104 + 24 * at, 410 - length, 120 + 24 * at, 410))
const gridlines = [301, 337, 373, 409].map((y) => rule(94, y, 270, y + 0.5))
const ticks = ["12", "8", "4", "0"].map((text, at) => run(text, 80, 304 + 36 * at, { size: 8 }))
const names = [1, 2, 3].map((at) => run(`Row ${at}`, 54 + 50 * at, 424, { size: 8 }))
const key = ["North", "South"].map((text, at) => run(text, 285, 340 + 12 * at, { size: 8 }))
const below = lines(prose(40), 60, 460, 90)

const made = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing>): string =>
  htmlBelowText([...runs, ...below], drawings)
const labelsIn = (html: string): string => /<figure>.*<\/figure>/.exec(html)?.[0] ?? ""

describe("a chart without a caption", () => {
  it("is one figure with its numbers, names and key", () => {
    const html = labelsIn(made([...ticks, ...names, ...key], [...gridlines, ...bars]))
    for (const label of ["12", "0", "Row 1", "North", "South"]) assert.include(html, label)
    const level = bars.map(({ box }) => filled(100, box.x0 + 200, 100 + 2 * (box.y1 - box.y0), box.x1 + 200))
    const axis = ["0", "40", "80", "120"].map((text, at) => run(text, 100 + 60 * at, 462, { size: 8 }))
    assert.include(labelsIn(htmlBelowText([...axis, ...lines(prose(40), 60, 500, 90)], level)), "120")
  })

  it("may be a curve over lines, or a pie whose shares are said", () => {
    const curve = curved(rule(96, 310, 268, 400))
    assert.include(labelsIn(made([...ticks, ...names], [...gridlines, curve])), "Row 1")
    const pie = [0x111111, 0x808080, 0xdddddd].map((color, at) =>
      curved(
        filled(
          100 + 30 * (at % 2),
          300 + 30 * (at > 0 ? 1 : 0),
          160 + 30 * (at % 2),
          360 + 30 * (at > 0 ? 1 : 0),
          color
        )
      )
    )
    const shares = ["20 %", "30 %", "50 %"].map((text, at) => run(text, 200, 320 + 20 * at, { size: 8 }))
    assert.include(labelsIn(made(shares, pie)), "30 %")
  })

  it("is none in cells and words with a ground, without numbers, or of one length", () => {
    const words = bars.map(({ box }, at) => run("abc"[at % 3] ?? "", box.x0 + 4, box.y1 - 8, { size: 8 }))
    const grounds = LENGTHS.map((length, at) => filled(100, 300 + 20 * at, 150 + length, 314 + 20 * at))
    const marked = grounds.map(({ box }) => run("Rivers", box.x0 + 2, box.y1 - 4, { size: 8 }))
    const same = bars.map(({ box }) => filled(box.x0, 350, box.x1, 410))
    for (const html of [
      made([...ticks, ...words], bars),
      made([...ticks, ...marked], grounds),
      made(key, bars),
      made(ticks, same)
    ])
      assert.notInclude(html, "<figure>")
  })
})
