import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"

import type { FieldIssue } from "../../../src/domain/field-issues.ts"
import {
  makeMessage,
  type Message,
  payloadOf,
  recipientKeys,
  type SendRequest,
  withoutBlocked
} from "../../../src/domain/mail/message.ts"
import { decodeSendRequest } from "../../../src/domain/mail/read-request.ts"

const defaults = {
  from: { name: "Postlane", local: "noreply", domain: "postlane.test" },
  domains: { sender: "postlane.test", legacy: "legacy.example" }
}
const base: SendRequest = {
  to: "a@x.test",
  subject: "s",
  text: "t",
  category: "transactional",
  source: "api:test"
}

const messageOf = (body: unknown): Message | ReadonlyArray<FieldIssue> =>
  Result.match(
    Result.flatMap(decodeSendRequest(body), (request) => makeMessage(request, defaults)),
    {
      onFailure: (issues) => issues,
      onSuccess: (message) => message
    }
  )
const message = (change: object = {}): Message => {
  const made = messageOf({ ...base, ...change })
  if (Array.isArray(made)) throw new Error(JSON.stringify(made))
  return made as Message
}
const paths = (change: object): ReadonlyArray<string> => {
  const made = messageOf({ ...base, ...change })
  return Array.isArray(made) ? (made as ReadonlyArray<FieldIssue>).map((issue) => issue.path) : ["accepted"]
}

