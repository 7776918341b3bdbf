import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { isPdf, signedKind } from "../../../src/domain/conversion/file-signatures.ts"
import { tnefOf } from "../../support/files/tnef-files.ts"
import { tarOf, zipOf } from "../../support/files/zip-files.ts"

const PDF = Buffer.from("%PDF-1.7\n")

describe("what a file is by its first bytes", () => {
  it("a PDF may begin within the first kilobyte, and no later", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000 }), (at) => {
        const file = new Uint8Array(at + PDF.length).fill(0x20)
        file.set(PDF, at)
        assert.strictEqual(isPdf(file), at <= 1024)
      })
    )
  })

  it.each([
    ["winmail.dat", tnefOf(["a.pdf", PDF], ["b.pdf", PDF]), /winmail/],
    ["a ZIP archive that does not compress", zipOf([{ name: "a.pdf", data: PDF, stored: true }]), /archive/],
    ["a tar archive", tarOf("a.pdf", PDF), /archive/],
    ["gzip that does not compress", Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), PDF]), /archive/],
    ["an Office file", Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), PDF]), /Office/]
  ])("%s that holds a PDF is none", (_, file, kind) => {
    assert.isTrue(file.includes(PDF), "the PDF stands in it as it is")
    assert.isFalse(isPdf(file))
    assert.match(signedKind(file) ?? "", kind)
  })

  it("each kind is known by all of its first bytes", () => {
    const kinds: ReadonlyArray<readonly [hex: string, kind: RegExp, at?: number]> = [
      ["504b0304", /archive/],
      ["504b0506", /archive/],
      ["504b0708", /archive/],
      ["789f3e22", /winmail/],
      ["d0cf11e0a1b11ae1", /Office/],
      ["89504e47", /picture/],
      ["ffd8ff", /picture/],
      ["47494638", /picture/],
      ["49492a00", /picture/],
      ["4d4d002a", /picture/],
      ["424d", /picture/],
      ["7b5c727466", /RTF/],
      ["52617221", /archive/],
      ["377abcaf", /archive/],
      ["1f8b", /archive/],
      ["28b52ffd", /archive/],
      ["04224d18", /archive/],
      ["4d534346", /archive/],
      ["213c617263683e0a", /archive/],
      ["3037303730", /archive/],
      ["2d6c68", /archive/, 2],
      ["7573746172", /archive/, 257]
    ]
    for (const [hex, kind, at = 0] of kinds) {
      const signature = Buffer.from(hex, "hex")
      const file = (bytes: Buffer) => {
        const content = Buffer.alloc(300, 0xee)
        content.set(bytes, at)
        return content
      }
      assert.match(signedKind(file(signature)) ?? "", kind, hex)
      for (const [place, byte] of signature.entries()) {
        const other = Buffer.from(signature)
        other[place] = byte ^ 0x80
        assert.isUndefined(signedKind(file(other)), `${hex} but for byte ${place}`)
      }
      assert.isUndefined(
        signedKind(Buffer.concat([Buffer.from([0xee]), file(signature)])),
        `${hex} further in`
      )
    }
    assert.isUndefined(signedKind(PDF))
    assert.isTrue(isPdf(Buffer.concat([Buffer.alloc(1, 0x20), PDF.subarray(0, 5)])), "to its last byte")
    assert.isFalse(isPdf(Buffer.concat([Buffer.alloc(1, 0x20), PDF.subarray(0, 4)])))
  })

  it("a PDF that has another kind's bytes further in is one", () => {
    const pdf = Buffer.alloc(600, "x")
    pdf.set(PDF)
    pdf.write("ustar", 257)
    assert.isTrue(isPdf(pdf))
  })
})
