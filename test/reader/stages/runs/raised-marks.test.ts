/** Marks of notes that are raised in the size of their words. */
import { assert, describe, it } from "vitest"

import { htmlOf, lines, prose, run } from "../page-builder.ts"

/** A line with a mark behind its first words, which are as wide as they are, so high above it. */
const marked = (mark: string, up: number, more: { readonly gap?: number; readonly words?: string } = {}) => {
  const words = run(more.words ?? "as the board has said", 60, 300)
  const sign = run(mark, words.box.x1 + (more.gap ?? 0), 300 - up)
  return htmlOf([
    ...lines(prose(40), 60, 100, 90),
    words,
    sign,
    run("and goes on to the end.", sign.box.x1 + 3, 300)
  ])
}

describe("marks of notes in full size", () => {
  it("are a part of their line, right behind a word", () => {
    assert.include(marked("1", 5), "said<sup>1</sup> and goes on to the end.")
    assert.include(marked("*", 4), "said<sup>*</sup> and goes on to the end.")
  })

  it("are none where they are words, on the line, too high, or apart from the word", () => {
    for (const html of [
      marked("so", 5),
      marked("1", 0),
      marked("1", 9),
      marked("1", 5, { gap: 6 }),
      marked("1", 5, { words: "it is known that x =" })
    ])
      assert.notInclude(html, "<sup>")
  })

  it("are none above the line of a fraction", () => {
    const words = run("as x", 60, 300)
    const above = run("1", words.box.x1, 295)
    const below = run("2", words.box.x1, 306)
    const html = htmlOf([...lines(prose(40), 60, 100, 90), words, above, below])
    assert.notInclude(html, "<sup>")
  })
})
