/** Names that are written upwards, or lean, over the columns of a table. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { run, htmlBelowText, rule } from "../../../page-builder.ts"

/** Words that end, or where they lean begin, at the foot of a column. */
const standing = (text: string, x: number, foot: number, angle = 270): TextRun => {
  const one = run(text, x, foot, { size: 8, angle })
  const length = one.box.x1 - one.box.x0
  const side = angle === 315 ? 0.7 * length : 8
  return { ...one, box: { x0: x, y0: foot - (angle === 315 ? side : length), x1: x + side, y1: foot } }
}

const NAMES = ["Voters listed", "In the book", "Anna", "Boris"]
const names = (angle?: number): ReadonlyArray<TextRun> =>
  NAMES.map((name, at) => standing(name, 182 + 40 * at, 298, angle))
const rows = (count: number): ReadonlyArray<TextRun> =>
  Array.from({ length: count }, (_, at) =>
    ["Town", "812", "401", "120", "99"].map((cell, column) =>
      run(column === 0 ? `${cell} ${at}` : cell, column === 0 ? 64 : 140 + 40 * column, 312 + 16 * at)
    )
  ).flat()
const grid = [
  ...[220, 300, 316, 332, 348].map((y) => rule(60, y, 340, y)),
  ...[60, 172, 212, 252, 292, 340].map((x) => rule(x, 220, x, 348))
]
const heads = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<th scope="col">([^<]*)<\/th>/g)].map(([, text = ""]) => text)

describe("words that stand over the columns of a table", () => {
  it("are its head, with rules around it or without", () => {
    assert.deepEqual(heads(htmlBelowText([...names(), ...rows(3)], grid)), NAMES)
    assert.includeMembers([...heads(htmlBelowText([...names(), ...rows(5)]))], NAMES)
  })

  it("are its head where they lean", () => {
    assert.deepEqual(heads(htmlBelowText([...names(315), ...rows(3)], grid)), NAMES)
  })

  it("are its head also where its rules begin below them", () => {
    const below = [
      ...[300, 316, 332, 348].map((y) => rule(60, y, 340, y)),
      ...[60, 172, 212, 252, 292, 340].map((x) => rule(x, 300, x, 348))
    ]
    for (const angle of [270, 315]) {
      const html = htmlBelowText([...names(angle), ...rows(3)], below)
      assert.deepEqual(heads(html), NAMES)
      assert.strictEqual(html.match(/<tr>/g)?.length, 4)
      assert.notInclude(html, 'role="note"')
    }
    // Words that stand far above a grid are none of its heads.
    const far = names(315).map((one) => ({
      ...one,
      box: { ...one.box, y0: one.box.y0 - 60, y1: one.box.y1 - 60 },
      baseline: one.baseline - 60
    }))
    assert.deepEqual(heads(htmlBelowText([...far, ...rows(3)], below)), [])
  })

  it("are none over words of the text, in a margin, or with one row below", () => {
    const text = [
      "The rivers of the north and of the south are deeper than those",
      "that come from the hills of the west, as is well known."
    ]
    const over = htmlBelowText([...names(), ...text.map((line, at) => run(line, 64, 312 + 14 * at))])
    assert.include(over, 'role="note"')
    assert.deepEqual(heads(over), [])
    const stamp = htmlBelowText([standing("Draft of May", 20, 400), ...rows(5)])
    assert.notInclude(heads(stamp), "Draft of May")
    assert.notInclude(heads(htmlBelowText([...names(), ...rows(1)])), "Anna")
  })
})
