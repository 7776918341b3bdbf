import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { decodeTag, encodeTag, KEY_TAG, tagFaults } from "../../../src/domain/mail/tag.ts"

describe("tags", () => {
  it("leaves as it is what every provider takes", () => {
    for (const plain of ["campaign", "c1", "A-b_9"]) assert.strictEqual(encodeTag(plain), plain)
  })

  it("come back as they went, in the providers' alphabet", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.stringMatching(/^b64_[A-Za-z0-9_-]{0,12}$/),
      fc.constantFrom("", "\uFEFF", "\uFEFFa byte order mark first")
    )
    fc.assert(
      fc.property(text, (value) => {
        const encoded = encodeTag(value)
        assert.match(encoded, /^[A-Za-z0-9_-]+$/)
        assert.strictEqual(decodeTag(encoded), value)
      }),
      { numRuns: 1000 }
    )
  })

  it("are never two texts in one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (one, other) => {
        if (one !== other) assert.notStrictEqual(encodeTag(one), encodeTag(other))
      })
    )
  })

  it("that nobody here encoded are left alone", () => {
    for (const foreign of ["b64_%%%", "b64_!", "plain", "b64_gA"]) assert.isString(decodeTag(foreign))
    assert.strictEqual(decodeTag("b64_gA"), "b64_gA")
  })

  it("of a caller are refused where a provider, or Postlane itself, would take them for something else", () => {
    assert.deepStrictEqual(tagFaults("campaign", "spring"), [])
    assert.deepStrictEqual(tagFaults("campaign", ""), [])
    for (const own of [KEY_TAG, KEY_TAG.toUpperCase()]) assert.lengthOf(tagFaults(own, "x"), 1)
    assert.deepStrictEqual(tagFaults("", "x"), ["has no name"])
    for (const reserved of ["ses:caller", "SES:x"]) assert.lengthOf(tagFaults(reserved, "x"), 1)
    assert.deepStrictEqual(tagFaults("n".repeat(256), "v".repeat(256)), [])
    assert.lengthOf(tagFaults("n".repeat(257), "v"), 1)
    assert.lengthOf(tagFaults("n", "v".repeat(257)), 1)
    // Of 190 letters that only the encoding lets through, 257 characters.
    assert.lengthOf(tagFaults("ü".repeat(95), "ü".repeat(95)), 2)
  })
})
