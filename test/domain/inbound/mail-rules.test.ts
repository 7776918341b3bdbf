import { Schema } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import {
  chooseAttachment,
  describeFile,
  MAX_ATTACHMENT_BYTES
} from "../../../src/domain/inbound/attachment-choice.ts"
import { automaticReason, silenceReason } from "../../../src/domain/inbound/automatic-mail.ts"
import { MAX_MAIL_BYTES, type MailHeader, type MailPart } from "../../../src/domain/inbound/incoming-mail.ts"
import { judgeSender, UNTRUSTED_PEER } from "../../../src/domain/inbound/judge-sender.ts"
import {
  dkimSignatures,
  isWrittenTo,
  malformation,
  messageIdOf,
  referencesOf,
  replySubject,
  signatureTexts
} from "../../../src/domain/inbound/mail-headers.ts"
import { MailOutcome } from "../../../src/domain/inbound/mail-outcome.ts"
import { estimatePages } from "../../../src/domain/inbound/page-class.ts"
import {
  fileNameOf,
  legibilityHeaders,
  legibilityOf,
  PIPELINE_HEADERS
} from "../../../src/domain/inbound/pipeline-wire.ts"
import { ReplyContent, templateOf } from "../../../src/domain/inbound/reply-content.ts"

const ann = { name: undefined, local: "ann", domain: "reader.test" }
const PDF = "convert@postlane.test"
const header = (name: string, value: string): MailHeader => ({ name, value })
const times = <A>(count: number, one: A): ReadonlyArray<A> => Array.from({ length: count }, () => one)

describe("who is heard (INBOUND-4)", () => {
  const rules = { trustedHops: ["mx.hop.test"], trustsLoopback: false }
  const judge = (
    headers: ReadonlyArray<MailHeader>,
    change: { readonly from?: ReadonlyArray<string>; readonly peerTrusted?: boolean } = {}
  ) => {
    const { from = ["ann@reader.test"], peerTrusted = true } = change
    const all = [
      header("authentication-results", "mx.hop.test; dmarc=pass header.from=reader.test"),
      header("from", "ann@reader.test"),
      ...headers
    ]
    const judged = judgeSender(
      { headers: all, from },
      { envelopeFrom: "ann@reader.test", peerTrusted },
      rules
    )
    return judged.sender === undefined ? judged.outcome : judged.sender.local
  }

  it("is the one author of a mail that is as mail programs write it, and comes from a trusted hop", () => {
    assert.strictEqual(judge([]), "ann")
    assert.strictEqual(judge([], { from: [] }), "no_sender")
    assert.strictEqual(judge([], { from: ["ann@reader.test", "bob@reader.test"] }), "no_sender")
    assert.strictEqual(judge([], { peerTrusted: false }), "unverified")
    assert.strictEqual(judge([header("to", "a@x.test"), header("to", "b@x.test")]), "malformed")
    const failed = judgeSender(
      { headers: [header("from", "ann@reader.test")], from: ["ann@reader.test"] },
      { envelopeFrom: "", peerTrusted: true },
      rules
    )
    assert.strictEqual(failed.sender === undefined && failed.outcome, "unverified")
    // Where the peer is a stranger nothing else is said.
    const stranger = judgeSender({ headers: [], from: [] }, { envelopeFrom: "", peerTrusted: false }, rules)
    assert.strictEqual(stranger.sender === undefined && stranger.reason, UNTRUSTED_PEER)
  })

  it("is nobody whose mail has two of what identifies it, or more signatures than any", () => {
    const malformed = (headers: ReadonlyArray<MailHeader>) => malformation({ headers }) !== undefined
    for (const name of ["message-id", "to", "cc"]) {
      assert.isFalse(malformed([header(name, "a")]))
      assert.isTrue(malformed([header(name, "a"), header("x-other", "b"), header(name, "a")]), name)
    }
    assert.isFalse(malformed([header("received", "a"), header("received", "b")]))
    assert.isFalse(malformed(times(20, header("dkim-signature", "b=AA"))))
    assert.isTrue(malformed(times(21, header("dkim-signature", "b=AA"))))
  })
})

describe("how a mail ends", () => {
  it("with an answer to who sent a document or may not, and in silence", () => {
    const answered =
      "success error insufficient unregistered no_attachment unsupported too_large misaddressed"
    const silent = "duplicate automatic unverified no_sender limited suppressed malformed"
    assert.deepStrictEqual(MailOutcome.literals.toSorted(), `${answered} ${silent}`.split(" ").toSorted())
  })
})

