import { assert, describe, it } from "@effect/vitest"

import { hasWords, LegibilityTally, notice } from "../../../src/domain/conversion/page-line.ts"

describe("what can be read of a result", () => {
  it("R2: words are what stands between tags, not what describes pictures or spaces", () => {
    for (const html of ["<p>a</p>", "7", "<table><tr><td>é</td></tr></table>", "<p><b>文</b></p>"])
      assert.isTrue(hasWords(html), html)
    for (const html of ["", "<p></p>", '<img alt="A cat" src="x">', "<p>&nbsp;&amp; &#8212; – …</p>"])
      assert.isFalse(hasWords(html), html)
  })

  it("R2: a page that could not be read is counted once, and its note is no text", () => {
    const tally = new LegibilityTally()
    for (const page of [4, 2, 4]) tally.add(notice(page))
    assert.deepStrictEqual(tally.legibility, { unreadablePages: [3, 5], hasText: false })
    tally.add({ page: 0, tier: "layout", html: "<p>Words</p>" })
    assert.isTrue(tally.legibility.hasText)
  })
})
