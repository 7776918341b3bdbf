import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../src/reader/model/page-content.ts"
import { htmlOf, lines, prose, rule, run } from "../page-builder.ts"

const words = run("The fee is 100 euros 80 euros a month.", 60, 300)
const around = (one: TextRun) => [...lines(prose(40), 60, 100, 90), one]
/** A rule at a share of the size above the baseline, from one character of the words up to another. */
const across = (from: number, to: number, above = 0.3, thick = 0.5): Drawing => {
  const y = words.baseline - above * words.size
  return rule(words.edges[from] ?? 0, y, words.edges[to] ?? 0, y + thick)
}
const struckIn = (drawings: ReadonlyArray<Drawing>, one = words) =>
  [...htmlOf(around(one), drawings).matchAll(/<s>(.*?)<\/s>/g)].map(([, text]) => text)

describe("struck words", () => {
  it("are those that a rule is drawn through, up to the ends of words", () => {
    assert.deepStrictEqual(struckIn([across(11, 20)]), ["100 euros"])
    assert.deepStrictEqual(struckIn([across(0, 38)]), ["The fee is 100 euros 80 euros a month."])
    assert.deepStrictEqual(struckIn([across(11, 14), across(21, 23)]), ["100", "80"])
  })

  it("are none where the rule is under or over them, thick, too short, or goes on beyond their line", () => {
    assert.deepStrictEqual(struckIn([across(11, 20, -0.1)]), [])
    assert.deepStrictEqual(struckIn([across(11, 20, 0.8)]), [])
    assert.deepStrictEqual(struckIn([across(11, 20, 0.4, 4)]), [])
    assert.deepStrictEqual(struckIn([across(12, 16)]), [])
    const y = words.baseline - 3
    assert.deepStrictEqual(struckIn([rule(20, y, 560, y + 0.5)]), [])
  })
})
