import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"

import { addressKey } from "../../../src/domain/mail/address.ts"
import {
  categoryOf,
  forTheRest,
  listOf,
  type Recipients,
  recipientsOf,
  submittedBody,
  type SubmittedMail
} from "../../../src/domain/mail/submitted-mail.ts"
import { Category } from "../../../src/domain/mail/suppression/policy.ts"

const at = (address: string, name = "") => ({ address, name })
const box = (local: string) => ({ local, domain: "x.test", name: undefined })
const mail = (change: Partial<SubmittedMail> = {}): SubmittedMail => ({
  from: at("shop@x.test", "Shop"),
  replyTo: [],
  to: [at("ann@x.test")],
  cc: [],
  subject: "Hello",
  messageId: undefined,
  html: undefined,
  text: "Hello.",
  headers: [],
  parts: [],
  ...change
})
const header = (name: string, value: string) => ({ headers: [{ name, value }] })
const envelope = { from: "bounces@x.test", to: [box("ann")] }
const TO_ANN: Recipients = { to: [box("ann")], cc: [], bcc: [] }
const TOKEN = { id: "t", name: "shop", categories: [], from: [], ratePerMinute: undefined } as const
const body = (change: Partial<SubmittedMail> = {}, recipients: Recipients = TO_ANN, from = envelope.from) =>
  submittedBody(mail(change), recipients, {
    category: "notification",
    envelope: { ...envelope, from },
    token: TOKEN
  })
const keys = (requests: ReadonlyArray<Recipients>) =>
  requests.map(({ bcc, cc, to }) => [to, cc, bcc].map((boxes) => boxes.map(addressKey)))

describe("recipients of a mail that a program handed over", () => {
  it("FRONT-5: are those of the envelope, each once, where the header names them", () => {
    const names = ["ann", "bob", "cy", "Dan"]
    const some = fc.uniqueArray(fc.constantFrom(...names))
    fc.assert(
      fc.property(some, some, some, (wanted, to, cc) => {
        const named = (list: ReadonlyArray<string>) => list.map((one) => at(`${one.toUpperCase()}@x.test`))
        const requests = recipientsOf(
          { to: [...named(to), at("no address")], cc: named(cc) },
          { from: "", to: [...wanted, ...wanted].map(box) }
        )
        const all = keys(requests).flat(2)
        assert.deepStrictEqual(all.toSorted(), wanted.map((one) => addressKey(box(one))).toSorted())
        for (const request of requests) assert.isNotEmpty(request.to, "providers require one")
        const isVisible = (one: string) => wanted.includes(one) && (to.includes(one) || cc.includes(one))
        if (!names.some(isVisible))
          // Nobody learns of another blind recipient.
          for (const [alone, ...others] of keys(requests)) {
            assert.lengthOf(alone!, 1)
            assert.deepStrictEqual(others, [[], []])
          }
        else {
          assert.lengthOf(requests, 1)
          const [inTo, inCc, inBcc] = keys(requests)[0]!
          const key = (one: string) => addressKey(box(one))
          const toOf = to.filter((one) => wanted.includes(one)).map(key)
          const ccOf = cc.filter((one) => wanted.includes(one) && !to.includes(one)).map(key)
          assert.deepStrictEqual([inTo, inCc], toOf.length > 0 ? [toOf, ccOf] : [ccOf, []])
          assert.deepStrictEqual(
            inBcc?.toSorted(),
            wanted
              .filter((one) => !isVisible(one))
              .map(key)
              .toSorted()
          )
        }
      })
    )
  })

  it("S7: go on without the suppressed ones where those were all of To, and stay hidden from each other", () => {
    const isBlocked = ({ local }: { readonly local: string }) => local.startsWith("no")
    const rest = (to: ReadonlyArray<string>, cc: ReadonlyArray<string>, bcc: ReadonlyArray<string>) =>
      keys(forTheRest([{ to: to.map(box), cc: cc.map(box), bcc: bcc.map(box) }], isBlocked)).map((lists) =>
        lists.map((list) => list.map((key) => key.split("@")[0]).join(" ")).join(" | ")
      )
    // Those who are left in To get the mail as it is, and the send leaves out the others.
    assert.deepStrictEqual(rest(["no1", "ann"], ["no2"], ["bob"]), ["no1 ann | no2 | bob"])
    assert.deepStrictEqual(rest(["no1"], ["no2", "cy"], ["no3", "bob"]), ["cy |  | bob"])
    assert.deepStrictEqual(rest(["no1"], ["no2"], ["bob", "no3", "dan"]), ["bob |  | ", "dan |  | "])
    assert.deepStrictEqual(
      rest(["no1"], ["no2"], ["no3"]),
      ["no1 | no2 | no3"],
      "it is answered as suppressed"
    )
  })
})

