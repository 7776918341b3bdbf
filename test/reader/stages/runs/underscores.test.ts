import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../src/reader/model/page-content.ts"
import { withUnderscores } from "../../../../src/reader/stages/runs/underscores.ts"
import { htmlOf, page, rule, run } from "../page-builder.ts"

/** A rule that begins here, as long and as thick as TeX draws an underscore of ten points. */
const underscore = (x: number, y = 100): Drawing => rule(x, y - 0.4, x + 3, y)

describe("underscores", () => {
  it("that are rules between letters are read, one after the other", () => {
    const runs = [run("The option path", 60, 100), run("file and _", 138.5, 100), run("x", 195.5, 100)]
    assert.include(
      htmlOf(runs, [underscore(135.2), underscore(188.8), underscore(192.2)]),
      ">The option path_file and ___x</p>"
    )
    // The first "_" is a letter of its face.
    assert.include(htmlOf(runs, []), "path file")
  })

  it("end their run, which has an edge more for each, and are no drawings any more", () => {
    // The space is inferred from the gap, and has no width.
    const first = { ...run("ab", 60, 100), text: "ab ", edges: [60, 65, 70, 70] }
    const second = run("c", 73.5, 100)
    const line = rule(60, 300, 200, 300.4)
    const read = withUnderscores(page([first, second], 0, { drawings: [underscore(70.2), line] }))
    assert.deepStrictEqual(read.drawings, [line])
    assert.deepStrictEqual(read.runs, [
      { ...first, text: "ab_", edges: [60, 65, 70.2, 73.2], box: { ...first.box, x1: 73.2 } },
      second
    ])
    const bare = withUnderscores(page([{ ...first, edges: [] }, second], 0, { drawings: [underscore(70.2)] }))
    assert.deepStrictEqual(bare.runs[0]?.edges, [])
  })

  it("are no other rules", () => {
    const runs = [run("ab", 60, 100), run("c", 73.5, 100)]
    const unchanged = (drawings: ReadonlyArray<Drawing>, all: ReadonlyArray<TextRun> = runs) => {
      const before = page(all, 0, { drawings })
      assert.strictEqual(withUnderscores(before), before)
    }
    const [ab = run("ab", 60, 100)] = runs
    // A fraction's bar, a thick one, one that is too short, what is drawn under the letters, and a curve.
    unchanged([rule(70.2, 98.1, 73.2, 98.5)])
    unchanged([rule(70.2, 98.8, 73.2, 100)])
    unchanged([rule(71, 99.6, 72.5, 100)])
    unchanged([rule(60, 101, 76, 101.4)])
    const bar = underscore(70.2)
    unchanged(bar.kind === "path" ? [{ ...bar, curved: true }] : [])
    // A blank that is to be filled in, as one rule and as many.
    unchanged([rule(70.2, 99.6, 100, 100)], [ab, run("c", 100.5, 100)])
    unchanged(
      [70.2, 73.4, 76.6, 79.8].map((x) => underscore(x)),
      [ab, run("c", 83.2, 100)]
    )
    // Words that do not touch it, or stand on another line or slanted.
    unchanged([underscore(70.2)], [ab, run("c", 78, 100)])
    unchanged([underscore(75)], [ab, run("c", 78.2, 100)])
    unchanged([underscore(70.2)], [ab, run("c", 73.5, 103)])
    unchanged([underscore(70.2)], [{ ...ab, angle: 10 }, run("c", 73.5, 100)])
    unchanged([underscore(70.2)], [ab])
    // More rules than a text has.
    unchanged([underscore(70.2), ...Array.from({ length: 1000 }, () => underscore(300, 700))])
  })
})
