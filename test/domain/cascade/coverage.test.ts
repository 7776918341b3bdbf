import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import { coverageOf, htmlWords, wordsOf } from "../../../src/domain/cascade/coverage.ts"

const word = fc.string({ unit: fc.constantFrom(..."abcdefghij".split("")), minLength: 4, maxLength: 9 })
const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

describe("coverage", () => {
  it("a page's own words cover it whole, whatever they are wrapped in", () =>
    fc.assert(
      fc.property(fc.array(word, { minLength: 12 }), (words) => {
        const html = words.map((one, n) => (n % 3 === 0 ? `<td>${one}</td>` : `<b>${one}</b> `)).join("")
        assert.deepStrictEqual(coverageOf(words.join(" "), html), { share: 1, missing: [] })
      })
    ))

  it("leaving words out lowers it, and names them", () =>
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 20, maxLength: 40 }), (words) => {
        // Words that are part of the others run together would count as found.
        const kept = words.slice(0, 10)
        const wanted = words.filter((one, n) => n < 10 || !kept.join("").includes(one))
        fc.pre(wanted.length > 12)
        const { missing, share } = coverageOf(wanted.join(" "), `<p>${kept.join(" ")}</p>`)
        assert.deepStrictEqual(missing, wanted.slice(10))
        assert.closeTo(share, 10 / wanted.length, 1e-9)
      })
    ))

  it("is between 0 and 1, and text in HTML is read as it is shown", () =>
    fc.assert(
      fc.property(fc.string(), fc.string(), (layer, html) => {
        const { share } = coverageOf(layer, html)
        assert.isTrue(share >= 0 && share <= 1)
        assert.deepStrictEqual(htmlWords(`<p>${escape(layer)}</p>`), wordsOf(layer))
      })
    ))

  it("ligatures, accents, entities, hyphenation and alternative texts count as what they say", () => {
    const layer = "The efﬁcient café naïve straße office differ­ence numbers 1 2 3 question answer list"
    const html =
      '<p>The efficient caf&eacute; na&#239;ve stra&#xdf;e <b>off</b>ice difference</p><img alt="numbers 1 2 3"><p>question answer list</p>'
    const { missing } = coverageOf(layer.replace("­", ""), html.replace("&eacute;", "é"))
    assert.deepStrictEqual(missing, [])
  })

  it("entities that HTML does not have are words", () => {
    assert.deepStrictEqual(htmlWords("a&constructor;b &amp; c"), ["a", "constructor", "b", "c"])
  })

  it("a word counts as often as it is there; one that is cut or glued is there, a short one only as a word", () => {
    const rest = "alpha bravo charlie delta echo foxtrot golf hotel india juliett"
    const missing = (layer: string, html: string) =>
      coverageOf(`${layer} ${rest}`, `<p>${html}</p><p>${rest}</p>`).missing
    assert.deepStrictEqual(missing("one one one", "one of one"), ["one"])
    assert.deepStrictEqual(missing("total total total", "total of total"), ["total"])
    assert.deepStrictEqual(missing("total total total", "totals of total"), ["total"])
    assert.deepStrictEqual(missing("total conversion", "total con- version"), [])
    assert.deepStrictEqual(missing("running header", "runningheader"), [])
    assert.deepStrictEqual(missing("an is", "danish"), ["an", "is"])
  })

  it("a layer of a few words says too little to judge by", () => {
    assert.strictEqual(coverageOf("Scanned by X", "<p>A whole page of other words</p>").share, 1)
  })

  it("hostile HTML is read in linear time", () => {
    const angry = "<".repeat(200_000) + "a".repeat(200_000) + "&".repeat(200_000)
    assert.isAtMost(coverageOf("word ".repeat(20), angry).share, 1)
  })
})