describe("send request", () => {
  it("names every field that does not decode, at once", () => {
    const issues = messageOf({ to: 5, subject: null, category: "junk", source: "" })
    assert.isArray(issues)
    const named = new Set((issues as ReadonlyArray<FieldIssue>).map((issue) => issue.path.split(".")[0]))
    assert.deepStrictEqual(named, new Set(["to", "subject", "category", "source"]))
  })

  it("says of a field that is not there that it is missing", () => {
    const decoded = decodeSendRequest({
      to: "a@x.test",
      subject: "s",
      text: "t",
      attachments: [{ filename: "a" }]
    })
    assert.deepStrictEqual(Result.isFailure(decoded) ? decoded.failure : [], [
      { path: "category", message: "is missing" },
      { path: "source", message: "is missing" },
      { path: "attachments.0.content", message: "is missing" }
    ])
  })

  it("refuses a message that cannot be sent, by field", () => {
    const rows: ReadonlyArray<readonly [object, string]> = [
      [{ to: [] }, "to"],
      [{ to: "nobody" }, "to"],
      [{ to: ["a@x.test", "nobody"] }, "to.1"],
      [{ to: Array.from({ length: 51 }, (_, n) => `a${n}@x.test`) }, "to"],
      [
        {
          to: Array.from({ length: 30 }, (_, n) => `a${n}@x.test`),
          cc: Array.from({ length: 21 }, (_, n) => `c${n}@x.test`)
        },
        "to"
      ],
      [{ cc: ["x"] }, "cc.0"],
      [{ bcc: "x" }, "bcc"],
      [{ replyTo: "x" }, "replyTo"],
      [{ from: "a@x.test, b@x.test" }, "from"],
      [{ subject: "" }, "subject"],
      [{ subject: "a\r\nBcc: b@x.test" }, "subject"],
      [{ text: undefined }, "html"],
      [{ headers: { "X-A": "1\r\nBcc: b@x.test" } }, "headers.X-A"],
      [{ headers: { "X A": "1" } }, "headers.X A"],
      [{ headers: { "X-A": "1", "x-a": "2" } }, "headers.x-a"],
      [{ headers: { "X-A": "x".repeat(994) } }, "headers.X-A"],
      [{ tags: { postlane_key: "x" } }, "tags.postlane_key"],
      [{ tags: { "ses:x": "x" } }, "tags.ses:x"],
      [{ tags: { big: "x".repeat(257) } }, "tags.big"],
      [{ tags: { big: "é".repeat(200) } }, "tags.big"],
      [{ idempotencyKey: "" }, "idempotencyKey"],
      [{ idempotencyKey: "k".repeat(257) }, "idempotencyKey"],
      [{ idempotencyKey: "a\nb" }, "idempotencyKey"],
      [{ idempotencyKey: "k\ud83d" }, "idempotencyKey"],
      [{ configurationSet: "no spaces" }, "configurationSet"],
      [{ provider: "provider_c" }, "provider"],
      [{ attachments: [{ filename: "a.txt", content: "not base64!" }] }, "attachments.0.content"],
      [{ attachments: [{ filename: "a.txt", content: "YQ" }] }, "attachments.0.content"],
      [{ attachments: [{ filename: "a\r\n.txt", content: "YQ==" }] }, "attachments.0.filename"],
      [
        { attachments: [{ filename: "a.txt", content: "YQ==", contentType: "text" }] },
        "attachments.0.contentType"
      ],
      [{ attachments: [{ filename: "a.txt", content: "YQ==", contentId: "a b" }] }, "attachments.0.contentId"]
    ]
    for (const [change, path] of rows)
      assert.include(paths(change), path, JSON.stringify(change).slice(0, 80))
  })

  it("refuses every header that has a field of its own or steers delivery, in any case", () => {
    const reserved = [
      "From",
      "sender",
      "TO",
      "Cc",
      "Bcc",
      "Reply-To",
      "Subject",
      "Return-Path",
      "Message-ID",
      "DKIM-Signature",
      "MIME-Version",
      "Content-Type",
      "content-transfer-encoding",
      // What a service behind a relay takes orders from: other recipients, another stream, no delivery at all.
      "X-SES-MESSAGE-TAGS",
      "X-SMTPAPI",
      "x-msys-api",
      "X-Mailgun-Drop-Message",
      "X-PM-Message-Stream",
      "X-MC-BccAddress",
      "X-MJ-CustomID",
      "X-Mailin-Custom",
      "x-sib-sandbox"
    ]
    for (const name of reserved)
      assert.deepStrictEqual(paths({ headers: { [name]: "x" } }), [`headers.${name}`])
    const folded = { "X-A": "x".repeat(993), "X-B": "word ".repeat(300).trim(), "X-C": "ö".repeat(1500) }
    assert.deepStrictEqual(message({ headers: folded }).headers, folded)
    assert.deepStrictEqual(message({ headers: { "List-Unsubscribe": "<https://x.test/u>" } }).headers, {
      "List-Unsubscribe": "<https://x.test/u>"
    })
  })

  it("refuses a body that names neither html nor text", () => {
    const { text: _, ...bare } = base
    assert.deepStrictEqual(
      (messageOf(bare) as ReadonlyArray<FieldIssue>).map((issue) => issue.path),
      ["html"]
    )
  })

  it("S8: rewrites From, and neither Reply-To nor recipients", () => {
    const made = message({
      from: "Ann <a@mail.legacy.example>",
      replyTo: "convert@legacy.example",
      to: "b@legacy.example"
    })
    assert.deepStrictEqual(made.from, { name: "Ann", local: "a", domain: "postlane.test" })
    assert.strictEqual(made.replyTo[0]?.domain, "legacy.example")
    assert.strictEqual(made.to[0]?.domain, "legacy.example")
    assert.deepStrictEqual(message().from, defaults.from)
  })

  it("takes an optional field that is there and undefined for one that is not there", () => {
    const plain = message({ attachments: [{ filename: "a", content: "" }] })
    const optional = [
      "cc",
      "bcc",
      "from",
      "replyTo",
      "html",
      "provider",
      "configurationSet",
      "tags",
      "headers",
      "idempotencyKey"
    ].map((name) => [name, undefined] as const)
    const attachments = [{ filename: "a", contentType: undefined, content: "", contentId: undefined }]
    assert.deepStrictEqual(message({ ...Object.fromEntries(optional), attachments }), plain)
    assert.deepStrictEqual(message({ attachments: undefined }), message())
  })

  it("never throws on anything", () => {
    fc.assert(
      fc.property(fc.anything(), (body) => void messageOf(body)),
      { numRuns: 500 }
    )
    fc.assert(
      fc.property(
        fc.record({
          to: fc.anything(),
          headers: fc.object(),
          tags: fc.object(),
          attachments: fc.array(fc.object())
        }),
        (change) => void messageOf({ ...base, ...change })
      )
    )
  })
})

