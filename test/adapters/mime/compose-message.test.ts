import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import PostalMime, { type Address } from "postal-mime"

import { composeMessage } from "../../../src/adapters/mime/compose-message.ts"
import type { Mailbox } from "../../../src/domain/mail/address.ts"
import type { Message } from "../../../src/domain/mail/message.ts"
import { type PlainRequestBody, preparePlain } from "../../../src/domain/mail/plain-request.ts"
import { box, keyOf, mail, messageArb } from "../../support/files/mail-message.ts"

const identity = { messageId: "<1@provider-a.postlane.test>", date: new Date("2026-11-21T10:00:00Z") }

const compose = async (message: Message) => {
  const body = preparePlain("provider_a", message, keyOf("k")).body as PlainRequestBody
  const raw = await composeMessage(body, identity)
  return { raw: new TextDecoder().decode(raw), parsed: await PostalMime.parse(raw) }
}

/** A mailbox as a reader sees it: without quotes, and with the blanks that the composer writes for `<` and `>` in a local part. */
const seen = (boxes: ReadonlyArray<Mailbox>) =>
  boxes.map(({ name, local, domain }) => [name ?? "", `${local.replace(/[<>]/g, " ")}@${domain}`])
/** The parser keeps the quotes of some local parts and takes off those of others. */
const unquoted = (address: string | undefined) =>
  address?.replace(/^"((?:[^"\\]|\\.)*)"@/, (_, local: string) => `${local.replace(/\\(.)/g, "$1")}@`)
const parsedBoxes = (list: ReadonlyArray<Address> | undefined) =>
  (list ?? []).map(({ name, address }) => [name, unquoted(address)])

/** White space as readers show it: folding may have changed how much of it there is. */
const squeezed = (text: string) => text.replace(/\s+/g, " ").trim()

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

describe("messages in the outbox", () => {
  it("names and subjects in any script arrive as they were written", async () => {
    const { parsed } = await compose(
      mail({
        from: box("noreply@postlane.test", "Zoë O'Neill, 東京支店"),
        to: [box("ann@example.test", 'Ann "The Boss" Müller'), box("دعاء@example.test", "دعاء")],
        cc: [box("cc@xn--mnchen-3ya.test", "Büro 🏢")],
        replyTo: [box("reply@example.test", "Réponse")],
        subject:
          "Ihre Rechnung № 7 – 請求書 🧾 with a rather long tail so that it has to be folded over several lines"
      })
    )
    assert.deepStrictEqual(parsedBoxes([parsed.from!]), [["Zoë O'Neill, 東京支店", "noreply@postlane.test"]])
    assert.deepStrictEqual(parsedBoxes(parsed.to), [
      ['Ann "The Boss" Müller', "ann@example.test"],
      ["دعاء", "دعاء@example.test"]
    ])
    assert.deepStrictEqual(parsedBoxes(parsed.cc), [["Büro 🏢", "cc@xn--mnchen-3ya.test"]])
    assert.deepStrictEqual(parsedBoxes(parsed.replyTo), [["Réponse", "reply@example.test"]])
    assert.strictEqual(
      parsed.subject,
      "Ihre Rechnung № 7 – 請求書 🧾 with a rather long tail so that it has to be folded over several lines"
    )
    assert.strictEqual(parsed.messageId, identity.messageId)
    assert.strictEqual(new Date(parsed.date!).getTime(), identity.date.getTime())
  })

  it("Bcc is in no header, and CRLF ends every line", async () => {
    const { raw, parsed } = await compose(mail({ bcc: [box("secret@example.test", "Secret")] }))
    assert.notInclude(raw.toLowerCase(), "bcc")
    assert.notInclude(raw, "secret@")
    assert.notMatch(raw, /[^\r]\n/)
    assert.isUndefined(parsed.bcc)
    for (const part of [
      { text: "a\nb\r\nc\rd\r" },
      { html: "<p>a\nb\r\nc\rd\r</p>\r" },
      { text: "ä\r\rb" }
    ]) {
      const written = (await compose(mail(part))).raw
      assert.notMatch(written, /\r(?!\n)|(?<!\r)\n/)
    }
  })

  it("text, HTML, an attachment with an international name and an inline image arrive byte for byte", async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, at) => (at * 31) % 256)
    const { parsed } = await compose(
      mail({
        text: "Grüße\n.\nFrom here\n",
        html: '<p>Grüße <img src="cid:logo" alt="Logo"></p>',
        attachments: [
          {
            filename: "Übersicht 第1四半期.pdf",
            contentType: "application/pdf",
            content: Buffer.from(bytes).toString("base64"),
            contentId: undefined
          },
          { filename: "logo.png", contentType: "image/png", content: PIXEL, contentId: "logo" }
        ]
      })
    )
    assert.strictEqual(parsed.text?.trimEnd().replaceAll("\r\n", "\n"), "Grüße\n.\nFrom here")
    assert.include(parsed.html!, '<p>Grüße <img src="cid:logo" alt="Logo"></p>')
    const [image, pdf] = [...parsed.attachments].sort((a, b) => (a.mimeType < b.mimeType ? 1 : -1))
    assert.deepStrictEqual(
      [image!.filename, image!.mimeType, image!.contentId, image!.disposition],
      ["logo.png", "image/png", "<logo>", "inline"]
    )
    assert.strictEqual(Buffer.from(image!.content as ArrayBuffer).toString("base64"), PIXEL)
    assert.deepStrictEqual(
      [pdf!.filename, pdf!.mimeType, pdf!.disposition],
      ["Übersicht 第1四半期.pdf", "application/pdf", "attachment"]
    )
    assert.deepStrictEqual(new Uint8Array(pdf!.content as ArrayBuffer), bytes)
  })

  it("headers of the sender arrive, tags do not", async () => {
    const { raw, parsed } = await compose(
      mail({
        headers: { "List-Unsubscribe": "<https://x.test/u/1>", "X-Campaign": "spring" },
        tags: { campaign: "private-tag" }
      })
    )
    const value = (name: string) => parsed.headers.find((header) => header.key === name)?.value
    assert.strictEqual(value("list-unsubscribe"), "<https://x.test/u/1>")
    assert.strictEqual(value("x-campaign"), "spring")
    assert.notInclude(raw, "private-tag")
  })

  it("any message can be read back: who it is from, who it is for, what it is about", async () => {
    await fc.assert(
      fc.asyncProperty(messageArb, async (message) => {
        const { parsed } = await compose(message)
        assert.deepStrictEqual(parsedBoxes([parsed.from!]), seen([message.from]))
        assert.deepStrictEqual(parsedBoxes(parsed.to), seen(message.to))
        assert.deepStrictEqual(parsedBoxes(parsed.cc), seen(message.cc))
        assert.strictEqual(squeezed(parsed.subject ?? ""), squeezed(message.subject))
      }),
      { numRuns: 100 }
    )
  })
})
