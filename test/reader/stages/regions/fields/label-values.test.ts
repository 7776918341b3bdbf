/** Labels and values beside the address of a letter. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../src/reader/model/page-content.ts"
import { htmlOf, lines, prose, run } from "../../page-builder.ts"

const address = ["Harbour Ltd", "Dock Street 4", "4411 Norrvik"]
const pairs: ReadonlyArray<readonly [string, string]> = [
  ["Date", "3 May 2021"],
  ["Due", "17 May 2021"],
  ["Your order", "L-77"]
]
const beside = (left: ReadonlyArray<string>, right: typeof pairs, down = 0): ReadonlyArray<TextRun> => [
  ...left.map((text, at) => run(text, 60, 60 + down + 11 * at)),
  ...right.flatMap(([label, value], at) => [
    run(label, 390, 71 + down + 11 * at),
    run(value, 540 - 5 * value.length, 71 + down + 11 * at)
  ])
]
const text = lines(prose(60), 60, 300, 90)

describe("labels at the right of an address", () => {
  it("have their values, and the address stays whole", () => {
    const html = htmlOf([...beside(address, pairs), ...text])
    assert.include(html, "<dt>Due</dt><dd>17 May 2021</dd><dt>Your order</dt><dd>L-77</dd>")
    assert.notInclude(html, "<table")
    assert.isBelow(html.indexOf("4411"), html.indexOf("<dl>"))
  })

  it("are rows where each stands in one of a table, further down, or with nothing beside them", () => {
    const rows = beside(
      ["Place", "Norrvik", "Lindby", "Sund"],
      [
        ["Kind", "Day"],
        ["Loan", "3 May"],
        ["Gift", "4 May"],
        ["Sale", "5 May"]
      ],
      -11
    )
    const level = rows.map((one) => (one.box.x0 === 60 ? run(one.text, 60, one.baseline + 11) : one))
    for (const runs of [level, beside(address, pairs, 420), beside([], pairs)])
      assert.notInclude(htmlOf([...runs, ...text]), "<dt>")
  })
})