describe("whom a mail was written to (INBOUND-6)", () => {
  const signed = (domain: string, covers: string) =>
    header("dkim-signature", `d=${domain}; h=${covers}; b=QUJD`)
  const written = (
    to: ReadonlyArray<string>,
    cc: ReadonlyArray<string>,
    ...headers: ReadonlyArray<MailHeader>
  ) => isWrittenTo({ headers, to, cc }, ann, new Set([PDF]))

  it("is who stands in To or Cc, in whatever spelling", () => {
    assert.isTrue(written([PDF], []))
    assert.isTrue(written(["bob@x.test", "Convert@Postlane.TEST"], []))
    assert.isTrue(written([], ["bob@x.test", PDF]))
    assert.isFalse(written(["bob@x.test"], ["cy@x.test"]))
    assert.isFalse(written(["no address"], [""]))
    assert.isFalse(written([], []))
  })

  it("is who stands in Cc only where that was signed with To: a recipient could send the mail on with another", () => {
    const cc = [PDF]
    assert.isFalse(written([], cc, signed("reader.test", "from:to")))
    assert.isTrue(written([PDF], [], signed("reader.test", "from:to")), "To was signed")
    assert.isTrue(written([], cc, signed("reader.test", "from:to:Cc")))
    assert.isTrue(written([], cc, signed("reader.test", "from:subject")), "it signed no recipients at all")
    for (const aligned of ["reader.test", "post.reader.test", "READER.test", "test"])
      assert.isFalse(written([], cc, signed(aligned, "to")), aligned)
    for (const other of ["evil.test", "evilreader.test", "reader.test.evil.example", ""])
      assert.isTrue(written([], cc, signed(other, "to")), other)
    assert.isFalse(written([], cc, signed("evil.test", "to:cc"), signed("reader.test", "to")))
  })
})

describe("signatures and threads", () => {
  it("a signature is read up to 10,000 characters, by its tags", () => {
    const of = (value: string) => dkimSignatures([header("dkim-signature", value)])
    const long = (length: number) => `d=x.test; b=QUJD; n=${"x".repeat(length - 20)}`
    assert.lengthOf(long(10_000), 10_000)
    assert.lengthOf(of(long(10_000)), 1)
    assert.lengthOf(of(long(10_001)), 0)
    assert.deepStrictEqual(of(" d = X.test ; h = From : To ;; =z; b = Q U J D = ; x"), [
      { domain: "x.test", covers: new Set(["from", "to"]), value: "QUJD" }
    ])
    assert.deepStrictEqual(of("b=QUJDR"), [{ domain: "", covers: new Set([""]), value: "QUJD" }])
    assert.strictEqual(of("b=QUJD; bx")[0]?.value, "QUJD", "what has no value is no tag")
    for (const none of ["", "b=", "d=x.test", "=QUJD"]) assert.deepStrictEqual(of(none), [])
    assert.deepStrictEqual(dkimSignatures([header("x-dkim-signature", "b=QUJD")]), [])
    assert.deepStrictEqual(signatureTexts([header("dkim-signature", "b=QUJD")], "ann@reader.test"), [
      '["dkim","QUJD","ann@reader.test"]'
    ])
  })

  it("an id is what a reply can cite: the first of the first field, of 998 printable characters at most", () => {
    const of = (...values: ReadonlyArray<string>) =>
      messageIdOf([header("x-other", "<x@x>"), ...values.map((value) => header("message-id", value))])
    assert.strictEqual(of(" (c) <a@x> <b@x>", "<c@x>"), "<a@x>")
    assert.isUndefined(of())
    assert.isUndefined(of("a@x"))
    assert.isUndefined(of("<\u00e4@x>"))
    assert.strictEqual(of(`<${"a".repeat(996)}>`)?.length, 998)
    assert.isUndefined(of(`<${"a".repeat(997)}>`))
  })

  it("References keep 20 earlier ids and each that can be cited, and the mail's own once", () => {
    const own = header("message-id", "<own@x>")
    const of = (references: string, more: ReadonlyArray<MailHeader> = []) =>
      referencesOf([own, header("references", references), ...more])?.split(" ")
    assert.deepStrictEqual(of("<a@x> <own@x><b@x> <\u00e4@x>"), ["<a@x>", "<b@x>", "<own@x>"])
    assert.deepStrictEqual(of(" ", [header("in-reply-to", "<r@x>")]), ["<r@x>", "<own@x>"])
    assert.deepStrictEqual(of("<a@x>", [header("in-reply-to", "<r@x>")]), ["<a@x>", "<own@x>"])
    const ids = (count: number) => Array.from({ length: count }, (_, at) => `<${at}@x>`)
    assert.deepStrictEqual(of(ids(20).join("")), [...ids(20), "<own@x>"])
    assert.deepStrictEqual(of(ids(21).join("")), ["<0@x>", ...ids(21).slice(2), "<own@x>"])
    assert.deepStrictEqual(of(`<${"a".repeat(996)}> <${"b".repeat(997)}>`), [
      `<${"a".repeat(996)}>`,
      "<own@x>"
    ])
    assert.deepStrictEqual(of(`<a@x>${" ".repeat(20_000)}<b@x>`), ["<a@x>", "<own@x>"])
  })

  it("a subject is repeated up to 200 characters, whole ones", () => {
    assert.strictEqual(replySubject("  A\tb  "), "Re: A b")
    assert.strictEqual(replySubject("\u202eabc"), "Re: abc")
    assert.strictEqual(replySubject("😀".repeat(201)), `Re: ${"😀".repeat(200)}`)
    assert.strictEqual(replySubject("Regarding"), "Re: Regarding")
  })
})

