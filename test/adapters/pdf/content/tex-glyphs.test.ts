import { assert, describe, it } from "vitest"

import { texGlyphsOf } from "../../../../src/adapters/pdf/content/tex-glyphs.ts"

describe("glyphs of TeX's faces for mathematics", () => {
  it("have their characters by code", () => {
    const checks: ReadonlyArray<readonly [string, number, string]> = [
      ["CMMI10", 0x60, "ℓ"],
      ["LMMathItalic10-Regular", 0x40, "∂"],
      ["CMSY10", 0x14, "≤"],
      ["CMSY7", 0x70, "√"],
      ["CMEX10", 0x02, "["],
      ["CMEX10", 0x20, "("],
      ["CMEX10", 0x58, "∑"],
      ["MathDesign-UT-Regular-Extension-10", 0x5a, "∫"],
      ["CMEX10", 0x38, "⎧"],
      ["MSAM10", 0x36, "⩽"]
    ]
    for (const [face, code, character] of checks)
      assert.strictEqual(texGlyphsOf(face)?.characters[code], character, `${face} ${code}`)
    for (const face of ["CMMI10", "CMSY10", "CMEX10"])
      assert.lengthOf(texGlyphsOf(face)?.characters ?? [], 128)
  })

  it("are left alone in any other face with a name", () => {
    for (const face of ["CMR10", "CMTI10", "Helvetica", "SymbolMT"]) assert.isNull(texGlyphsOf(face))
  })
})

describe("glyphs of a face without a name", () => {
  it("are ligatures where both of TeX's encodings of text have them, and Cork's marks", () => {
    const { characters } = texGlyphsOf("") ?? { characters: [] }
    assert.deepStrictEqual(
      [11, 12, 15, 27, 28, 31, 16, 21, 22].map((code) => characters[code]),
      ["ﬀ", "ﬁ", "ﬄ", "ﬀ", "ﬁ", "ﬄ", "“", "–", "—"]
    )
    for (const code of [0, 10, 13 + 6, 24]) assert.strictEqual(characters[code], "\0")
    assert.lengthOf(characters, 32)
  })
})
