import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { numeral } from "../../../../../src/reader/sources/docx/package/numerals.ts"

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
    assert.strictEqual(numeral(7, "a way of a later version"), "7")
  })

  it("each script writes them as its readers know them (ECMA-376, 17.18.59)", () => {
    const rows: ReadonlyArray<
      readonly [format: string, ...written: ReadonlyArray<readonly [number, string]>]
    > = [
      ["ordinal", [1, "1st"], [2, "2nd"], [3, "3rd"], [11, "11th"], [22, "22nd"], [113, "113th"]],
      [
        "ordinalText",
        [1, "First"],
        [12, "Twelfth"],
        [20, "Twentieth"],
        [21, "Twenty-first"],
        [100, "One hundredth"]
      ],
      ["cardinalText", [1, "One"], [42, "Forty-two"], [115, "One hundred fifteen"]],
      ["chineseCounting", [1, "一"], [10, "十"], [21, "二十一"], [101, "一〇一"]],
      [
        "chineseCountingThousand",
        [10, "十"],
        [100, "一百"],
        [101, "一百零一"],
        [110, "一百一十"],
        [1010, "一千零一十"]
      ],
      ["japaneseCounting", [10, "十"], [101, "百一"], [111, "百十一"], [2005, "二千五"]],
      ["koreanCounting", [11, "십일"], [120, "백이십"]],
      ["chineseLegalSimplified", [1, "壹"], [10, "壹拾"], [101, "壹佰零壹"]],
      ["ideographTraditional", [1, "甲"], [10, "癸"], [11, "11"]],
      ["hebrew1", [1, "א"], [15, "טו"], [16, "טז"], [115, "קטו"]],
      ["arabicAbjad", [1, "أ"], [2, "ب"], [3, "ج"]],
      ["thaiNumbers", [120, "๑๒๐"]],
      ["hindiNumbers", [120, "१२०"]],
      ["decimalFullWidth", [12, "１２"]],
      ["decimalEnclosedCircle", [1, "①"], [20, "⑳"], [21, "21"]],
      ["russianUpper", [1, "А"], [29, "Я"], [30, "АА"]],
      ["hex", [31, "1F"]],
      ["none", [1, ""]]
    ]
    for (const [format, ...written] of rows)
      for (const [value, text] of written) assert.strictEqual(numeral(value, format), text, format)
  })

  it("two numbers below a thousand are never written alike, and no number is long", () =>
    fc.assert(
      fc.property(
        fc.constantFrom(
          "chineseCountingThousand",
          "japaneseCounting",
          "hebrew1",
          "ordinalText",
          "koreanCounting"
        ),
        fc.integer({ min: 1, max: 999 }),
        fc.integer({ min: 1, max: 999 }),
        fc.integer({ min: 1, max: 2_000_000_000 }),
        (format, one, other, large) => {
          assert.strictEqual(numeral(one, format) === numeral(other, format), one === other)
          assert.isBelow(numeral(large, format).length, 60)
        }
      )
    ))
})
