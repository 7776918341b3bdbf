import { assert, describe, it } from "vitest"

import { GlyphNames, ligaturesIn } from "../../../../../src/reader/sources/pdf/text/glyph-names.ts"

const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1")

const entriesOf = (pdf: string) =>
  [...ligaturesIn(bytesOf(pdf))].map(([font, letters]) => [font, [...letters]] as const)

const font = (name: string, encoding: string): string =>
  `18 0 obj\r\n<</BaseFont/${name}/Encoding ${encoding}/FirstChar 16/Type/Font>>\r\nendobj\r\n`

describe("names of ligatures", () => {
  const differences = "<</Differences[ 16/quotedblleft 27/f_i/f_f_i/T_h.alt 97/a/b]/Type/Encoding>>"

  it("are found in an encoding of its own, or in the font's", () => {
    const found: Array<[number, string]> = [
      [27, "fi"],
      [28, "ffi"],
      [29, "Th"]
    ]
    const apart = `${font("ABCDEF+Serif", "19 0 R ")}19 0 obj\r\n${differences}\r\nendobj\r\n`
    assert.deepStrictEqual(entriesOf(apart), [["Serif", found]])
    assert.deepStrictEqual(entriesOf(font("Serif", differences)), [["Serif", found]])
  })

  it("are none where two subsets of a font differ", () => {
    const other = font("ABCDEF+Serif", "<</Differences[ 27/f_l/f_f_i]>>")
    const names = new GlyphNames()
    const copy = () => bytesOf(`${font("Serif", differences)}${other}`)
    assert.deepStrictEqual(
      [27, 28, 29].map((code) => names.ligature("Serif", code, copy)),
      [undefined, "ffi", "Th"]
    )
  })

  it("are none where a name says something else, or a list does not end", () => {
    for (const list of ["27/fi/a_1/uni0041_b/lscript", "27/f_i", "/_/f_"])
      assert.deepStrictEqual(
        entriesOf(font("Serif", `<</Differences[ ${list}${list === "27/f_i" ? "" : "]"}>>`)),
        []
      )
  })

  it("take no longer where a page is nothing but their beginnings", () => {
    for (const part of ["/Differences[", "/BaseFont/", "1", "1 0 obj<<", "/BaseFont/a/Encoding<<"])
      assert.deepStrictEqual(entriesOf(part.repeat(4_000_000 / part.length)), [])
  })

  it("are looked up once for all of a page's fonts, and on few pages", () => {
    const names = new GlyphNames()
    let copies = 0
    const copy = () => {
      copies += 1
      return bytesOf(`${font("One", differences)}${font("Two", differences)}`)
    }
    assert.strictEqual(names.ligature("One", 27, copy), "fi")
    assert.strictEqual(names.ligature("Two", 28, copy), "ffi")
    assert.isUndefined(names.ligature("One", 30, copy))
    assert.strictEqual(copies, 1)
    for (let at = 0; at < 50; at++) assert.isUndefined(names.ligature(`Font${at}`, 27, () => void copy()))
    assert.strictEqual(copies, 20)
  })
})