describe("what only programs send", () => {
  it("each mark of one is enough, and of several the first is named", () => {
    const reason = (...headers: ReadonlyArray<MailHeader>) => automaticReason({ headers }, "a@x.test", ann)
    for (const mark of ["x-autoreply", "x-autorespond", "x-autoresponder", "x-failed-recipients", "x-loop"])
      assert.strictEqual(reason(header(mark, "x")), mark)
    assert.strictEqual(reason(header("x-loop", "x"), header("x-autoreply", "x")), "x-loop")
    assert.strictEqual(reason(header("list-id", "x"), header("list-post", "x")), "mailing list (list-id)")
    for (const value of ["auto-reply", "auto_reply", " , Bulk"])
      assert.strictEqual(reason(header("precedence", value)), "Precedence")
    assert.strictEqual(reason(header("auto-submitted", " ;auto-generated")), "Auto-Submitted")
    assert.isUndefined(reason(header("auto-submitted", " ")))
    assert.isUndefined(reason(header("auto-submitted", "NO; x=auto-generated")))
    assert.strictEqual(reason(header("content-type", " Multipart/Report; x")), "delivery report")
    assert.isUndefined(reason(header("content-type", "multipart/mixed")))
    assert.strictEqual(
      reason(header("return-path", "a@x"), header("return-path", " < > ")),
      "null return path"
    )
  })

  it("a responder's answer cites ours by either field", () => {
    const silent = (...headers: ReadonlyArray<MailHeader>) =>
      silenceReason({ headers }, "a@x.test", ann, { isOrder: true, ownAddresses: new Set() }) !== undefined
    const replied = header("auto-submitted", "auto-replied")
    assert.isFalse(silent(replied), "it answers nothing of ours")
    assert.isTrue(silent(replied, header("references", "<ours@x>")))
    assert.isTrue(silent(replied, header("in-reply-to", "<ours@x>")))
    assert.isFalse(silent(header("auto-submitted", "auto-notified"), header("references", "<ours@x>")))
  })
})