describe("what other tools write", () => {
  it("base64 in lines is the same mail as base64 in one", () => {
    const of = (content: string) => message({ attachments: [{ filename: "f", content }] })
    const one = of("aGVsbG8gd29ybGQh")
    for (const content of ["aGVsbG8g\r\nd29ybGQh\r\n", "aGVsbG8g\nd29y bGQh\n", "\taGVsbG8gd29ybGQh"])
      assert.deepStrictEqual(
        [of(content).attachments, payloadOf(of(content))],
        [one.attachments, payloadOf(one)]
      )
    assert.deepStrictEqual(paths({ attachments: [{ filename: "f", content: "aGVs\u2028bG8=" }] }), [
      "attachments.0.content"
    ])
  })

  it("MAIL-10: has 50 recipients with its copies at most, and as many to answer to", () => {
    const some = (count: number, at: string) =>
      Array.from({ length: count }, (_, one) => `${at}${one}@x.test`)
    const limit = (change: object) => {
      const issues = messageOf({ ...base, ...change })
      return Array.isArray(issues) ? (issues as ReadonlyArray<FieldIssue>).map((issue) => issue.message) : []
    }
    assert.deepStrictEqual(limit({ to: some(20, "a"), cc: some(20, "b"), bcc: some(10, "c") }), [])
    assert.deepStrictEqual(limit({ replyTo: some(50, "a") }), [])
    assert.deepStrictEqual(limit({ to: some(20, "a"), cc: some(20, "b"), bcc: some(11, "c") }), [
      "more than 50 recipients with cc and bcc"
    ])
    assert.deepStrictEqual(limit({ to: some(51, "a") }), ["more than 50 recipients with cc and bcc"])
    assert.deepStrictEqual(limit({ replyTo: some(51, "a") }), ["more than 50 addresses"])
    // One with more is refused, and its addresses are not parsed one by one.
    assert.lengthOf(limit({ to: Array.from({ length: 900 }, () => "none") }), 51)
    assert.deepStrictEqual(limit({ to: [] }), ["names no recipient"])
  })

  it("MAIL-67: belongs to a list where its reader may leave, and to none else", () => {
    for (const category of ["marketing", "notification", "transactional", "auth", "alert"] as const)
      assert.deepStrictEqual(
        paths({ category, list: "weekly" }),
        category === "marketing" || category === "notification" ? ["accepted"] : ["list"],
        category
      )
  })

  it("has its lines in one piece, and a subject that somebody sees", () => {
    for (const field of ["subject", "source"])
      for (const broken of ["a\nb", "a\rb", "a\0b"])
        assert.deepStrictEqual(paths({ [field]: broken }), [field])
    assert.deepStrictEqual(paths({ subject: " \t" }), ["subject"])
    assert.deepStrictEqual(paths({ headers: { "X-A": "1", "x-a": "2" } }), ["headers.x-a"])
    assert.deepStrictEqual(paths({ headers: { "x-a": "1", "X-A": "2" } }), ["headers.X-A"])
    // Folded at any of its blanks; of other characters than ASCII each word is encoded.
    assert.deepStrictEqual(paths({ headers: { "X-A": `a ${"x".repeat(997)}` } }), ["accepted"])
    assert.deepStrictEqual(paths({ headers: { "X-A": `a ${"x".repeat(998)}` } }), ["headers.X-A"])
    assert.deepStrictEqual(paths({ headers: { "X-A": `a\t${"x".repeat(998)} b` } }), ["headers.X-A"])
    assert.deepStrictEqual(paths({ subject: `a ${"x".repeat(997)}` }), ["accepted"])
    assert.deepStrictEqual(paths({ subject: `a ${"x".repeat(998)}` }), ["subject"])
    assert.deepStrictEqual(paths({ subject: "ä".repeat(998) }), ["accepted"])
  })

  it("has an end where it names one, and attachments that a text can show", () => {
    assert.strictEqual(message({ expiresAt: "2026-12-01T09:00:00Z" }).expiresAt, Date.UTC(2026, 11, 1, 9))
    assert.isUndefined(message().expiresAt)
    assert.deepStrictEqual(paths({ expiresAt: "soon" }), ["expiresAt"])
    const part = { filename: "logo.png", content: "aGk=" }
    for (const contentId of ["logo", "<logo>"])
      assert.strictEqual(message({ attachments: [{ ...part, contentId }] }).attachments[0]?.contentId, "logo")
    assert.deepStrictEqual(paths({ attachments: [{ ...part, contentId: "two words" }] }), [
      "attachments.0.contentId"
    ])
    for (const contentType of ["image/png", "text/html; charset=utf-8"])
      assert.deepStrictEqual(paths({ attachments: [{ ...part, contentType }] }), ["accepted"])
    assert.deepStrictEqual(paths({ attachments: [{ ...part, contentType: "picture" }] }), [
      "attachments.0.contentType"
    ])
  })

  it("MAIL-10: a mail with copies only is refused with what to write instead", () => {
    for (const change of [
      { to: [], bcc: ["b@x.test"] },
      { to: undefined, cc: "b@x.test" }
    ]) {
      const issues = messageOf({ ...base, ...change }) as ReadonlyArray<FieldIssue>
      assert.deepStrictEqual(
        issues.map(({ path }) => path),
        ["to"]
      )
      assert.include(issues[0]?.message, "neither cc nor bcc can stand alone")
    }
  })

  it("members of Object's prototype and those that are undefined are no unknown members", () => {
    assert.deepStrictEqual(message({ shippedAt: undefined }), message())
    assert.deepStrictEqual(paths({ toString: "x", valueOf: 1 }), ["toString", "valueOf"])
  })

  it("H1: a million unknown members are refused as one", () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`m${at}`, 1]))
    assert.deepStrictEqual(paths(many), [""])
    assert.deepStrictEqual(paths({ attachments: [{ filename: "f", content: "", ...many }] }), [
      "attachments.0"
    ])
  })
})

