import { assert, describe, it } from "vitest"

import { texGlyphsOf } from "../../../../../src/reader/sources/pdf/text/tex-glyphs.ts"

describe("glyphs of TeX's faces for mathematics", () => {
  it("have their characters by code", () => {
    const checks: ReadonlyArray<readonly [string, number, string]> = [
      ["", 0x1c, "ﬁ"],
      ["", 0x81, "Ą"],
      ["", 0x9f, "§"],
      ["", 0xff, "ß"],
      ["CMMI10", 0x60, "ℓ"],
      ["LMMathItalic10-Regular", 0x40, "∂"],
      ["CMSY10", 0x14, "≤"],
      ["CMSY7", 0x70, "√"],
      ["CMEX10", 0x02, "["],
      ["CMEX10", 0x20, "("],
      ["CMEX10", 0x58, "∑"],
      ["MathDesign-UT-Regular-Extension-10", 0x5a, "∫"],
      ["CMEX10", 0x38, "⎧"],
      ["MSAM10", 0x36, "⩽"],
      ["MSAM10", 0x49, "▶"],
      ["MSAM7", 0x58, "✓"],
      ["MSBM10", 0x3f, "∅"],
      ["MSBM10", 0x6f, "⋊"],
      ["MSBM10", 0x7f, "϶"],
      ["wasy10", 0x0f, "♫"],
      ["wasy10", 0x32, "□"],
      ["CMMI10", 0x2d, "↩"],
      // As fonts have them again that keep codes below the space from programs.
      ["CMEX10", 0xa1, "("],
      ["CMEX10", 0xaa, "}"],
      ["CMEX10", 0xad, "⟨"],
      ["CMEX10", 0xb5, "("],
      ["CMEX10", 0xc4, "⇓"]
    ]
    for (const [face, code, character] of checks)
      assert.strictEqual(texGlyphsOf(face)?.characters[code], character, `${face} ${code}`)
    for (const face of ["CMMI10", "CMSY10", "CMEX10", "MSAM10", "MSBM10"])
      assert.lengthOf(texGlyphsOf(face)?.characters ?? [], 0xc5, face)
  })

  it("are known by their face where they have names of others", () => {
    const checks: ReadonlyArray<readonly [string, string, string]> = [
      ["MSBM10", "R", "ℝ"],
      ["MSBM7", "k", "𝕜"],
      ["BBM12", "1", "𝟙"],
      ["EUFM10", "g", "𝔤"],
      ["RSFS10", "L", "ℒ"],
      ["LASY10", "✷", "□"],
      ["LASY10", "✭", "‹"]
    ]
    for (const [face, taken, meant] of checks) {
      const found = texGlyphsOf(face)?.misnamed.get(taken.codePointAt(0) ?? 0)
      assert.strictEqual(String.fromCodePoint(found ?? 0), meant, face)
    }
    assert.isUndefined(texGlyphsOf("MSBM10")?.misnamed.get(0x71))
    assert.strictEqual(texGlyphsOf("CMSY10")?.misnamed.size, 0)
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
    assert.isUndefined(characters[0xa7])
  })
})
