import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { readMail } from "../../../src/adapters/postal-mime/read-mail.ts"
import { signedContent } from "../../../src/adapters/postal-mime/signed-data.ts"

/** An element of DER. */
const der = (tag: number, ...content: ReadonlyArray<Uint8Array>): Buffer => {
  const bytes = Buffer.concat(content)
  const { length } = bytes
  const size =
    length < 0x80
      ? [length]
      : [0x84, (length >>> 24) & 0xff, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), bytes])
}
/** The same in BER, its length unknown at its beginning, as OpenSSL streams it. */
const ber = (tag: number, ...content: ReadonlyArray<Uint8Array>): Buffer =>
  Buffer.concat([Buffer.from([tag, 0x80]), ...content, Buffer.from([0, 0])])

const oid = (last: number) => der(0x06, Buffer.from([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, last]))
const version = der(0x02, Buffer.from([1]))
const signed = (element: typeof der, content: Buffer, type = 2) =>
  element(
    0x30,
    oid(type),
    element(0xa0, element(0x30, version, der(0x31), element(0x30, oid(1), element(0xa0, content)), der(0x31)))
  )

const PDF = "%PDF-1.7 x"
const INNER = Buffer.from(
  `Content-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\nContent-Type: application/pdf; name=a.pdf\r\n\r\n${PDF}\r\n--i--\r\n`
)
const whole = der(0x04, INNER)
const pieces = ber(0x24, der(0x04, INNER.subarray(0, 40)), der(0x04, INNER.subarray(40)))

const mail = (cms: Buffer, name = "smime.p7m") =>
  Buffer.from(
    `From: ann@reader.test\r\nContent-Type: application/pkcs7-mime; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${cms.toString("base64").replaceAll(/.{76}/g, "$&\r\n")}\r\n`
  )

const partsOf = async (raw: Buffer) => {
  const read = await readMail(raw)
  return read.kind === "read"
    ? read.mail.parts.map(({ content, filename }) => [filename, Buffer.from(content).toString("latin1")])
    : read.message
}

describe("mail that is signed in one piece (S/MIME)", () => {
  it("is opened: the files in it are those of the mail", async () => {
    for (const cms of [signed(der, whole), signed(ber, whole), signed(ber, pieces), signed(der, pieces)])
      assert.deepStrictEqual(await partsOf(mail(cms)), [["a.pdf", `${PDF}\n`]])
    const offer = await partsOf(mail(signed(der, der(0x04, Buffer.from(PDF))), "offer.pdf.p7m"))
    assert.deepStrictEqual(offer, [["offer.pdf", PDF]])
  })

  it("an encrypted one, and one that is cut off, stays what it is", async () => {
    const encrypted = signed(der, whole, 3)
    for (const cms of [
      encrypted,
      signed(der, whole).subarray(0, 60),
      Buffer.from("no ASN.1"),
      Buffer.alloc(0)
    ])
      assert.strictEqual((await partsOf(mail(cms)))[0]?.[0], "smime.p7m")
  })

  it("any bytes are looked at once for each of a few levels", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void signedContent(bytes)))
    for (const bytes of [
      [0x30, 0x80],
      [0x24, 0x80],
      [0x30, 0x00],
      [0xa0, 0x80, 0x30]
    ])
      assert.isUndefined(signedContent(Buffer.from(Array(200_000).fill(bytes).flat())))
  })
})