describe("what a mail asks for in its header", () => {
  it("is its category, in any case, else the token's", () => {
    const bound = { ...TOKEN, categories: ["marketing", "auth"] } as const
    assert.deepStrictEqual(categoryOf(mail(), TOKEN), Result.succeed("transactional"))
    assert.deepStrictEqual(categoryOf(mail(), bound), Result.succeed("marketing"))
    for (const category of Category.literals)
      assert.deepStrictEqual(
        categoryOf(mail(header("X-Postlane-Category", ` ${category.toUpperCase()} `)), bound),
        Result.succeed(category)
      )
    assert.deepStrictEqual(
      categoryOf(mail(header("X-Postlane-Category", " ")), bound),
      Result.succeed("marketing")
    )
    const unknown = categoryOf(mail(header("x-postlane-category", "junk")), TOKEN)
    assert.strictEqual(Result.isFailure(unknown) && unknown.failure[0]?.path, "X-Postlane-Category")
    const twice = mail({
      headers: ["auth", "alert"].map((value) => ({ name: "X-Postlane-Category", value }))
    })
    assert.deepStrictEqual(categoryOf(twice, TOKEN), Result.succeed("auth"), "the first field counts")
  })

  it("is its list, and when it is sent", () => {
    assert.isUndefined(listOf(mail()))
    assert.strictEqual(listOf(mail(header("X-Postlane-List", " weekly "))), "weekly")
    assert.deepInclude(body(header("X-Postlane-List", "weekly")), { list: "weekly", headers: {} })
    assert.deepInclude(body(header("X-Postlane-Send-At", "2026-12-01T09:00:00Z")), {
      sendAt: "2026-12-01T09:00:00Z",
      headers: {}
    })
  })
})

describe("the request of a mail", () => {
  it("has what the mail has, and nothing else", () => {
    assert.deepStrictEqual(body(), {
      to: ["ann@x.test"],
      from: "Shop <shop@x.test>",
      subject: "Hello",
      text: "Hello.",
      category: "notification",
      source: "smtp:shop",
      headers: {},
      attachments: []
    })
    const whole = body(
      { html: "<p>Hello</p>", replyTo: [at("desk@x.test", "Desk"), at("none")] },
      { to: [box("ann")], cc: [box("bob")], bcc: [box("cy")] }
    )
    assert.deepInclude(whole, {
      cc: ["bob@x.test"],
      bcc: ["cy@x.test"],
      replyTo: ["Desk <desk@x.test>"],
      html: "<p>Hello</p>",
      text: "Hello."
    })
  })

  it("is from the header's From, else the envelope's, else the settings'; what is no address is refused by its field", () => {
    assert.strictEqual(body({ from: undefined })["from"], "bounces@x.test")
    assert.strictEqual(body({ from: at("nobody") })["from"], "nobody")
    assert.strictEqual(body({ from: at("") })["from"], "bounces@x.test")
    assert.notProperty(body({ from: undefined }, TO_ANN, ""), "from")
    assert.strictEqual(body({ from: at("shop@x.test", " ") })["from"], "shop@x.test")
    assert.strictEqual(
      body({ from: at("shop@x.test", "A\r\nBcc: b@x.test") })["from"],
      '"A Bcc: b@x.test" <shop@x.test>'
    )
  })

  it("has a subject and a text, on which providers insist, and nothing that the database cannot keep", () => {
    assert.strictEqual(body({ subject: " " })["subject"], "(no subject)")
    assert.strictEqual(body({ subject: "a\r\nb\0 " })["subject"], "a b")
    assert.strictEqual(body({ text: undefined })["text"], "\n")
    assert.notProperty(body({ text: undefined, html: "<p>" }), "text")
    assert.deepInclude(body({ text: "a\0b\ud800", html: "c\0" }), { text: "ab\ufffd", html: "c" })
  })

  it("MAIL-11: keeps the first of each header field that a request may have", () => {
    const headers = [
      { name: "X-Order", value: "17\r\n18" },
      { name: "x-order", value: "19" },
      { name: "Subject", value: "Hello" },
      { name: "X-Postlane-Anything", value: "1" },
      { name: "In-Reply-To", value: "<a@x.test>" }
    ]
    assert.deepStrictEqual(body({ headers })["headers"], { "X-Order": "17 18", "In-Reply-To": "<a@x.test>" })
  })

  it("names each attachment, and shows those that the text shows", () => {
    const part = {
      filename: "a.pdf",
      mediaType: "application/pdf",
      content: "aGk=",
      contentId: undefined,
      inline: false
    }
    const attached = (change: Partial<SubmittedMail["parts"][number]>, html?: string) =>
      (body({ html, parts: [{ ...part, ...change }] })["attachments"] as ReadonlyArray<unknown>)[0]
    const plain = { filename: "a.pdf", contentType: "application/pdf", content: "aGk=" }
    assert.deepStrictEqual(attached({}), plain)
    for (const [mediaType, name] of [
      ["text/plain", "attachment-1.txt"],
      ["image/x-icon", "attachment-1.icon"],
      ["image/png", "attachment-1.png"],
      ["nothing", "attachment-1.bin"]
    ] as const)
      assert.deepInclude(attached({ filename: undefined, mediaType }), {
        filename: name,
        contentType: mediaType === "nothing" ? "application/octet-stream" : mediaType
      })
    const second = body({ parts: [part, { ...part, filename: " \n" }] })["attachments"]
    assert.deepInclude((second as ReadonlyArray<unknown>)[1], { filename: "attachment-2.pdf" })
    assert.deepInclude(attached({ filename: "x".repeat(300) }), { filename: "x".repeat(255) })
    // Shown inline, or by its id in the text.
    assert.deepStrictEqual(attached({ contentId: "<logo>" }), plain)
    assert.deepInclude(attached({ contentId: " <logo> ", inline: true }), { contentId: "logo" })
    assert.deepInclude(attached({ contentId: "logo" }, '<img src="cid:logo">'), { contentId: "logo" })
    assert.deepStrictEqual(attached({ contentId: "logo" }, '<img src="cid:other">'), plain)
    assert.deepStrictEqual(attached({ contentId: "two words", inline: true }), plain)
    assert.deepStrictEqual(attached({ inline: true }), plain)
  })
})
