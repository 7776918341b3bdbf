import { Stream } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { isPdf } from "../../../src/domain/conversion/file-signatures.ts"
import {
  chooseAttachment,
  MAX_ATTACHMENT_BYTES,
  describeFile
} from "../../../src/domain/inbound/attachment-choice.ts"
import { automaticReason, silenceReason } from "../../../src/domain/inbound/automatic-mail.ts"
import {
  HEAD_BYTES,
  type MailHeader,
  type MailPart,
  type PartNames
} from "../../../src/domain/inbound/incoming-mail.ts"
import {
  dkimSignatures,
  identityText,
  messageIdOf,
  referencesOf,
  replySubject
} from "../../../src/domain/inbound/mail-headers.ts"
import {
  creditsFor,
  estimatePages,
  HIGH_FIDELITY_CREDIT_MULTIPLIER,
  classifyPage
} from "../../../src/domain/inbound/page-class.ts"
import type { Mailbox } from "../../../src/domain/mail/address.ts"
import type { TextRun } from "../../../src/reader/model/page-content.ts"

const text = fc.string({ unit: "binary", maxLength: 80 })
const bytes = fc.uint8Array({ maxLength: 2_000 })
const PDF = new TextEncoder().encode("%PDF-1.7\n")
const ann: Mailbox = { name: undefined, local: "ann", domain: "reader.test" }

/** A part as the reader hands it over. */
const partOf = ({ content, ...names }: PartNames & { readonly content: Uint8Array }): MailPart => ({
  ...names,
  bytes: content.length,
  head: content.slice(0, HEAD_BYTES),
  sha256: "",
  pdf: isPdf(content) ? Stream.make(content) : undefined
})

const partArb: fc.Arbitrary<MailPart> = fc
  .record({
    filename: fc.option(text, { nil: undefined }),
    mediaType: fc.oneof(
      fc.constantFrom("application/pdf", "image/png", "text/calendar", "message/rfc822"),
      text
    ),
    inline: fc.boolean(),
    content: fc.oneof(bytes, fc.constant(PDF), fc.constant(new Uint8Array()))
  })
  .map(partOf)

describe("attachment rules", () => {
  it("any mail gives one choice: its first PDF by content, whatever its name and type say", () => {
    fc.assert(
      fc.property(fc.array(partArb, { maxLength: 8 }), (parts) => {
        const choice = chooseAttachment(parts)
        const first = parts.find(({ pdf }) => pdf !== undefined)
        if (first === undefined) return assert.notStrictEqual(choice._tag, "Pdf")
        assert.strictEqual(choice._tag, "Pdf")
        if (choice._tag !== "Pdf") return
        assert.strictEqual(choice.part, first)
        assert.isBelow(choice.ignored.length, parts.length)
        for (const name of [choice.filename, ...choice.ignored]) assert.match(name, /^[^\p{Cc}/\\]+$/u)
      })
    )
  })

  it("of several PDFs the first is converted, and all else that was handed over is named", () => {
    const part = (filename: string, content: string, mediaType = "application/pdf", inline = false) =>
      partOf({ filename, mediaType, inline, content: new TextEncoder().encode(content) })
    const parts = [
      part("notes.txt", "x", "text/plain"),
      part("one.pdf", "%PDF-1.7 one", "application/octet-stream"),
      part("logo.png", "x", "image/png", true),
      part("two.pdf", "%PDF-1.7 two")
    ]
    const choice = chooseAttachment(parts)
    if (choice._tag !== "Pdf") return assert.fail(choice._tag)
    const { part: chosen, ...rest } = choice
    assert.deepStrictEqual(rest, { _tag: "Pdf", filename: "one.pdf", ignored: ["notes.txt", "two.pdf"] })
    assert.isTrue(parts.indexOf(chosen) === 1)
  })

  it("what stands in an encrypted mail's place, or beside a Mac's file, nobody attached", () => {
    const part = (mediaType: string, content: string, filename: string) =>
      partOf({ filename, mediaType, inline: false, content: new TextEncoder().encode(content) })
    const sealed = (...parts: ReadonlyArray<MailPart>) => {
      const choice = chooseAttachment(parts)
      return choice._tag === "Sealed" ? choice.found : choice._tag
    }
    assert.match(sealed(part("application/pkcs7-mime", "0x", "smime.p7m")), /S\/MIME/)
    const version = part("application/pgp-encrypted", "Version: 1", "version")
    const message = part("application/octet-stream", "-----BEGIN PGP MESSAGE-----\n", "encrypted.asc")
    assert.match(sealed(version, message), /PGP/)
    assert.strictEqual(sealed(message), "Unsupported", "a file that somebody encrypted and attached")
    const pdf = part("application/pdf", "%PDF-1.7", "a.pdf")
    const fork = part("application/applefile", "\0\u0005\u0016\u0007", "a.pdf")
    const choice = chooseAttachment([fork, pdf])
    assert.deepStrictEqual(choice._tag === "Pdf" && choice.ignored, [])
    assert.strictEqual(sealed(part("application/pkcs7-mime", "0x", "smime.p7m"), pdf), "Pdf")
  })

  it("25 MB goes, a byte more does not", () => {
    const of = (size: number) => {
      const content = new Uint8Array(size)
      content.set(PDF)
      const part = partOf({ filename: "a.pdf", mediaType: "application/pdf", inline: false, content })
      return chooseAttachment([part])._tag
    }
    assert.strictEqual(MAX_ATTACHMENT_BYTES, 25 * 1024 * 1024)
    assert.deepStrictEqual([of(MAX_ATTACHMENT_BYTES), of(MAX_ATTACHMENT_BYTES + 1)], ["Pdf", "TooLarge"])
  })

  it("every file can be described", () => {
    fc.assert(
      fc.property(bytes, text, text, (content, name, type) => {
        assert.match(describeFile(content, { filename: name, mediaType: type }), /^an? \w/)
      })
    )
  })
})