describe("recipients", () => {
  it("each gets one copy, in the first of to, cc and bcc that names it", () => {
    const made = message({
      to: ["a@x.test", "A@X.test", "b@x.test"],
      cc: ["Bob <b@x.test>", "c@x.test"],
      bcc: ["a@x.test", "c@x.test", "d@x.test"]
    })
    const keys = (field: "to" | "cc" | "bcc") =>
      recipientKeys({ to: [], cc: [], bcc: [], [field]: made[field] })
    assert.deepStrictEqual(
      [keys("to"), keys("cc"), keys("bcc")],
      [["a@x.test", "b@x.test"], ["c@x.test"], ["d@x.test"]]
    )
    assert.deepStrictEqual([made.to.length, made.cc.length, made.bcc.length], [2, 1, 1])
  })
})

describe("payload of a key", () => {
  it("is equal for equal requests whatever the order of their members, and different for different ones", () => {
    const one = payloadOf(message({ tags: { a: "1", b: "2" }, headers: { "X-A": "1", "X-B": "2" } }))
    assert.strictEqual(
      payloadOf(message({ headers: { "X-B": "2", "X-A": "1" }, tags: { b: "2", a: "1" } })),
      one
    )
    const others = [
      { to: "b@x.test" },
      { subject: "other" },
      { text: "other" },
      { html: "<p>t</p>" },
      { cc: "c@x.test" },
      { tags: { a: "1" } },
      { provider: "provider_b" },
      { category: "auth" },
      { replyTo: "r@x.test" },
      { attachments: [{ filename: "f", content: "YQ==" }] }
    ]
    const payloads = new Set([payloadOf(message()), ...others.map((change) => payloadOf(message(change)))])
    assert.strictEqual(payloads.size, others.length + 1)
  })

  it("has each of its parts, in the form that earlier versions stored", () => {
    const whole = {
      html: "<p>",
      provider: "provider_b",
      configurationSet: "set",
      tags: { b: "2", c: "3", a: "1" },
      headers: { "X-B": "2", "X-A": "1" },
      attachments: [{ filename: "f", content: "aGk=", contentType: "text/plain", contentId: "id" }]
    }
    const box = { local: "a", domain: "x.test" }
    const from = { name: "Postlane", local: "noreply", domain: "postlane.test" }
    const [category, source] = ["notification", "api:test"]
    const rest = [[], [], [], "s", "<p>", "t", category, source, "provider_b", "set"]
    const tags = Object.entries({ a: "1", b: "2", c: "3" })
    const headers = Object.entries({ "X-A": "1", "X-B": "2" })
    const stored = [from, [box], ...rest, tags, headers, [["f", "text/plain", "aGk=", "id"]]]
    assert.deepStrictEqual(JSON.parse(payloadOf(message({ ...whole, category }))), stored)
    assert.deepStrictEqual(JSON.parse(payloadOf(message({ ...whole, category, list: "weekly" }))), [
      ...stored,
      "weekly"
    ])
    const shuffled = fc.shuffledSubarray(["a", "b", "c", "d", "e"], { minLength: 5 })
    const payload = (names: ReadonlyArray<string>) =>
      payloadOf(message({ tags: Object.fromEntries(names.map((name) => [name, "1"])) }))
    fc.assert(fc.property(shuffled, (names) => assert.strictEqual(payload(names), payload(names.toSorted()))))
  })

  it("does not depend on the key itself", () => {
    assert.strictEqual(payloadOf(message({ idempotencyKey: "k" })), payloadOf(message()))
  })
})

describe("blocked recipients", () => {
  it("S7: are in no field of what is left, and nobody else is dropped", () => {
    const address = fc.constantFrom("a@x.test", "B@x.test", "c@x.test", "d@x.test")
    const request = fc.record({
      to: fc.array(address, { minLength: 1, maxLength: 3 }),
      cc: fc.array(address, { maxLength: 3 }),
      bcc: fc.array(address, { maxLength: 3 })
    })
    fc.assert(
      fc.property(request, fc.subarray(["a@x.test", "b@x.test", "c@x.test", "d@x.test"]), (fields, list) => {
        const made = message(fields)
        const blocked = new Set(list)
        const left = withoutBlocked(made, blocked)
        const keys = left === undefined ? [] : recipientKeys(left)
        assert.isTrue(keys.every((key) => !blocked.has(key)))
        assert.strictEqual(
          left === undefined,
          fields.to.every((to) => blocked.has(to.toLowerCase()))
        )
        if (left === undefined) return
        assert.deepStrictEqual(
          keys,
          recipientKeys(made).filter((key) => !blocked.has(key))
        )
      })
    )
  })
})
