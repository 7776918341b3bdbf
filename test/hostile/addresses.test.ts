import { Result } from "effect"
import { expect, it } from "vitest"

import { decodeWebhookEvent } from "../../src/adapters/resend/webhook-event.ts"
import { MAX_MAILBOX, parseMailbox } from "../../src/domain/mail/address.ts"
import { makeMessage } from "../../src/domain/mail/message.ts"
import { decodeSendRequest } from "../../src/domain/mail/read-request.ts"
import { MAX_STALL_MS, stallOf } from "./stalls.ts"

/** What parsers of addresses nest, repeat or look for. */
const PARTS = [
  "(",
  "(a",
  "<",
  '"',
  '\\"',
  "a.",
  "a@",
  "a ",
  "@",
  ",",
  ";",
  ":",
  "[",
  "=?utf-8?q?",
  "é",
  "a<b>,",
  "g:",
  "\\",
  "é.",
  "é.é ",
  "a .",
  "a,a.",
  "<@a,@a:"
]

it.each(PARTS)("an address of %j over and over is refused or read at once", async (part) => {
  for (const length of [MAX_MAILBOX, 3_000, 900_000]) {
    const text = part.repeat(Math.floor(length / part.length))
    for (const whole of [text, `${text}@x.test`, `${text} <a@x.test>`, `a@${text}`]) {
      expect(await stallOf(async () => parseMailbox(whole))).toBeLessThan(MAX_STALL_MS)
    }
  }
})

it.each(PARTS)("a webhook with addresses of %j holds nothing up", async (part) => {
  const long = part.repeat(Math.floor(900_000 / part.length))
  const many = Array.from({ length: 2_500 }, () => part.repeat(Math.floor(MAX_MAILBOX / part.length)))
  const event = (data: object) => ({
    type: "email.bounced",
    created_at: "2026-01-01T00:00:00Z",
    data: { email_id: "m", ...data }
  })
  for (const data of [{ to: [long], from: long, subject: long, bounce: { message: long } }, { to: many }]) {
    expect(await stallOf(async () => decodeWebhookEvent(event(data)))).toBeLessThan(MAX_STALL_MS)
  }
})

it.each(PARTS)("fifty recipients of %j hold nothing up", async (part) => {
  const text = part.repeat(Math.floor(300 / part.length))
  for (const whole of [text, `${text}@x.test`, `((${"a".repeat(290)}@x.test`]) {
    // The first call compiles the parser.
    parseMailbox(whole)
    const stall = await stallOf(async () => {
      for (let recipient = 0; recipient < 50; recipient++) parseMailbox(whole)
    })
    expect(stall).toBeLessThan(MAX_STALL_MS)
  }
})

it.each(["to", "cc", "bcc", "replyTo"])(
  "more addresses than a mail may have in %s are refused unparsed",
  async (field) => {
    const many = Array.from({ length: 50_000 }, () => "A, <")
    const request = {
      to: "a@x.test",
      subject: "s",
      text: "t",
      category: "transactional",
      source: "a"
    } as const
    const domains = { sender: "sender.test", legacy: "legacy.test" }
    const from = { name: undefined, local: "a", domain: domains.sender }
    let paths: ReadonlyArray<string> = []
    const stall = await stallOf(async () => {
      const made = makeMessage({ ...request, [field]: many }, { from, domains })
      paths = Result.isFailure(made) ? made.failure.map(({ path }) => path) : []
    })
    expect(paths).toContain(field === "replyTo" ? "replyTo" : "to")
    expect(paths.length).toBeLessThan(100)
    expect(stall).toBeLessThan(MAX_STALL_MS)
  }
)

it.each([
  ["attachments", Array.from({ length: 500_000 }, () => ({}))],
  ["attachments", Array.from({ length: 500_000 }, () => ({ filename: "", content: "" }))],
  ["to", Array.from({ length: 500_000 }, () => 1)],
  ["headers", Object.fromEntries(Array.from({ length: 100_000 }, (_, name) => [`x-${name}`, 1]))],
  ["tags", Object.fromEntries(Array.from({ length: 100_000 }, (_, name) => [`x-${name}`, "a"]))]
])("more %s than any mail has are refused undecoded", async (field, entries) => {
  const body = {
    to: "a@x.test",
    subject: "s",
    text: "t",
    category: "transactional",
    source: "a",
    [field]: entries
  }
  let issues: unknown
  const stall = await stallOf(async () => {
    issues = Result.merge(decodeSendRequest(body))
  })
  expect(issues).toEqual([{ path: field, message: "more than 1000 entries" }])
  expect(stall).toBeLessThan(MAX_STALL_MS)
})
