import * as fc from "fast-check"
import { assert, it } from "vitest"

import { census } from "../../../../../src/reader/stages/regions/formulas/census.ts"
import { isMathSign } from "../../../../../src/reader/stages/regions/formulas/mathematical.ts"
import { FONTS, run } from "../../page-builder.ts"

const math = FONTS.length
const fonts = [...FONTS, { ...FONTS[0]!, name: "CMMI10" }]

it("letters and signs of mathematics are counted as their patterns have it, whatever the text is", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(...Array.from("aZ 0.,•·+∑𝛼é中\t@[`{\u0000\ud800")) })
  )
  fc.assert(
    fc.property(text, fc.constantFrom(0, math), (words, font) => {
      const counted = census(
        [{ run: run(words, 0, 0, { font }), text: words, x0: 0, x1: 1, raise: undefined }],
        fonts
      )
      const characters = Array.from(words)
      const isSign = (character: string) =>
        isMathSign(character) || (font === math && /[^\s.,•·]/.test(character))
      assert.strictEqual(counted.letters, characters.filter((character) => /\p{L}/u.test(character)).length)
      assert.strictEqual(counted.math, characters.filter(isSign).length)
    })
  )
})
