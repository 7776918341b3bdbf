import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { decodeTag, encodeTag } from "../../../src/domain/mail/tag.ts"

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
})