describe("automatic mail (RFC 3834)", () => {
  const reason = (headers: ReadonlyArray<MailHeader>, from = "ann@reader.test", sender: Mailbox = ann) =>
    automaticReason({ headers }, from, sender)

  it("a person's mail is none", () => {
    for (const headers of [
      [],
      [{ name: "auto-submitted", value: "no" }],
      [{ name: "precedence", value: "first-class" }],
      [{ name: "x-auto-response-suppress", value: "All" }],
      [{ name: "list-unsubscribe", value: "<mailto:x>" }],
      [{ name: "list-unsubscribe-post", value: "List-Unsubscribe=One-Click" }],
      [{ name: "return-path", value: "<ann@reader.test>" }]
    ]) {
      assert.isUndefined(reason(headers))
    }
  })

  it("any one mark is enough, beside whatever else a mail holds", () => {
    const marks: ReadonlyArray<MailHeader> = [
      { name: "auto-submitted", value: "auto-generated" },
      { name: "auto-submitted", value: "Auto-Replied; owner-email=x" },
      { name: "return-path", value: "<>" },
      { name: "precedence", value: "Bulk" },
      { name: "precedence", value: "list" },
      { name: "precedence", value: "junk" },
      { name: "list-id", value: "<a.b>" },
      { name: "x-autoreply", value: "yes" },
      { name: "content-type", value: "multipart/report; report-type=delivery-status" }
    ]
    const header = fc.record({ name: fc.constantFrom("subject", "x-other", "received", "to"), value: text })
    fc.assert(
      fc.property(fc.constantFrom(...marks), fc.array(header), fc.array(header), (mark, before, after) => {
        assert.isString(reason([...before, mark, ...after]))
      })
    )
    assert.isString(reason([], ""))
    assert.isString(reason([], "<>"))
    for (const local of ["MAILER-DAEMON", "postmaster", "no-reply", "noreply+x", "bounces-17"]) {
      assert.isString(reason([], "x@y", { ...ann, local }))
    }
    for (const local of ["norepl", "replyno", "bouncer"])
      assert.isUndefined(reason([], "x@y", { ...ann, local }))
  })

  it("a program's file is an order; our own mail, and a responder's answer to us, never are", () => {
    const silent = (headers: ReadonlyArray<MailHeader>, isOrder: boolean, own: ReadonlyArray<string> = []) =>
      silenceReason({ headers }, "a@x.test", ann, { isOrder, ownAddresses: new Set(own) }) !== undefined
    const scanner = [{ name: "auto-submitted", value: "auto-generated" }]
    const responder = [
      { name: "auto-submitted", value: "auto-replied" },
      { name: "in-reply-to", value: "<ours@x>" }
    ]
    assert.deepStrictEqual(
      [silent(scanner, true), silent(scanner, false), silent([], false), silent(responder, true)],
      [false, true, false, true]
    )
    assert.isFalse(
      silent([{ name: "in-reply-to", value: "<ours@x>" }], false),
      "a person's answer without a file"
    )
    assert.isTrue(silent([], true, ["ann@reader.test"]))
  })
})

describe("credit rules", () => {
  it("every page costs 1 credit, complex or not", () => {
    assert.strictEqual(HIGH_FIDELITY_CREDIT_MULTIPLIER, 1)
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(100_000), (standard, complex) => {
        assert.strictEqual(creditsFor({ standard, complex }), standard + complex)
      })
    )
  })

  it("an estimate is a whole page at least, and grows with the file", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (a, b) => {
        assert.isTrue(Number.isInteger(estimatePages(a)) && estimatePages(a) >= 1)
        if (a <= b) assert.isAtMost(estimatePages(a), estimatePages(b))
      })
    )
  })
})

