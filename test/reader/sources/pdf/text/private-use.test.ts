import { assert, describe, it } from "vitest"

import { privateCharacter } from "../../../../../src/reader/sources/pdf/text/private-use.ts"

const characterOf = (code: number): string | undefined => {
  const found = privateCharacter(code)
  return found === undefined ? undefined : String.fromCodePoint(found)
}

describe("codes of the private area", () => {
  it("stand for pieces of brackets, small capitals and old figures, as Adobe's list of names has them", () => {
    const codes = [0xf8eb, 0xf8ee, 0xf8f4, 0xf8fe, 0xf761, 0xf77a, 0xf7e9, 0xf7ff, 0xf730, 0xf739, 0xf726]
    assert.deepStrictEqual(codes.map(characterOf), ["⎛", "⎡", "⎪", "⎭", "a", "z", "é", "ÿ", "0", "9", "&"])
  })

  it("are a font's own everywhere else, and other codes are left alone", () => {
    for (const code of [0x41, 0x61, 0xe000, 0xf1f3, 0xf700, 0xf741, 0xf7f7, 0xf8ea, 0xf8ff, 0x1f600])
      assert.isUndefined(characterOf(code), code.toString(16))
  })
})
