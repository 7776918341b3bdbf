import { assert, describe, it } from "vitest"

import { htmlOf, lines, prose, run } from "../page-builder.ts"

/** Words side by side on one line, this far apart, drawn from the last one to the first. */
const backwards = (gap: number, ...words: ReadonlyArray<string>) => {
  let x = 60
  const runs = words.map((text) => {
    const next = run(text, x, 60)
    x = next.box.x1 + gap
    return next
  })
  return htmlOf([...runs.toReversed(), ...lines(prose(200), 60, 120, 60)])
}

describe("words of a line that are drawn from its end to its beginning", () => {
  it("have no space where they touch, as brackets around a word do", () => {
    assert.include(backwards(0, "(", "january", ")"), "<p>(january)</p>")
    assert.include(backwards(-0.1, "«", "self test", "»"), "<p>«self test»</p>")
  })

  it("have one where there is a gap", () => {
    assert.include(backwards(3, "one", "two", "three"), "<p>one two three</p>")
  })
})