describe("page classes", () => {
  const run = (line: number, x0: number, x1: number, words = "some words", font = 0): TextRun => ({
    text: words,
    box: { x0, x1, y0: line * 14, y1: line * 14 + 10 },
    baseline: line * 14 + 9,
    edges: [],
    font,
    size: 10,
    angle: 0,
    color: 0,
    mcid: undefined,
    artifact: false,
    hyphenated: false,
    invisible: false
  })
  const lines = Array.from({ length: 40 }, (_, n) => n)
  const page = (runs: ReadonlyArray<TextRun>) => ({ runs, fields: [], width: 600 })
  const fonts = [{ name: "Times" }, { name: "CMMI10" }]

  it("running text is standard; formulas, tables, forms and columns are complex", () => {
    const plain = page(lines.map((line) => run(line, 72, 520)))
    assert.strictEqual(classifyPage("<p>x</p>", plain, fonts), "standard")
    assert.strictEqual(classifyPage("<table><tr><td>x</table>", plain, fonts), "complex")
    assert.strictEqual(classifyPage("<p><math></math>", plain, fonts), "complex")
    const columns = page(lines.flatMap((line) => [run(line, 50, 285), run(line, 315, 550)]))
    assert.strictEqual(classifyPage("", columns, fonts), "complex")
    assert.strictEqual(classifyPage("", page([run(1, 72, 90, "abc", 1)]), fonts), "complex")
    assert.strictEqual(classifyPage("", page([run(1, 72, 90, "x ∈ ℝ")]), fonts), "complex")
    assert.strictEqual(classifyPage("", page([]), fonts), "standard")
  })

  it("columns have a gutter of 9 points in the middle of the page that a fifth of the lines at most cross", () => {
    const columns = (left: number, right: number, crossing = 0, gutter = 9, at = 300) =>
      classifyPage(
        "",
        page([
          ...lines.slice(0, left).map((line) => run(line, 50, at)),
          ...lines.slice(0, right).map((line) => run(line, at + gutter, 550)),
          ...Array.from({ length: crossing }, (_, line) => run(60 + line, 60, 540))
        ]),
        fonts
      ) === "complex"
    assert.isTrue(columns(10, 10))
    assert.isFalse(columns(9, 40))
    assert.isFalse(columns(40, 9))
    // Of unequal ones the shorter has half the lines of the longer.
    assert.isTrue(columns(10, 20))
    assert.isFalse(columns(10, 21))
    assert.isFalse(columns(21, 10))
    assert.isTrue(columns(10, 10, 2))
    assert.isFalse(columns(10, 10, 3))
    assert.isFalse(columns(20, 20, 0, 8))
    // From 0.3 to 0.7 of the width.
    assert.deepStrictEqual(
      [168, 180, 420, 432].map((at) => columns(20, 20, 0, 9, at)),
      [false, true, true, false]
    )
    // Several pieces of one line are one line.
    const pieces = lines
      .slice(0, 9)
      .flatMap((line) => [run(line, 50, 120), run(line, 130, 280), run(line, 320, 550)])
    assert.strictEqual(classifyPage("", page(pieces), fonts), "standard")
  })

  it("what is not of the text makes no columns", () => {
    const isComplex = (change: Partial<TextRun>) =>
      classifyPage(
        "",
        page(
          lines
            .slice(0, 10)
            .flatMap((line) =>
              [run(line, 50, 285), run(line, 315, 550)].map((one) => ({ ...one, ...change }))
            )
        ),
        fonts
      ) === "complex"
    assert.isTrue(isComplex({}))
    assert.isTrue(isComplex({ text: "ab" }))
    for (const change of [{ artifact: true }, { angle: 90 }, { text: "a" }, { text: " a " }])
      assert.isFalse(isComplex(change), JSON.stringify(change))
  })

  it("any page has a class", () => {
    const arb = fc.record({
      line: fc.integer({ min: -5, max: 100 }),
      x0: fc.float(),
      x1: fc.float(),
      words: text,
      font: fc.integer({ min: -1, max: 3 })
    })
    fc.assert(
      fc.property(text, fc.array(arb, { maxLength: 60 }), (html, runs) => {
        const content = page(runs.map(({ font, line, words, x0, x1 }) => run(line, x0, x1, words, font)))
        assert.include(["standard", "complex"], classifyPage(html, content, fonts))
      })
    )
  })
})

