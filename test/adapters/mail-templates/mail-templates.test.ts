import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import {
  cleanLine,
  cleanWithin,
  clip,
  MAX_SUBJECT,
  safeUrl
} from "../../../src/adapters/mail-templates/clean.ts"
import { layer, MAX_HTML_BYTES, renderMail } from "../../../src/adapters/mail-templates/mail-templates.ts"
import { TEMPLATE_SAMPLES } from "../../../src/domain/mail/templates/samples.ts"
import type { MailTemplate } from "../../../src/domain/mail/templates/template.ts"
import { MailTemplates } from "../../../src/ports/mail/mail-provider.ts"
import type { LeftOut } from "../../../src/reader/model/left-out.ts"
import { elementsOf, named, shapeOf } from "./parsed.ts"

const samples = Object.values<MailTemplate>(TEMPLATE_SAMPLES)
const kinds = samples.map((sample) => [sample.kind, sample] as const)

/** Fields whose values are of closed sets. */
const WORDS = new Set(["kind", "plan", "cadence", "outcome"])
const isUrl = (key: string) => /url$/i.test(key)

const mapStrings = <T>(value: T, change: (text: string, key: string) => string, key = ""): T => {
  const changed: unknown =
    typeof value === "string"
      ? WORDS.has(key)
        ? value
        : change(value, key)
      : Array.isArray(value)
        ? value.map((one: unknown) => mapStrings(one, change, key))
        : typeof value === "object" && value !== null
          ? Object.fromEntries(
              Object.entries(value).map(([name, one]: [string, unknown]) => [
                name,
                mapStrings(one, change, name)
              ])
            )
          : value
  return changed as T
}

const hostile = fc.oneof(
  fc.constantFrom(
    `<script>alert(1)</script>`,
    `"><img src=x onerror=alert(1)>`,
    `' onmouseover='alert(1)`,
    `</title></style></head><body><a href="https://evil.test">x</a>`,
    `--><h1>x</h1><!--`,
    `]]>&lt;b&gt;&#60;i&#62;`,
    `</td></tr></table></div><form action="https://evil.test">`,
    `\u202egnp.exe\u0000\u001b[2J\r\nBcc: victim@x.test`,
    `{{constructor}}<%= 1 %>$\{7*7}`,
    "\ud800<\udfff",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)"
  ),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ unit: fc.constantFrom("<", ">", '"', "'", "&", "/", "=", "a", " ", "\n", "\0") })
)
const evilUrl = fc.oneof(
  fc.constantFrom(
    "javascript:alert(1)",
    " java\nscript:alert(1)",
    "JAVASCRIPT:alert(1)//https://x.test",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.test/x",
    "/relative",
    "https://user:secret@evil.test/",
    'https://x.test/"onclick="alert(1)',
    'mailto:a@x.test?subject="><b>',
    "cid:x",
    "",
    `https://x.test/${"a".repeat(3000)}`
  ),
  hostile
)

