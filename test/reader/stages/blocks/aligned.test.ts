import { assert, describe, it } from "vitest"

import { alignedIn } from "../../../../src/reader/stages/blocks/aligned.ts"
import { linesOf } from "../../../../src/reader/stages/lines/line.ts"
import { segmentsOf } from "../../../../src/reader/stages/lines/segment.ts"
import { FONTS, run } from "../page-builder.ts"

/** How many tables rows of three cells make. */
const tables = (first: string, sign: string, last: string): number => {
  const runs = [150, 162, 174, 186, 198].flatMap((y) => [
    run(first, 100, y),
    run(sign, 160, y),
    run(last, 200, y)
  ])
  return alignedIn(linesOf(segmentsOf(runs), FONTS), FONTS).length
}

describe("aligned lines", () => {
  it("are no table where they are an array of equations; with words in it, or arrows to what an example makes, they are one", () => {
    assert.strictEqual(tables("Q", "=", "8.5"), 0)
    assert.strictEqual(tables("Area", "=", "8.5"), 1)
    assert.strictEqual(tables("Q", "→", "8.5"), 1)
  })

  it("are no table where they are signs alone", () => {
    assert.strictEqual(tables("+ (", "−", ")+"), 0)
    assert.strictEqual(tables("+ (", "−", "a+"), 1)
  })
})
