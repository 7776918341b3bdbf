/** The runs of one line in the order in which they stand, whatever their tags' order is. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { inDrawnOrder } from "../../../../src/reader/stages/tagged/drawn-order.ts"
import { run } from "../page-builder.ts"

const said = (...runs: ReadonlyArray<TextRun>): string =>
  inDrawnOrder(runs)
    .map(({ text }) => text)
    .join(" ")

/** Parts of a line, one right behind the other. */
const parts = (y: number, ...texts: ReadonlyArray<string>): ReadonlyArray<TextRun> => {
  let x = 60
  return texts.map((text) => {
    const one = run(text, x, y)
    x = one.box.x1
    return one
  })
}

/** Parts of a line in the order of their tags. */
const tagged = (runs: ReadonlyArray<TextRun>, ...places: ReadonlyArray<number>): ReadonlyArray<TextRun> =>
  places.flatMap((at) => runs[at] ?? [])

describe("runs that are tagged in another order than they stand", () => {
  it("are read as their line shows them", () => {
    const date = parts(100, "1403", "/", "09", "/", "19")
    assert.strictEqual(said(...tagged(date, 1, 2, 3, 4, 0)), "1403 / 09 / 19")
    assert.strictEqual(said(...tagged(parts(100, "R", "iv", "ers"), 2, 0, 1)), "R iv ers")
  })

  it("find their line below which others are tagged already", () => {
    const [second = run("", 0, 0), first = second] = tagged(parts(100, "3 May", " 2021"), 1, 0)
    assert.strictEqual(said(second, run("It rains.", 60, 114), first), "3 May  2021 It rains.")
  })

  it("stay where they are in another column, over others, below, or from right to left", () => {
    assert.strictEqual(said(run("right", 300, 100), run("left", 60, 100)), "right left")
    assert.strictEqual(said(run("over", 62, 100), run("word", 60, 100)), "over word")
    assert.strictEqual(said(run("below", 60, 114), run("above", 60, 100)), "below above")
    const hebrew = parts(100, "\u05d0\u05d1", "\u05d2\u05d3")
    assert.strictEqual(said(...tagged(hebrew, 1, 0)), "\u05d2\u05d3 \u05d0\u05d1")
  })

  it("leaves a raised mark where it is: its line goes on behind it", () => {
    const words = run("twenty minutes", 60, 100)
    const mark = run("1", words.box.x1, 95, { size: 6 })
    const end = run(".", mark.box.x1, 100)
    assert.deepStrictEqual(inDrawnOrder([words, mark, end]), [words, mark, end])
  })
})
