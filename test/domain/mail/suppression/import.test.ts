import fc from "fast-check"
import { describe, expect, it } from "vitest"

import { recordReader } from "../../../../src/domain/mail/export-records.ts"
import { suppressionReader } from "../../../../src/domain/mail/suppression/import.ts"
import type { SuppressionReason } from "../../../../src/domain/mail/suppression/policy.ts"

const read = (text: string, reason?: SuppressionReason, width = text.length + 1) => {
  const reader = suppressionReader(reason)
  const found: Array<unknown> = []
  for (let at = 0; at < text.length; at += width)
    for (const one of reader.feed(text.slice(at, at + width))) found.push(one)
  for (const one of reader.end()) found.push(one)
  return found
}

const SIGNS = Array.from('{}[]",:\n\r ab@.x\\').concat("email", "bounce", "reason")

const bounce = { email: "a@x.test", reason: "hard_bounce" }
const complaint = { email: "b@x.test", reason: "complaint" }
const manual = { email: "c@x.test", reason: "manual" }

/** As each provider's API and console hand the list out. */
const EXPORTS = {
  "Resend, JSON": JSON.stringify(
    {
      object: "list",
      has_more: false,
      data: [
        { object: "suppression", id: "1", email: "A@x.test", origin: "bounce", source_id: "9" },
        { object: "suppression", id: "2", email: "b@x.test", origin: "complaint", source_id: null },
        { object: "suppression", id: "3", email: "c@x.test", origin: "manual", source_id: null }
      ]
    },
    null,
    2
  ),
  "Resend, CSV":
    "id,email,origin,source_id,created_at\n1,a@x.test,bounce,9,\n2,b@x.test,complaint,,\n3,c@x.test,manual,,\n",
  "Amazon SES, CSV": "a@x.test,BOUNCE\r\nb@x.test, COMPLAINT\r\nc@x.test,manual",
  "Amazon SES, lines": ["a", "b"]
    .map((name, at) => `{"emailAddress":"${name}@x.test","reason":"${["BOUNCE", "COMPLAINT"][at]}"}`)
    .concat('{"emailAddress":"c@x.test","reason":"MANUAL"}')
    .join("\n"),
  "Amazon SES, command line": JSON.stringify({
    SuppressedDestinationSummaries: [
      { EmailAddress: "a@x.test", Reason: "BOUNCE", LastUpdateTime: "2026-01-01T00:00:00Z" },
      { EmailAddress: "b@x.test", Reason: "COMPLAINT", LastUpdateTime: "2026-01-01T00:00:00Z" },
      { EmailAddress: "c@x.test", Reason: "MANUAL", LastUpdateTime: "2026-01-01T00:00:00Z" }
    ]
  }),
  "Postmark, JSON": JSON.stringify({
    Suppressions: [
      { EmailAddress: "a@x.test", SuppressionReason: "HardBounce", Origin: "Recipient" },
      { EmailAddress: "b@x.test", SuppressionReason: "SpamComplaint", Origin: "Recipient" },
      { EmailAddress: "c@x.test", SuppressionReason: "ManualSuppression", Origin: "Customer" }
    ]
  }),
  "Postmark, CSV":
    '\uFEFF"Email Address","Suppression Reason","Origin"\n"a@x.test","HardBounce","Recipient"\n"b@x.test","SpamComplaint","Recipient"\n"c@x.test","ManualSuppression","Admin"\n'
} as const

