import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

import {
  hasWords,
  isModelTier,
  LegibilityTally,
  notice,
  PageLine,
  withoutModelText
} from "../../../src/domain/conversion/page-line.ts"

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

  it("counts how each page came about, which models wrote some, and what was read from pictures", () => {
    const tally = new LegibilityTally()
    const html = "<p>Words</p>"
    assert.deepStrictEqual(tally.making, { tiers: {}, models: [] })
    assert.deepStrictEqual(tally.fidelity, { noModelPages: [], noneByModel: false })
    tally.add({ page: 10, tier: "poorly-recognised", html, noModel: "unfit" })
    tally.add({ page: 9, tier: "recognised", html, noModel: "refused" })
    tally.add({ page: 1, tier: "poorly-recognised", html })
    assert.deepStrictEqual(tally.recognition, {
      recognisedPages: 3,
      poorlyReadPages: [2, 11],
      doubtfulPages: []
    })
    assert.deepStrictEqual(tally.fidelity, { noModelPages: [10, 11], noneByModel: true })
    tally.add({ page: 0, tier: "hifi-single-pass", html, model: "m2", doubts: [] })
    tally.add({ page: 2, tier: "hifi-single-pass", html, model: "m1" })
    // Its second answer counts.
    tally.add({ page: 2, tier: "coverage-retry", html, model: "m1" })
    assert.deepStrictEqual(tally.making, {
      tiers: { "poorly-recognised": 2, recognised: 1, "hifi-single-pass": 1, "coverage-retry": 1 },
      models: ["m1", "m2"]
    })
    assert.isFalse(tally.fidelity.noneByModel)
    assert.deepStrictEqual(tally.recognition.doubtfulPages, [])
    assert.match(tally.notes.join(" "), /10, 11/)
    const unread = new LegibilityTally()
    for (const page of [10, 9, 1]) unread.add(notice(page))
    assert.deepStrictEqual(unread.legibility.unreadablePages, [2, 10, 11])
    assert.deepInclude(notice(4), { page: 4, label: "5", tier: "unreadable" })
    assert.match(notice(4).html, /Page 5 /)
  })

  it("knows each way in which a page comes about, and those that a model has a part in", () => {
    const tiers = [
      "blank",
      "layout",
      "table-of-contents",
      "recognised",
      "poorly-recognised",
      "hifi-single-pass",
      "coverage-retry",
      "agentic",
      "math-ocr",
      "harness",
      "unreadable"
    ] as const
    const isLine = Schema.is(PageLine)
    for (const tier of tiers) assert.isTrue(isLine({ page: 0, label: "1", tier, html: "" }), tier)
    assert.isFalse(isLine({ page: 0, label: "1", tier: "other", html: "" }))
    assert.deepStrictEqual(tiers.filter(isModelTier), [
      "hifi-single-pass",
      "coverage-retry",
      "agentic",
      "math-ocr",
      "harness"
    ])
    for (const noModel of ["refused", "unavailable", "unfit", "unusable"])
      assert.isTrue(isLine({ page: 0, label: "1", tier: "layout", html: "", noModel }), noModel)
  })

  it("writes out twenty numbers of pages, and counts the others", () => {
    const numbers = Array.from({ length: 21 }, (_, at) => at + 1)
    assert.match(withoutModelText([7]), /for 1 page, .*: 7\.$/)
    assert.match(withoutModelText([7, 8]), /for 2 pages, .*: 7, 8\.$/)
    assert.match(withoutModelText(numbers.slice(1)), /for 20 pages, .*: 2, .*, 21\.$/)
    assert.match(withoutModelText(numbers), /for 21 pages, .*, 19, 20 and 1 more\.$/)
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
      "Pages 3, 4, 5 need a look beside the original: there is hidden text, in the colour of its background or covered by something else."
    ])
  })
})