describe.each(kinds)("the mail %s", (_, sample) => {
  const mail = renderMail(sample)

  it("has a language, a title, one first-level heading, and layout tables that say so", () => {
    expect(mail.html).toMatch(/^<!DOCTYPE html>/)
    expect(named(mail.html, "html")[0]?.attributes).toMatchObject({ lang: "en", dir: "ltr" })
    expect(named(mail.html, "title").map(({ text }) => text)).toEqual([mail.subject])
    expect(named(mail.html, "h1")).toHaveLength(1)
    expect(named(mail.html, "h1")[0]?.text.trim()).not.toBe("")
    // A table is for layout and says so, or holds figures and has a caption and headers with their scope.
    const data = named(mail.html, "table").filter(({ attributes }) => attributes["role"] !== "presentation")
    expect(named(mail.html, "caption")).toHaveLength(data.length)
    for (const { attributes } of named(mail.html, "th")) expect(attributes["scope"]).toMatch(/^(?:col|row)$/)
    expect(named(mail.html, "th").length).toBeGreaterThanOrEqual(data.length * 3)
  })

  it("tells clients that it has a dark side, and loads nothing", () => {
    const metas = named(mail.html, "meta").map(({ attributes }) => attributes)
    expect(metas).toContainEqual({ name: "color-scheme", content: "light dark" })
    expect(named(mail.html, "style")[0]?.text).toContain("prefers-color-scheme:dark")
    expect(mail.html).not.toMatch(/url\(|@import|<(?:script|img|link|iframe|object|form)\b/i)
  })

  it("has links whose words tell where they lead, each once", () => {
    const links = named(mail.html, "a")
    for (const { attributes, text } of links) {
      expect(attributes["href"]).toMatch(/^(?:https?|mailto):/)
      expect(text.trim()).not.toMatch(/^(?:|here|click here|link|more|open)$/i)
    }
    expect(new Set(links.map(({ text }) => text)).size).toBe(links.length)
  })

  it("says the same in plain text: every word, every figure, every address", () => {
    const shown = elementsOf(mail.html).filter(
      ({ attributes, name }) =>
        // Every piece that shows words has one of these classes, or is an entry or a link in one that has.
        (/^(?:ink|muted)$/.test(attributes["class"] ?? "") && name !== "ul") || name === "li" || name === "a"
    )
    const flat = mail.text.replaceAll(/[>\s]+/g, " ")
    for (const { attributes } of named(mail.html, "a")) {
      expect(mail.text).toContain(attributes["href"]?.replace(/^mailto:/, ""))
    }
    for (const { name, attributes, text } of shown) {
      for (const word of text.split(/\s+/)) {
        // Where there are two columns, the text leaves out their names.
        if (name === "th" && attributes["scope"] === "col") continue
        expect(flat).toContain(word)
      }
    }
    expect(mail.text).not.toMatch(/<\/?[a-z]+[ >]|&(?:amp|lt|gt|quot);/)
  })

  it("no value makes an element, an attribute or a link", () => {
    const words = mapStrings(sample, (text, key) => (isUrl(key) ? text : "word"))
    const shape = shapeOf(renderMail(words).html)
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 30, maxLength: 30 }), (values) => {
        let next = 0
        const rendered = renderMail(
          mapStrings(sample, (text, key) => (isUrl(key) ? text : `x${values[next++ % values.length]}`))
        )
        expect(shapeOf(rendered.html)).toEqual(shape)
        expect(rendered.subject.length).toBeLessThanOrEqual(MAX_SUBJECT)
        // oxlint-disable-next-line no-control-regex -- what must not be there
        expect(rendered.subject).not.toMatch(/[\u0000-\u001f\u007f\u2028\u2029]/)
        expect(rendered.subject.trim()).not.toBe("")
        expect(`${rendered.html}${rendered.text}`.isWellFormed()).toBe(true)
      }),
      { numRuns: 60 }
    )
  })

  it("links lead to http, https and mailto alone, whatever the address", () => {
    const safe = named(mail.html, "a").length
    const known = new Set(elementsOf(mail.html).flatMap(({ attributes }) => Object.keys(attributes)))
    fc.assert(
      fc.property(evilUrl, (url) => {
        const rendered = renderMail(mapStrings(sample, (text, key) => (isUrl(key) ? url : text)))
        const links = named(rendered.html, "a")
        expect(links.length).toBeLessThanOrEqual(safe)
        for (const { attributes } of links) {
          const href = attributes["href"]!
          expect(href).toMatch(/^(?:https?:\/\/|mailto:)/)
          expect(href).not.toMatch(/[\s"<>]/)
          expect(rendered.text).toContain(href.replace(/^mailto:/, ""))
        }
        const names = elementsOf(rendered.html).flatMap(({ attributes }) => Object.keys(attributes))
        expect(names.filter((name) => !known.has(name))).toEqual([])
      }),
      { numRuns: 60 }
    )
  })

  it("stays small, however much it is given", () => {
    const endless = mapStrings(sample, (text, key) =>
      isUrl(key) ? `${text}?${"&".repeat(1900)}` : "&€\n".repeat(40_000)
    )
    const many = Object.fromEntries(
      Object.entries(endless).map(([key, value]: [string, unknown]) => [
        key,
        Array.isArray(value) ? Array.from({ length: 500 }, () => value[0] as unknown) : value
      ])
    ) as MailTemplate
    const rendered = renderMail(many)
    expect(Buffer.byteLength(rendered.html)).toBeLessThan(MAX_HTML_BYTES)
    expect(rendered.subject.length).toBeLessThanOrEqual(MAX_SUBJECT)
  })

  it("comes out the same each time, through the port", async () => {
    const again = await Effect.runPromise(
      MailTemplates.use(({ render }) => render(sample)).pipe(Effect.provide(layer))
    )
    expect(again).toEqual(mail)
  })
})

