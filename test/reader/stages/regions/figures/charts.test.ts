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
      made(
        ticks.map((one, at) => (at === 1 ? { ...one, text: "9" } : one)),
        same
      )
    ])
      assert.notInclude(html, "<figure>")
  })

  it("is what is drawn beside a scale: few or round bars, points, an area, a line without a grid", () => {
    const axis = [rule(94, 301, 94, 409), rule(94, 409, 270, 409)]
    const few = [filled(110, 330, 140, 409), filled(170, 360, 200, 409)]
    const round = bars.map(curved)
    const points = LENGTHS.map((length, at) =>
      curved(filled(104 + 24 * at, 400 - length, 108 + 24 * at, 404 - length))
    )
    const area = [curved(filled(100, 320, 260, 409))]
    const line = [curved(rule(100, 320, 260, 400))]
    for (const shapes of [few, round, points, area, line]) {
      const labels = labelsIn(made([...ticks, ...names], [...axis, ...shapes]))
      for (const label of ["12", "8", "4", "0", "Row 1", "Row 3"]) assert.include(labels, label)
    }
  })

  it("is none beside numbers of rows, numbers that are no scale, or rules alone", () => {
    const grounds = ticks.map(({ box }) => filled(60, box.y0 - 2, 300, box.y1 + 2, 0xeeeeee))
    const words = ticks.map(({ baseline }) => run("Rivers and stones", 110, baseline, { size: 8 }))
    const years = ["1994", "1996", "1991", "1990"].map((text, at) =>
      run(text, 72, 304 + 36 * at, { size: 8 })
    )
    const steps = ticks.map((one, at) => run(one.text, 80, 304 + 36 * at + 9 * (at % 2), { size: 8 }))
    const area = curved(filled(100, 320, 260, 409))
    for (const html of [
      made([...ticks, ...words], grounds),
      made([...ticks, ...words], [area]),
      made(years, [area]),
      made(steps, [area]),
      made(ticks, gridlines)
    ])
      assert.notInclude(html, "<figure>")
  })

  it("is a pie whose sectors have names, and no sign of several colours", () => {
    const sectors = [0x111111, 0x808080, 0xdddddd].map((color, at) =>
      curved(
        filled(at === 1 ? 100 : 150, at === 0 ? 300 : 350, at === 1 ? 150 : 200, at === 0 ? 350 : 400, color)
      )
    )
    const around = [
      run("Boats", 205, 320, { size: 8 }),
      run("Nets", 75, 390, { size: 8 }),
      run("Crews", 205, 390, { size: 8 })
    ]
    const whole = [...sectors, curved(filled(100, 300, 150, 350, 0x4080))]
    for (const name of ["Boats", "Nets", "Crews"]) assert.include(labelsIn(made(around, whole)), name)
    assert.notInclude(made(around.slice(0, 1), whole), "<figure>")
    const rings = [0, 10, 20].map((at) => curved(filled(100 + at, 300, 180 + at, 380, 0x111111 * (1 + at))))
    assert.notInclude(made(around, rings), "<figure>")
  })
})
