import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { numeral } from "../../../../../src/reader/sources/docx/package/numbering.ts"

const WORTH: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100, d: 500, m: 1000 }

/** A smaller sign before a larger one is taken off. */
const romanValue = (text: string): number =>
  Array.from(text, (sign) => WORTH[sign] ?? 0).reduce(
    (sum, worth, at, all) => (worth < (all[at + 1] ?? 0) ? sum - worth : sum + worth),
    0
  )

describe("numbers as lists write them", () => {
  it("Roman ones are worth what they stand for, and none has four of a sign", () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3999 }), (value) => {
        const text = numeral(value, "lowerRoman")
        assert.strictEqual(romanValue(text), value)
        assert.notMatch(text, /(.)\1{3}/)
        assert.strictEqual(numeral(value, "upperRoman"), text.toUpperCase())
      })
    ))

  it("letters begin anew, doubled", () => {
    assert.deepStrictEqual(
      [1, 26, 27, 28, 53].map((value) => numeral(value, "lowerLetter")),
      ["a", "z", "aa", "bb", "aaa"]
    )
    assert.strictEqual(numeral(28, "upperLetter"), "BB")
  })

  it("what is too large, or not to be counted, is written in digits", () =>
    fc.assert(
      fc.property(
        fc.constantFrom("lowerRoman", "upperRoman", "lowerLetter", "upperLetter"),
        fc.oneof(fc.integer({ min: -5, max: 0 }), fc.integer({ min: 4000, max: 999_999_999 })),
        (format, value) => assert.strictEqual(numeral(value, format), String(value))
      )
    ))

  it("others are digits, with a zero before them where that is wanted", () => {
    assert.strictEqual(numeral(7, "decimalZero"), "07")
    assert.strictEqual(numeral(7, "chineseCounting"), "7")
  })
})