describe("attached files", () => {
  const at = (...parts: ReadonlyArray<readonly [offset: number, bytes: ReadonlyArray<number> | string]>) => {
    const head = new Uint8Array(32)
    for (const [offset, bytes] of parts)
      head.set(typeof bytes === "string" ? Buffer.from(bytes) : bytes, offset)
    return head
  }
  const kind = (filename: string, head = at([0, "text"]), mediaType = "application/octet-stream") =>
    describeFile(head, { filename, mediaType })

  it("are called what they are: by their first bytes, then by their name, then by their type", () => {
    assert.strictEqual(kind("a.pdf", new Uint8Array()), "an empty file")
    const zip = at([0, [0x50, 0x4b, 3, 4]])
    for (const [name, what] of [
      ["docx", "a Word document"],
      ["odt", "a text document"],
      ["xlsx", "a spreadsheet"],
      ["ods", "a spreadsheet"],
      ["pptx", "a presentation"],
      ["epub", "an e-book"],
      ["zip", "an archive"]
    ] as const) {
      assert.strictEqual(kind(`a.${name.toUpperCase()}`, zip), what)
      assert.strictEqual(kind(`a.${name}`), what)
    }
    for (const [name, what] of [
      ["doc", "a Word document"],
      ["xls", "a spreadsheet"],
      ["ppt", "a presentation"],
      ["html", "an HTML page"],
      ["htm", "an HTML page"],
      ["txt", "a text file"],
      ["md", "a text file"],
      ["csv", "a table of values"],
      ["eml", "a mail"]
    ] as const)
      assert.strictEqual(kind(`a.${name}`), what)
    assert.strictEqual(kind("a.unknown", zip), "an archive")
    assert.strictEqual(kind("nameless", zip), "an archive")
    for (const other of [
      [0x51, 0x4b, 3, 4],
      [0x50, 0x4c, 3, 4],
      [0x50, 0x4b, 9, 4],
      [0x50, 0x4b, 3, 9]
    ])
      assert.strictEqual(kind("a.docx", at([0, other])), "a Word document", "by its name")
    // What the bytes say counts before the name.
    assert.strictEqual(kind("a.docx", at([0, "GIF8"])), "a picture")
    for (const [type, what] of [
      ["message/rfc822", "a mail"],
      ["image/x-new", "a picture"],
      ["audio/ogg", "a recording"],
      ["video/mp4", "a recording"],
      ["text/plain", "a file of another kind"],
      ["x/message/", "a file of another kind"],
      ["x/image/", "a file of another kind"],
      ["x/audio/", "a file of another kind"],
      ["x/video/", "a file of another kind"]
    ] as const)
      for (const name of ["a", "a.pdf"]) assert.strictEqual(kind(name, at([0, "text"]), type), what, type)
  })

  it("are those that a person attached: no picture of the text, and none of a program's parts", () => {
    const part = (change: Partial<MailPart>): MailPart => ({
      filename: "a.txt",
      mediaType: "text/plain",
      inline: false,
      bytes: 4,
      head: at([0, "text"]),
      sha256: "",
      pdf: undefined,
      ...change
    })
    const choice = (change: Partial<MailPart>) => chooseAttachment([part(change)])
    assert.deepInclude(choice({}), { _tag: "Unsupported", filename: "a.txt", found: "a text file" })
    for (const none of [
      { inline: true },
      { inline: true, mediaType: "image/png" },
      { mediaType: "text/calendar" },
      { bytes: 0, filename: undefined }
    ])
      assert.deepStrictEqual(choice(none), { _tag: "None" }, JSON.stringify(none))
    for (const one of [
      { inline: true, mediaType: "application/zip" },
      { inline: true, mediaType: "x/image/" },
      { inline: true, mediaType: "x/text/" },
      { bytes: 0 },
      { filename: undefined }
    ])
      assert.strictEqual(choice(one)._tag, "Unsupported", JSON.stringify(one))
    assert.deepInclude(choice({ filename: undefined }), { filename: "attachment" })
    assert.deepInclude(choice({ filename: undefined, pdf: {}, mediaType: "text/calendar" }), {
      _tag: "Pdf",
      filename: "document.pdf"
    })
    for (const mediaType of ["application/pkcs7-mime", "application/x-pkcs7-mime"])
      assert.strictEqual(choice({ mediaType, filename: "smime.p7m" })._tag, "Sealed")
    assert.strictEqual(chooseAttachment([])._tag, "None")
  })

  it("INBOUND-1, INBOUND-8, INBOUND-11: have these limits", () => {
    assert.strictEqual(MAX_MAIL_BYTES, 41_943_040)
    assert.strictEqual(MAX_ATTACHMENT_BYTES, 26_214_400)
    assert.deepStrictEqual([0, 1, 100_000, 100_001, 250_000].map(estimatePages), [1, 1, 1, 2, 3])
  })
})