describe("identity and thread of a mail", () => {
  it("differs by Message-ID, sender and content, and by nothing else where there is a Message-ID", () => {
    const id = fc.stringMatching(/^<[a-z]{1,9}@[a-z]{1,9}>$/)
    fc.assert(
      fc.property(
        fc.tuple(id, text, text),
        fc.tuple(id, text, text),
        text,
        text,
        ([a, b, c], [x, y, z], raw, other) => {
          const one = identityText([{ name: "message-id", value: a }], b, c, raw)
          const two = identityText([{ name: "message-id", value: x }], y, z, other)
          assert.strictEqual(one === two, a === x && b === y && c === z)
        }
      )
    )
    assert.notStrictEqual(identityText([], "a", "b", "raw 1"), identityText([], "a", "b", "raw 2"))
    assert.strictEqual(identityText([], "a", "b", "raw"), identityText([], "a", "b", "raw"))
  })

  it("without a Message-ID is what its writer wrote, whatever servers put above it on another way", () => {
    const trace = fc.record({
      name: fc.constantFrom("received", "authentication-results", "return-path", "x-spam-status"),
      value: text
    })
    const written = fc.record({
      date: fc.constantFrom("1", "2"),
      subject: fc.constantFrom("a", "b"),
      to: text
    })
    const headersOf = ({ date, subject, to }: { date: string; subject: string; to: string }) => [
      { name: "date", value: `Mon, 30 Nov 2026 10:00:0${date} +0000` },
      { name: "to", value: to },
      { name: "subject", value: subject }
    ]
    fc.assert(
      fc.property(fc.array(trace), written, fc.array(trace), written, (above, mine, other, theirs) => {
        const one = identityText([...above, ...headersOf(mine)], "a", "b", "raw 1")
        assert.strictEqual(one, identityText([...other, ...headersOf(mine)], "a", "b", "raw 2"))
        const isSame = JSON.stringify(mine) === JSON.stringify(theirs)
        assert.strictEqual(one === identityText([...other, ...headersOf(theirs)], "a", "b", "raw 1"), isSame)
      })
    )
    const undated = [{ name: "date", value: " " }]
    assert.notStrictEqual(identityText(undated, "a", "b", "raw 1"), identityText(undated, "a", "b", "raw 2"))
  })

  it("a signature is its bytes, however they are written; whatever else stands there gives none, and no failure", () => {
    const signed = (b: string) => [
      { name: "dkim-signature", value: `v=1; d=Reader.Test; h=From:TO; bh=x=; b=${b}` }
    ]
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(40), (content, width) => {
        const b = Buffer.from(content).toString("base64")
        const folded = b.replaceAll(new RegExp(`.{${width + 1}}`, "g"), "$& \t")
        const [one] = dkimSignatures(signed(b))
        assert.deepStrictEqual(dkimSignatures(signed(folded.replaceAll("=", "")))[0], one)
        assert.deepStrictEqual([one?.domain, one?.covers], ["reader.test", new Set(["from", "to"])])
        assert.deepStrictEqual([...Buffer.from(one?.value ?? "", "base64")], [...content])
      })
    )
    // Bits of the last character that stand for no byte.
    assert.deepStrictEqual(dkimSignatures(signed("QUI=")), dkimSignatures(signed("QUJ=")))
    assert.deepStrictEqual(dkimSignatures(signed("QQ==")), dkimSignatures(signed("QR")))
    fc.assert(
      fc.property(text, (value) => {
        for (const { value: b } of dkimSignatures([{ name: "dkim-signature", value }]))
          assert.notStrictEqual(b, "")
      })
    )
  })

  it("headers of an answer fit into a mail, whatever the mail held", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ name: fc.constantFrom("message-id", "references", "in-reply-to"), value: text })
        ),
        text,
        (headers, subject) => {
          for (const header of [messageIdOf(headers), referencesOf(headers), replySubject(subject)]) {
            if (header !== undefined) assert.match(header, /^[^\p{Cc}]+$/u)
          }
        }
      )
    )
  })

  it("References begin a thread or go on with one, and do not grow for ever", () => {
    const own = { name: "message-id", value: "<own@x>" }
    assert.strictEqual(referencesOf([own]), "<own@x>")
    assert.strictEqual(referencesOf([own, { name: "in-reply-to", value: "<a@x>" }]), "<a@x> <own@x>")
    assert.isUndefined(referencesOf([{ name: "references", value: "<a@x>" }]))
    const many = Array.from({ length: 200 }, (_, n) => `<${n}@x>`).join(" ")
    const kept = referencesOf([own, { name: "references", value: many }])?.split(" ")
    assert.deepStrictEqual(
      [kept?.length, kept?.[0], kept?.at(-2), kept?.at(-1)],
      [21, "<0@x>", "<199@x>", "<own@x>"]
    )
  })

  it("a subject is answered once, not Re: Re:", () => {
    assert.strictEqual(replySubject("RE: re:  Report\r\n 7"), "Re: Report 7")
    assert.isUndefined(replySubject(" Re: "))
    assert.isUndefined(replySubject(undefined))
  })
})
