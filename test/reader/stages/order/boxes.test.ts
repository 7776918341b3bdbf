import { assert, describe, it } from "@effect/vitest"

import type { Box, Drawing } from "../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, htmlOf, lines, prose, rule, run } from "../page-builder.ts"

/** A ground of one colour. */
const ground = (box: Box, color = 0xcc_cc_cc): Drawing => ({
  kind: "path",
  box,
  stroked: false,
  filled: true,
  curved: false,
  color,
  mcid: undefined,
  artifact: false
})

const listing = ["begin", "  one", "  two", "end"].map((line, at) =>
  run(line, 210, 412 + 12 * at, { font: FONT.code })
)
const below = lines(prose(60), 60, 500, 90)
const BOX: Box = { x0: 200, y0: 400, x1: 268, y1: 455 }
const TOGETHER = "<pre><code>begin\n  one\n  two\nend</code></pre>"

describe("the listing of a box", () => {
  const html = (drawings: ReadonlyArray<Drawing>, beside = 150) =>
    htmlBelowText([run("one note", beside, 424), ...listing, ...below], drawings)

  it("is read together, behind what stands to the left of it and before what stands to the right", () => {
    for (const shape of [ground(BOX), rule(BOX.x0, BOX.y0, BOX.x1, BOX.y1)]) {
      const [left, right] = [html([shape]), html([shape], 275)]
      assert.include(left, TOGETHER)
      assert.isBelow(left.indexOf("one note"), left.indexOf("begin"))
      assert.include(right, TOGETHER)
      assert.isAbove(right.indexOf("one note"), right.indexOf("two"))
    }
  })

  it("is read with the lines beside it where nothing is drawn around it, or what nobody sees", () => {
    assert.notInclude(html([]), TOGETHER)
    assert.notInclude(html([ground(BOX, 0xff_ff_ff)]), TOGETHER)
  })

  it("is read with the lines beside it where boxes stand edge to edge, as cells do", () => {
    const other = lines("Words of the next box", 278, 414, 12)
    const next: Box = { ...BOX, x0: BOX.x1, x1: 360 }
    const note = run("one note", 150, 424)
    const beside = (boxes: ReadonlyArray<Drawing>) =>
      htmlBelowText([note, ...other, ...listing, ...below], boxes)
    assert.notInclude(beside([ground(BOX), ground(next)]), TOGETHER)
    const apart = [ground({ ...BOX, x1: 264 }), ground({ ...next, x0: 274 })]
    assert.include(
      htmlBelowText([run("one note", 150, 424), ...other, ...listing, ...below], apart),
      TOGETHER
    )
  })

  it("is read with the lines beside it where they are words", () => {
    const words = ["Remember", "that boxes", "hold words", "together."].map((line, at) =>
      run(line, 210, 412 + 12 * at)
    )
    const page = [run("one note", 150, 424), ...words, ...below]
    assert.strictEqual(htmlBelowText(page, [ground(BOX)]), htmlBelowText(page))
  })

  it("is read with the lines beside it where it is as tall as a column", () => {
    const alone = (box: Box) => htmlOf([run("one note", 150, 424), ...listing], [ground(box)])
    assert.include(alone(BOX), TOGETHER)
    assert.notInclude(alone({ ...BOX, y0: 100, y1: 800 }), TOGETHER)
  })

  it("is read with the lines beside it where the edge of the box cuts words, or it is one line", () => {
    assert.notInclude(html([ground({ ...BOX, x1: 240 })]), TOGETHER)
    assert.notInclude(html([ground({ ...BOX, x0: 170 })]), TOGETHER)
    const row = [
      run("Name", 60, 404),
      run("Somebody", 150, 404, { font: FONT.code }),
      run("in town", 260, 404),
      ...below
    ]
    const value = ground({ x0: 145, y0: 391, x1: 200, y1: 411 })
    assert.strictEqual(htmlBelowText(row, [value]), htmlBelowText(row))
  })

  it("and so is a label, such as a word of warning, at the side of prose, but not one on a line of it", () => {
    const words = lines(
      "The parts that turn can crush fingers. Never reach into it while the lamp is lit.",
      280,
      420,
      44
    )
    const labelled = (y: number, drawings: ReadonlyArray<Drawing>) =>
      htmlBelowText([...words.slice(0, 1), run("DANGER", 210, y), ...words.slice(1), ...below], drawings)
    const parted = /DANGER<.*The parts that turn can crush fingers\. Never reach into it while/s
    assert.match(labelled(427, [ground(BOX)]), parted)
    assert.notMatch(labelled(420, [ground(BOX)]), parted)
    assert.notMatch(labelled(427, []), parted)
  })
})