describe("what a result lacks, between the mail's part and the pipeline's", () => {
  it("arrives as it was said", () => {
    const pages = fc.array(fc.integer({ min: 1, max: 9999 }), { maxLength: 20 })
    fc.assert(
      fc.property(pages, pages, fc.boolean(), (unreadablePages, poorlyReadPages, hasText) => {
        const said = legibilityOf(
          new Headers(legibilityHeaders({ unreadablePages, poorlyReadPages, hasText }))
        )
        assert.deepStrictEqual(said, {
          unreadablePages,
          ...(poorlyReadPages.length > 0 && { poorlyReadPages }),
          hasText
        })
      })
    )
    const doubtfulPages = [{ reason: "odd_angles", pages: [3, 4] }] as const
    assert.deepStrictEqual(
      legibilityOf(new Headers(legibilityHeaders({ unreadablePages: [], hasText: true, doubtfulPages })))
        .doubtfulPages,
      doubtfulPages
    )
  })

  it("names as many left-out files, and doubtful pages, as fit", () => {
    const leftOut = { portfolio: true, files: ["a.txt", "b.txt"], fileCount: 2, remarks: 1 }
    const said = (left: typeof leftOut) => {
      const headers = legibilityHeaders({ unreadablePages: [], hasText: true, leftOut: left })
      assert.isAtMost((headers[PIPELINE_HEADERS.leftOut] ?? "").length, 2000)
      return legibilityOf(new Headers(headers)).leftOut
    }
    assert.deepStrictEqual(said(leftOut), leftOut)
    const long = { ...leftOut, files: ["a.txt", "ü".repeat(150), "ü".repeat(200)], fileCount: 3 }
    assert.deepStrictEqual(said(long), { ...long, files: long.files.slice(0, 2) })
    assert.isUndefined(said({ ...leftOut, fileCount: 0, remarks: 0 }))
    const pages = Array.from({ length: 51 }, (_, at) => at + 1)
    const doubtfulPages = [{ reason: "odd_angles", pages }] as const
    const doubts = legibilityHeaders({ unreadablePages: [], hasText: true, doubtfulPages })
    assert.deepStrictEqual(legibilityOf(new Headers(doubts)).doubtfulPages, [
      { reason: "odd_angles", pages: pages.slice(0, 40) }
    ])
  })

  it("fits into headers, whatever it is, and what is no page is left out", () => {
    const many = Array.from({ length: 3000 }, (_, at) => at + 1)
    const said = legibilityHeaders({ unreadablePages: many, hasText: true })
    assert.lengthOf(said[PIPELINE_HEADERS.unreadablePages]!.split(","), 1000)
    assert.deepStrictEqual(Object.keys(legibilityHeaders({ unreadablePages: [], hasText: true })), [
      PIPELINE_HEADERS.hasText
    ])
    const read = (value: string) =>
      legibilityOf(new Headers({ [PIPELINE_HEADERS.unreadablePages]: value })).unreadablePages
    assert.deepStrictEqual(read("0,1,-2,1.5,x,,7"), [1, 7])
    assert.isTrue(legibilityOf(new Headers()).hasText, "older pipelines say nothing of it")
    assert.isFalse(legibilityOf(new Headers({ [PIPELINE_HEADERS.hasText]: "0" })).hasText)
  })

  it("names the file, or a document where its name cannot be read", () => {
    assert.strictEqual(fileNameOf(encodeURIComponent("b\u00e4r.pdf")), "b\u00e4r.pdf")
    for (const none of [null, undefined, "", "%E0%A4%A"]) assert.strictEqual(fileNameOf(none), "document.pdf")
  })
})

describe("a queued reply", () => {
  it("of an older version lacks nothing that it did not name", () => {
    const success = {
      kind: "success",
      fileName: "a.pdf",
      pages: 1,
      creditsCharged: 1,
      balance: 9,
      ignored: []
    } as const
    assert.deepInclude(templateOf(success, "https://x.test/r"), {
      unreadablePages: [],
      poorlyReadPages: [],
      hasText: true,
      resultUrl: "https://x.test/r"
    })
    const full = { ...success, unreadablePages: [1], poorlyReadPages: [2], hasText: false }
    assert.deepInclude(templateOf(full, undefined), {
      unreadablePages: [1],
      poorlyReadPages: [2],
      hasText: false
    })
    const error = { kind: "error", fileName: "a.pdf", reason: "x" } as const
    assert.strictEqual(templateOf(error, "https://x.test/r"), error)
    for (const plan of ["free", "paid"] as const)
      assert.deepInclude(
        Schema.decodeUnknownSync(ReplyContent)({
          kind: "insufficient-credits",
          fileName: "a.pdf",
          needed: 2,
          balance: 1,
          plan,
          buyUrl: "https://x.test"
        }),
        { plan }
      )
  })
})
