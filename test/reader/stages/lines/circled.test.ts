import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, page, run } from "../page-builder.ts"

/** A line with a letter that begins so far behind the beginning of a wide circle. */
const htmlOf = (letter: string, within: number, circle = "○"): string => {
  const wide = run(circle, 116, 100, { size: 12 })
  const runs = [
    run("Copyright", 60, 100),
    { ...wide, box: { ...wide.box, x1: wide.box.x0 + 12 } },
    run(letter, 116 + within, 99.6),
    run("2009 by the river", 136, 100)
  ]
  return layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs, 0)], others: NO_STATISTICS })
    .map(({ html }) => html)
    .join("")
}

describe("a letter that is drawn into a circle", () => {
  it("is the sign that both make", () => {
    assert.include(htmlOf("c", 3), "Copyright © 2009 by the river")
    assert.include(htmlOf("R", 3), "Copyright ® 2009 by the river")
  })

  it("is itself beside one, where the two make no sign, and without one", () => {
    assert.include(htmlOf("c", 13), "○")
    assert.include(htmlOf("x", 3), "○")
    assert.notInclude(htmlOf("c", 3, "O"), "©")
  })
})
