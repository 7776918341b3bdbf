import { expect, it } from "vitest"

import { readMail } from "../../../src/adapters/postal-mime/read-mail.ts"

const PDF = 'Content-Type: application/pdf; name="a.pdf"\r\n\r\n%PDF-1.4'

/** Media types of the parts of a mail with these lines after its From. */
const partsOf = async (rest: string) => {
  const read = await readMail(Buffer.from(`From: ann@reader.test\r\n${rest}`))
  return read.kind === "read" ? read.mail.parts.map(({ mediaType }) => mediaType) : read.message
}

const within = (levels: number, inner: string, disposition = "") =>
  `Content-Type: message/rfc822\r\n${disposition}\r\n`.repeat(levels) + inner

const ATTACHED = "Content-Disposition: attachment\r\n"

it.each([
  ["shown", ""],
  ["attached", ATTACHED]
])("the file of a message that is %s is found within five, and no deeper", async (_, disposition) => {
  expect(await partsOf(within(1, PDF, disposition))).toEqual(["application/pdf"])
  expect(await partsOf(within(5, PDF, disposition))).toEqual(["application/pdf"])
  expect(await partsOf(within(6, PDF, disposition))).toEqual(["message/rfc822"])
  // Each level is read once: a reader's 30 s would not do for each of them.
  expect(await partsOf(within(2_000, PDF, disposition))).toEqual(["message/rfc822"])
})

it("each of many messages beside one another is looked into", async () => {
  const messages = Array.from({ length: 30 }, () => `--b\r\n${within(1, PDF, ATTACHED)}\r\n`).join("")
  const parts = await partsOf(`Content-Type: multipart/mixed; boundary="b"\r\n\r\n${messages}--b--\r\n`)
  expect(parts).toEqual(Array.from({ length: 30 }, () => "application/pdf"))
})

it("a message without files is an attachment where it was attached, and part of the text where it is shown", async () => {
  const text = "Content-Type: text/plain\r\n\r\nhello"
  expect(await partsOf(within(1, text))).toEqual([])
  expect(await partsOf(within(1, text, ATTACHED))).toEqual(["message/rfc822"])
})
