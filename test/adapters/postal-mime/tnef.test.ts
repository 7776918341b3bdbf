import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { readMail } from "../../../src/adapters/postal-mime/read-mail.ts"
import { filesInTnef } from "../../../src/adapters/postal-mime/tnef.ts"
import { attribute, tnefOf } from "../../support/files/tnef-files.ts"

const PDF = Buffer.from("%PDF-1.7\nbody")
const TEXT = Buffer.from("plain")

const mailWith = (tnef: Buffer) =>
  Buffer.from(
    "From: a@x.test\r\nContent-Type: application/ms-tnef; name=winmail.dat\r\n" +
      `Content-Disposition: attachment; filename=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\n${tnef.toString("base64")}\r\n`
  )
const partsOf = async (tnef: Buffer) => {
  const read = await readMail(mailWith(tnef))
  return read.kind === "read"
    ? read.mail.parts.map(({ content, filename }) => [filename, Buffer.from(content).toString()])
    : assert.fail(read.message)
}

describe("winmail.dat", () => {
  it("its files, by name and bytes", () => {
    assert.deepStrictEqual(
      filesInTnef(tnefOf(["Gr\u00fc\u00dfe.pdf", PDF], ["", TEXT]))?.map(({ content, filename }) => [
        filename,
        Buffer.from(content).toString()
      ]),
      [
        ["Gr\u00fc\u00dfe.pdf", PDF.toString()],
        [undefined, "plain"]
      ]
    )
    assert.deepStrictEqual(filesInTnef(tnefOf()), [])
    assert.isUndefined(filesInTnef(PDF))
    assert.isUndefined(filesInTnef(Buffer.alloc(0)))
  })

  it("with PDFs its files stand in its place; else it stays what it is", async () => {
    assert.deepStrictEqual(await partsOf(tnefOf(["a.txt", TEXT], ["b.pdf", PDF])), [
      ["a.txt", "plain"],
      ["b.pdf", PDF.toString()]
    ])
    assert.deepStrictEqual(await partsOf(tnefOf(["a.pdf", PDF], ["b.pdf", PDF])), [
      ["a.pdf", PDF.toString()],
      ["b.pdf", PDF.toString()]
    ])
    for (const other of [tnefOf(["a.txt", TEXT]), tnefOf()]) {
      assert.deepStrictEqual(await partsOf(other), [["winmail.dat", other.toString()]])
    }
  })

  it("names a file that is cut off, or of another form", () => {
    const message = Buffer.concat([
      tnefOf(["a.pdf", PDF]),
      attribute(2, 0x00069002, Buffer.alloc(14)),
      attribute(2, 0x00018010, Buffer.from("Re: boats\0"))
    ])
    for (const tnef of [message, tnefOf(["a.pdf", PDF], ["Re: boats", TEXT]).subarray(0, -22)])
      assert.deepStrictEqual(
        filesInTnef(tnef)?.map(({ content, filename }) => [filename, content.length]),
        [
          ["a.pdf", PDF.length],
          ["Re: boats", 0]
        ]
      )
  })

  it("takes any bytes, and reads nothing beyond them", () => {
    const whole = tnefOf(["a.pdf", PDF], ["b.txt", TEXT])
    for (let end = 0; end <= whole.length; end++) {
      for (const { content } of filesInTnef(whole.subarray(0, end)) ?? []) {
        assert.include([PDF.length, TEXT.length, 0], content.length)
      }
    }
    const long = Buffer.concat([
      tnefOf(),
      attribute(2, 0x00069002, TEXT),
      attribute(2, 0x0006800f, PDF, 0xffffffff)
    ])
    assert.deepStrictEqual(filesInTnef(long), [])
    const many = Buffer.concat([tnefOf(), ...Array<Buffer>(10_000).fill(attribute(2, 0x00069002, TEXT))])
    assert.deepStrictEqual(filesInTnef(many), [])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(whole.length), (bytes, at) => {
        const changed = Buffer.from(whole)
        changed.set(bytes.subarray(0, changed.length - at), at)
        const read = filesInTnef(changed) ?? []
        assert.isAtMost(
          read.reduce((sum, { content }) => sum + content.length, 0),
          changed.length
        )
      })
    )
  })
})
