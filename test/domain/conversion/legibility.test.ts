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

  it("DOC-28: pages that are doubted are named once, by reason, and the result says so", () => {
    const tally = new LegibilityTally()
    assert.deepStrictEqual([tally.recognition.doubtfulPages, tally.notes], [[], []])
    const line = { tier: "layout", html: "<p>Words</p>" } as const
    for (const page of [4, 2, 4]) tally.add({ ...line, page, doubts: ["unseen_text", "tags_disagree"] })
    tally.add({ ...line, page: 3, doubts: ["unseen_text"] })
    assert.deepStrictEqual(tally.recognition.doubtfulPages, [
      { reason: "tags_disagree", pages: [3, 5] },
      { reason: "unseen_text", pages: [3, 4, 5] }
    ])
    assert.deepStrictEqual(tally.notes, [
      "Pages 3, 5 need a look beside the original: the tags and what is shown disagree about order or tables.",
      "Pages 3, 4, 5 need a look beside the original: there is text that nobody sees, in the colour of the paper."
    ])
  })
})
