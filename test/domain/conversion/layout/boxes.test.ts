import { assert, describe, it } from "@effect/vitest"

import type { Box, Drawing } from "../../../../src/domain/conversion/page-content.ts"
import { htmlBelowText, lines, prose, rule, run } from "./page-builder.ts"

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

const inside = ["Remember", "that boxes", "hold words", "together."].map((line, at) =>
  run(line, 210, 412 + 12 * at)
)
const below = lines(prose(60), 60, 500, 90)
const BOX: Box = { x0: 200, y0: 400, x1: 268, y1: 455 }
const TOGETHER = "<p>Remember that boxes hold words together.</p>"

describe("the lines of a box", () => {
  const html = (drawings: ReadonlyArray<Drawing>, beside = 150) =>
    htmlBelowText([run("one note", beside, 424), ...inside, ...below], drawings)

  it("are read together, behind what stands to the left of it and before what stands to the right", () => {
    for (const shape of [ground(BOX), rule(BOX.x0, BOX.y0, BOX.x1, BOX.y1)]) {
      const [left, right] = [html([shape]), html([shape], 275)]
      assert.include(left, TOGETHER)
      assert.isBelow(left.indexOf("one note"), left.indexOf("Remember"))
      assert.include(right, TOGETHER)
      assert.isAbove(right.indexOf("one note"), right.indexOf("together"))
    }
  })

  it("are read with the lines beside them where nothing is drawn around them, or what nobody sees", () => {
    assert.notInclude(html([]), TOGETHER)
    assert.notInclude(html([ground(BOX, 0xff_ff_ff)]), TOGETHER)
  })

  it("are read with the lines beside them where boxes stand edge to edge, as cells do", () => {
    const other = lines("Words of the next box", 278, 414, 12)
    const next: Box = { ...BOX, x0: BOX.x1, x1: 360 }
    const cells = htmlBelowText([...other, ...inside, ...below], [ground(BOX), ground(next)])
    assert.strictEqual(cells, htmlBelowText([...other, ...inside, ...below]))
    const apart = [ground({ ...BOX, x1: 264 }), ground({ ...next, x0: 274 })]
    assert.include(htmlBelowText([run("one note", 150, 424), ...other, ...inside, ...below], apart), TOGETHER)
  })

  it("are read with the lines beside them where it is as tall as a column", () => {
    assert.notInclude(html([ground({ ...BOX, y0: 100, y1: 800 })]), TOGETHER)
  })

  it("are no lines of their own where its edge cuts words, or where it frames one line", () => {
    assert.notInclude(html([ground({ ...BOX, x1: 240 })]), TOGETHER)
    assert.notInclude(html([ground({ ...BOX, x0: 170 })]), TOGETHER)
    const row = [run("Name", 60, 404), run("Somebody", 150, 404), run("in town", 260, 404), ...below]
    const value = ground({ x0: 145, y0: 391, x1: 200, y1: 411 })
    assert.strictEqual(htmlBelowText(row, [value]), htmlBelowText(row))
  })
})