describe("what the mails say", () => {
  it.each([
    ["contact", ["Contact form: Ann Reader"], ["can you convert scanned papers", "ann@reader.test"]],
    ["feedback", ["Feedback: 4 of 5"], ["4 of 5", "/files", "formulas could be larger"]],
    [
      "share",
      ["Ann Reader shared annual-report.pdf with you"],
      [
        "The figures are on page 3.",
        "https://postlane.test/shared/4711?download=1&lang=en",
        "3 February 2026 at 10:00 UTC"
      ]
    ],
    [
      "team-invite",
      ["invites you to the team of"],
      ["https://postlane.test/invites/4711", "3 February 2026"]
    ],
    ["account-deleted", ["Your account was deleted"], ["ann@reader.test", "3 February 2026"]],
    [
      "receipt",
      ["Receipt R-2026-0042: $37.50"],
      ["1,000 credits: $40.00", "Discount: -$2.50", "Total: $37.50"]
    ],
    ["magic-link", ["sign-in link for Spring offer"], ["15 minutes", "token=4711"]],
    ["outreach", ["Documents that everybody"], ["1 Example Street", "Unsubscribe", "/unsubscribe/4711"]],
    [
      "audit-digest",
      ["Weekly digest: 3 failed"],
      ["Conversions: Count: 1,234; Failed: 3", "Failed.", "17 more are not listed", "/dashboard"]
    ],
    [
      "alert",
      ["[Postlane] A mail bounced: bob@reader.test"],
      [
        "Reason: 550 5.1.1",
        "Category: transactional",
        "Provider: Resend",
        "Send id: 0199a000",
        "3 February 2026 at 10:00 UTC",
        "/admin/email-log/0199a000",
        "/admin/suppressions?email=bob%40reader.test"
      ]
    ],
    ["alarm", ["[Postlane] Alarm: Sends fail over"], ["3 sends failed over", "look at the log", "/admin"]],
    ["alert-test", ["A test of the alerts"], ["ann@example.com asked", "/admin/notifications"]],
    ["unregistered", ["Register"], ["ann@reader.test", "https://postlane.test/register"]],
    ["no-attachment", ["No PDF"], ["convert@legacy.postlane.test", "one PDF"]],
    [
      "misaddressed",
      ["How to send a file"],
      ["convert@legacy.postlane.test", "To or Cc", "No credits were charged"]
    ],
    ["unsupported-file", ["report.docx"], ["a Word document", "only PDF files are accepted by email"]],
    [
      "insufficient-credits",
      ["annual-report.pdf"],
      ["24", "Your balance: 7", "https://postlane.test/credits"]
    ],
    ["processing-started", ["Converting annual-report.pdf"], ["24 pages", "appendix.pdf"]],
    [
      "success",
      ["Converted: annual-report.pdf"],
      ["Pages: 24", "Credits charged: 24", "Credits left: 1,076", "/results/4711", "appendix.pdf"]
    ],
    ["error", ["Not converted: annual-report.pdf"], ["encrypted", "No credits were charged"]],
    [
      "bulk-completed",
      ["1 of 3 files converted"],
      ["one.pdf", "Completed", "Failed", "Cancelled", "/shared/1"]
    ]
  ] as const)("%s", (kind, subject, text) => {
    const mail = renderMail(TEMPLATE_SAMPLES[kind])
    for (const part of subject) expect(mail.subject).toContain(part)
    for (const part of text) expect(mail.text).toContain(part)
  })

  it("leaves out what is not known", () => {
    const { feedback, processing, success } = {
      feedback: renderMail({
        kind: "feedback",
        email: undefined,
        rating: undefined,
        message: "m",
        page: undefined
      }),
      processing: renderMail({
        kind: "processing-started",
        fileName: "f.pdf",
        pages: undefined,
        ignored: []
      }),
      success: renderMail({
        ...TEMPLATE_SAMPLES.success,
        resultUrl: undefined,
        ignored: [],
        creditsCharged: 1
      })
    }
    expect(feedback.text).not.toMatch(/undefined|of 5|Page:/)
    expect(processing.text).not.toMatch(/undefined|pages|attachments/)
    expect(success.text).toContain("attached to this mail")
    expect(named(success.html, "a")).toHaveLength(0)
  })

  it("DOC-16: names what the PDF holds that was not converted, and does not pass a cover sheet for the document", () => {
    const mailOf = (leftOut: LeftOut) => renderMail({ ...TEMPLATE_SAMPLES.success, leftOut })
    const leftOut = { portfolio: false, files: ["<b>boats</b>.csv"], fileCount: 3, remarks: 2 }
    const { html, subject, text } = mailOf(leftOut)
    expect(subject).toBe("Converted: annual-report.pdf")
    expect(text).toMatch(
      /3 files attached to the PDF were not converted\..*:\s+- <b>boats<\/b>\.csv\s+- 2 more\s+2 notes or remarks in the PDF were not converted\./s
    )
    expect(html).not.toContain("<b>")
    const cover = mailOf({ ...leftOut, portfolio: true, remarks: 0 })
    expect(cover.subject).toBe("Only its cover sheet was converted: annual-report.pdf")
    expect(cover.text).toMatch(/is a portfolio: .*version of the cover sheet of.*3 files in this portfolio/s)
    expect(cover.text).not.toContain("Your file is converted")
    const names = Array.from({ length: 5000 }, (_, at) => `file-${at}.pdf`)
    const many = mailOf({ ...leftOut, files: names, fileCount: 6000 }).text
    expect(many).toContain(
      `${new Intl.NumberFormat("en-US").format(6000 - many.match(/^- file-/gm)!.length)} more`
    )
  })

  it("an alert leaves out what is not known, and an alarm that is over gives no advice", () => {
    const unknown = renderMail({
      ...TEMPLATE_SAMPLES.alert,
      recipients: [],
      subject: " \u0000",
      reason: undefined,
      category: undefined,
      source: undefined,
      at: undefined
    })
    expect(unknown.subject).toBe("[Postlane] A mail bounced: unknown recipient")
    expect(unknown.text).not.toMatch(/undefined|\(empty\)|(?:To|Subject|Reason|Category|Source|When):/)
    const over = renderMail({ ...TEMPLATE_SAMPLES.alarm, remedy: undefined })
    expect(over.subject).toBe("[Postlane] Alarm over: Sends fail over")
    expect(over.text).not.toMatch(/undefined|look at/)
  })

  it("never drops an entry in silence", () => {
    const items = Array.from({ length: 5000 }, (_, index) => ({
      fileName: `file-${index}.pdf`,
      outcome: "completed" as const,
      noModelPages: 0,
      url: `https://x.test/${index}`
    }))
    const { text } = renderMail({ kind: "bulk-completed", bulkId: "b", items })
    const shown = text.match(/^- file-/gm)!.length
    expect(shown).toBeGreaterThan(10)
    expect(text).toContain(`${new Intl.NumberFormat("en-US").format(5000 - shown)} more`)
    expect(text).toContain("5,000 of 5,000 files converted")
  })

  it("clips without half characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 30 }), (value, limit) => {
        const clipped = clip(value.toWellFormed(), limit)
        expect(clipped.length).toBeLessThanOrEqual(limit)
        expect(clipped.isWellFormed()).toBe(true)
      })
    )
    expect(cleanLine(" a\r\n\tb\u0000 ")).toBe("a b")
    expect(cleanWithin(cleanLine, `a${" ".repeat(20)}b`, 8)).toBe("a b")
    // Of an endless value nobody reads the rest.
    expect(cleanWithin(cleanLine, `a${" ".repeat(40)}b`, 8)).toBe("a …")
    expect(safeUrl("https://x.test/a b")).toBe("https://x.test/a%20b")
  })
})