describe("an export of suppressions", () => {
  it.each(Object.entries(EXPORTS))("of %s is read, however its bytes arrive", (_, text) => {
    for (const width of [text.length, 1, 3])
      expect(read(text, undefined, width)).toEqual([bounce, complaint, manual])
  })

  it("is understood in every word that an export has for a reason, and in each field that may have it", () => {
    const words = {
      hard_bounce: ["bounce", "Bounced", "Hard Bounce", "HardBounce"],
      complaint: ["complaint", "complained", "SpamComplaint", "spam_report", "spam"],
      manual: ["manual", "ManualSuppression", "unsubscribe", "Unsubscribed"]
    }
    for (const [reason, known] of Object.entries(words))
      for (const word of known)
        for (const field of ["suppression_reason", "reason", "origin", "type"])
          for (const address of ["email", "email_address", "recipient", "address"])
            expect(read(`${address},${field}\na@x.test,${word}\n`)).toEqual([{ email: "a@x.test", reason }])
    // The field that says most comes first, wherever it stands.
    expect(read("email,origin,suppression reason\na@x.test,manual,HardBounce\n")).toEqual([bounce])
    expect(read("email,type,reason\na@x.test,manual,bounce\n")).toEqual([bounce])
    expect(read("address,email,reason\nb@x.test,a@x.test,bounce\n")).toEqual([bounce])
  })

  it("of SendGrid: bounces by their status, what else there is by the reason that the caller names", () => {
    const words = '"550 5.1.1 The account, ""a"", does not\nexist"'
    expect(read(`status,reason,email,created\n5.1.1,${words},a@x.test,1443651125\n`)).toEqual([bounce])
    expect(read('[{"created":1,"email":"a@x.test","reason":"550 no","status":"5.1.1"}]')).toEqual([bounce])
    expect(read("email,ip,created\nb@x.test,10.0.0.1,1\n", "complaint")).toEqual([complaint])
    for (const unknown of ["email,created\nb@x.test,1\n", "email,reason\nb@x.test,constructor\n"])
      expect(read(unknown)).toEqual([{ line: 2, problem: expect.stringContaining("--reason") }])
  })

  it("names each line that cannot be read, and reads the others", () => {
    const rows = [
      "email,reason",
      "a@x.test,bounce",
      "no address,bounce",
      "",
      ",bounce",
      "b@x.test,complaint",
      "x@y,bounce"
    ]
    expect(read(rows.join("\n"))).toEqual([
      bounce,
      { line: 3, problem: expect.any(String) },
      { line: 5, problem: "has no address" },
      complaint,
      { line: 7, problem: expect.stringContaining("no dot") }
    ])
    expect(read('[\n{"email":"a@x.test","reason":"bounce"},\n{"email":,},\n{"email":"b@x.test"')).toEqual([
      bounce,
      { line: 3, problem: "is not JSON" },
      { line: 4, problem: "ends in the middle" }
    ])
    expect(read('email,reason\n"a@x.test,bounce\n')).toEqual([
      { line: 2, problem: "ends within a quotation" }
    ])
  })

  it("reads CSV as spreadsheets write it", () => {
    const fields = (text: string) => {
      const reader = recordReader()
      return [...reader.feed(text), ...reader.end()].map((one) =>
        "fields" in one ? [one.line, Object.fromEntries(one.fields)] : [one.line, one.problem]
      )
    }
    expect(fields('\n a@x.test , bounce ,more\r\n"b@x.test","say ""no"", or\nyes"\n')).toEqual([
      [2, { email: "a@x.test", reason: "bounce", column3: "more" }],
      [3, { email: "b@x.test", reason: 'say "no", or\nyes' }]
    ])
    expect(fields('Email-Address,"Why"\n"a@x.test"x,b"c\n" , "\n')).toEqual([
      [2, { emailaddress: "a@x.testx", why: 'b"c' }],
      [3, { emailaddress: "," }]
    ])
    expect(fields(" ,\n , \n")).toEqual([])
    expect(fields('"a@x.test"\r\n\r\n"b@x.test"\r,x\r\n')).toEqual([
      [1, { email: "a@x.test" }],
      [3, { email: "b@x.test", reason: "x" }]
    ])
    expect(fields("email\n \t\na@x.test\n")).toEqual([[3, { email: "a@x.test" }]])
    expect(fields('a@x.test,\r"b,c"')).toEqual([[1, { email: "a@x.test", reason: "b,c" }]])
    expect(fields('a@x.test,""')).toEqual([[1, { email: "a@x.test", reason: "" }]])
    expect(fields("")).toEqual([])
    expect(fields(" \n ")).toEqual([])
  })

  it("reads every flat object of JSON, in the text that strings are of", () => {
    const fields = (text: string) => {
      const reader = recordReader()
      return [...reader.feed(text), ...reader.end()].map((one) =>
        "fields" in one ? [one.line, Object.fromEntries(one.fields)] : [one.line, one.problem]
      )
    }
    const tricky = { email: " a@x.test ", reason: 'x}{"\\', count: 5 }
    expect(fields(`\n[${JSON.stringify(tricky)},\n{"more":{"email":"b@x.test"}}]`)).toEqual([
      [2, { email: "a@x.test", reason: 'x}{"\\', count: "" }],
      [3, { email: "b@x.test" }]
    ])
    for (const open of ['[{"a":1}', '{"a":"b'])
      expect(fields(open).at(-1)).toEqual(open.startsWith("[") ? [1, { a: "" }] : [1, "ends in the middle"])
    expect(fields('["a')).toEqual([[1, "ends in the middle"]])
  })

  it("takes a record of 65,536 characters, and none of one more", () => {
    for (const [more, found] of [
      ["", [bounce]],
      ["x", [{ line: 2, problem: "is longer than 65536 characters" }]]
    ] as const) {
      const filling = "x".repeat(65_536 - "a@x.test".length - "bounce".length) + more
      expect(read(`note,email,reason\n${filling},a@x.test,bounce\n`)).toEqual(found)
    }
    for (const [more, found] of [
      ["", [bounce]],
      ["x", [{ line: 1, problem: "is longer than 65536 characters" }]]
    ] as const) {
      const record = (note: string) => JSON.stringify({ email: "a@x.test", reason: "bounce", note })
      expect(read(record("x".repeat(65_536 - record("").length) + more))).toEqual(found)
    }
  })

  it("drops a record of megabytes without holding it, and goes on", () => {
    const long = "x".repeat(3_000_000)
    expect(read(`email,reason\n${long},bounce\na@x.test,bounce\n`, undefined, 65_536)).toEqual([
      { line: 2, problem: "is longer than 65536 characters" },
      bounce
    ])
    expect(read(`[{"email":"${long}"},{"email":"a@x.test","reason":"bounce"}]`, undefined, 65_536)).toEqual([
      { line: 1, problem: "is longer than 65536 characters" },
      bounce
    ])
  })

  it("whatever the file holds, it is entries and numbered lines, the same however it is cut", () => {
    const text = fc.string({
      unit: fc.constantFrom(...SIGNS),
      maxLength: 200
    })
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (file, width) => {
        expect(read(file, "manual", width)).toEqual(read(file, "manual"))
      }),
      { examples: [[' "', 1]] }
    )
  })

  it("knows a page that is followed by others, wherever it says so", () => {
    const isPartial = (text: string) => {
      const reader = suppressionReader(undefined)
      // In pieces of three, as streams cut them.
      for (let at = 0; at < text.length; at += 3) reader.feed(text.slice(at, at + 3))
      reader.end()
      return reader.isPartial()
    }
    const item = { EmailAddress: "a@x.test", Reason: "BOUNCE" }
    const items = Array.from({ length: 3_000 }, () => item)
    const ses = (more: object) => JSON.stringify({ SuppressedDestinationSummaries: items, ...more }, null, 2)
    const resend = (more: boolean) => JSON.stringify({ object: "list", has_more: more, data: items })
    expect(isPartial(ses({ NextToken: "AAAA" }))).toBe(true)
    expect(isPartial(resend(true))).toBe(true)
    expect(isPartial(JSON.stringify({ SuppressedDestinationSummaries: [], NextToken: "AAAA" }))).toBe(true)
    for (const none of ["", "[]", "{}"]) expect(isPartial(none)).toBe(false)
    expect(isPartial(ses({}))).toBe(false)
    expect(isPartial(ses({ NextToken: null }))).toBe(false)
    expect(isPartial(resend(false))).toBe(false)
    // All pages, one after the other: only the last one leads nowhere.
    expect(isPartial(ses({ NextToken: "AAAA" }) + ses({}))).toBe(false)
    expect(isPartial(`[${resend(true)}, ${resend(true)}]`)).toBe(true)
    expect(isPartial(JSON.stringify({ email: "a@x.test", reason: '"has_more": true' }))).toBe(false)
    expect(isPartial("email,reason\na@x.test,bounce\n")).toBe(false)
  })

  it("takes an address without what is invisible around it, and refuses it inside", () => {
    expect(read("email,reason\n\u200bjohn@x.test\u00a0,bounce\njo\u00adhn@x.test,bounce\n")).toEqual([
      { email: "john@x.test", reason: "hard_bounce" },
      { line: 3, problem: "holds an invisible character before the @: type the address again" }
    ])
  })
})
