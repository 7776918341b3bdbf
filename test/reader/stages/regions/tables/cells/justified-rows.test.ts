/** Lines of a justified text in a narrow column, whose white is as wide as that between columns. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { htmlBelowText, run } from "../../../page-builder.ts"

const [LEFT, RIGHT, TOP] = [60, 200, 240]

/** Words dealt out between the margins, each after the first moved by so much. */
const line = (
  words: string,
  row: number,
  [left, right]: readonly [number, number],
  moved: number
): ReadonlyArray<TextRun> => {
  const parts = words.split(" ")
  const letters = parts.join("").length
  const white = (right - left - 5 * letters) / (parts.length - 1)
  let x = left
  return parts.map((word, at) => {
    const placed = run(word, at > 0 && at < parts.length - 1 ? x + moved : x, TOP + 12 * row)
    x += 5 * word.length + white
    return placed
  })
}

const text = ["then returns the", "results of rivers", "that water with", "page by page", "lakes or ponds"]
/** How many rows lines become. */
const count = (
  words: ReadonlyArray<string>,
  at: { readonly moved?: (row: number) => number; readonly left?: number; readonly right?: number } = {}
): number => {
  const { left = 0, moved = () => 0, right = 0 } = at
  const runs = words.flatMap((one, row) => {
    const odd = row % 2
    return line(one, row, [LEFT + left * odd, RIGHT - right * odd], moved(row))
  })
  return htmlBelowText(runs).split("<tr").length - 1
}

describe("lines of a justified text", () => {
  it("are no rows", () => {
    assert.strictEqual(count(text), 0)
  })

  it("are no rows where the white behind a stop is wider", () => {
    const stopped = [...text.slice(0, 2), "flows. From rocks", ...text.slice(2)]
    assert.strictEqual(count(stopped, { moved: (row) => (row === 2 ? 3 : 0) }), 0)
  })

  it("are rows where their white differs within a line, or is the same on all", () => {
    assert.isAbove(count(text, { moved: () => 3 }), 1)
    assert.isAbove(count(["river stone letter", "water ponds meadow", "lakes banks across"]), 1)
  })

  it("are rows where they do not all begin and end at the margins", () => {
    assert.isAbove(count(text, { right: 4 }), 1)
    assert.isAbove(count(text, { left: 4 }), 1)
  })
})