describe("R2: a reply with a result", () => {
  const textOf = (lacks: {
    readonly hasText: boolean
    readonly unreadablePages: ReadonlyArray<number>
    readonly poorlyReadPages?: ReadonlyArray<number>
    readonly doubtfulPages?: NonNullable<(typeof TEMPLATE_SAMPLES.success)["doubtfulPages"]>
  }) => renderMail({ ...TEMPLATE_SAMPLES.success, ...lacks }).text

  it("names the pages that could not be read, and says that there is no text", () => {
    const text = textOf({ hasText: false, unreadablePages: [3, 17] })
    expect(text).toContain("2 pages could not be read and were not charged")
    expect(text).toMatch(/Page 3[\s\S]*Page 17/)
    expect(text).toContain("no word of text")
  })

  it("names the pages that were not read well, and only those", () => {
    const read = (pages: ReadonlyArray<number>) =>
      textOf({ hasText: true, unreadablePages: [], poorlyReadPages: pages })
    expect(read([3, 17])).toMatch(/2 pages were read from pictures, but not well[\s\S]*Page 3[\s\S]*Page 17/)
    expect(read([4])).toContain("1 page was read from a picture, but not well")
    expect(read([])).not.toContain("not well")
  })

  it("DOC-28: names the pages that need a look, and why", () => {
    const text = textOf({
      hasText: true,
      unreadablePages: [],
      doubtfulPages: [{ reason: "odd_angles", pages: [4] }]
    })
    expect(text.replaceAll(/\s+/g, " ")).toContain("Page 4 needs a look beside the original: some text")
  })

  it("says nothing of it where nothing is lacking", () => {
    expect(textOf({ hasText: true, unreadablePages: [] })).not.toMatch(/could not be read|no word of text/)
  })
})
