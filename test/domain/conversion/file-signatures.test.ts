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

  it("a PDF that has another kind's bytes further in is one", () => {
    const pdf = Buffer.alloc(600, "x")
    pdf.set(PDF)
    pdf.write("ustar", 257)
    assert.isTrue(isPdf(pdf))
  })
})
