import { assert, describe, it } from "vitest"

import { dingbatsOf } from "../../../../../src/reader/sources/pdf/text/dingbats.ts"

const characterOf = (face: string, code: number): string | undefined => {
  const found = dingbatsOf(face)?.get(code)
  return found === undefined ? undefined : String.fromCodePoint(found)
}

describe("faces of pictograms", () => {
  it("have characters by their codes, and by those of private use that Windows gives them", () => {
    const checks: ReadonlyArray<readonly [string, number, string]> = [
      ["Wingdings-Regular", 0xf0fc, "✓"],
      ["Wingdings", 0xfc, "✓"],
      ["Wingdings-Regular", 0xf0a8, "☐"],
      ["Wingdings-Regular", 0xf0fe, "☑"],
      ["Wingdings-Regular", 0xf0e0, "→"],
      ["Wingdings-Regular", 0xf0a7, "▪"],
      ["Wingdings2", 0xf050, "✓"],
      ["Wingdings 3", 0xf075, "▶"],
      ["SymbolMT", 0xf0b7, "•"],
      ["Symbol", 0xf0b1, "±"],
      ["Symbol,Bold", 0xf061, "α"]
    ]
    for (const [face, code, character] of checks)
      assert.strictEqual(characterOf(face, code), character, `${face} ${code}`)
  })

  it("keep the letters of Symbol, which are read as what they are", () => {
    assert.isUndefined(characterOf("SymbolMT", 0x3b1))
    assert.isUndefined(characterOf("SymbolMT", 0x28))
  })

  it("are none of any other name", () => {
    for (const face of ["OpenSymbol", "SymbolicSerif", "Helvetica", "CMSY10", ""])
      assert.isNull(dingbatsOf(face))
  })
})
