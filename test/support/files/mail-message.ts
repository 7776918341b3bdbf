import fc from "fast-check"

import type { KeyTag, SendKey } from "../../../src/domain/ids.ts"
import { asciiDomain, type Mailbox } from "../../../src/domain/mail/address.ts"
import type { Message } from "../../../src/domain/mail/message.ts"
import { anyId } from "../any-id.ts"

/** A mailbox from a bare address that needs no parser. */
export const box = (address: string, name?: string): Mailbox => {
  const at = address.lastIndexOf("@")
  return { name, local: address.slice(0, at), domain: address.slice(at + 1) }
}

/** A plain message; a test names what it is about. */
export const mail = (parts: Partial<Message> = {}): Message => ({
  from: box("noreply@postlane.test", "Postlane"),
  to: [box("ann@example.test")],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: "Hello",
  html: undefined,
  text: "Hi",
  category: "transactional",
  list: undefined,
  source: "api:test",
  provider: undefined,
  configurationSet: undefined,
  tags: {},
  headers: {},
  attachments: [],
  expiresAt: undefined,
  ...parts
})

/** A key, a hash that stands for it, and the tag of its use. */
export const keyOf = (key: string): SendKey & { readonly tag: KeyTag } => {
  const hex = Array.from(key, (char) => char.codePointAt(0)!.toString(16).padStart(2, "0")).join("")
  return {
    key: anyId(key),
    keyHash: anyId(hex.padEnd(64, "0").slice(0, 64)),
    tag: anyId(hex.padStart(64, "f").slice(-64)),
    firstAttemptAt: Date.UTC(2026, 10, 21, 10)
  }
}

// oxlint-disable-next-line no-control-regex -- a parsed name holds none
const HAS_CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Display names as the parser gives them: any script, no control characters, not blank at an end. */
export const nameArb: fc.Arbitrary<string> = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 120 })
  .map((name) => name.trim())
  .filter((name) => name !== "" && !HAS_CONTROL.test(name) && name.isWellFormed() && !name.includes("=?"))

const localArb = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9.+_-]{0,20}[a-zA-Z0-9]$/).filter((local) => !local.includes("..")),
  fc.constantFrom("o'brien", 'a "b', "a <b> c", "a<b", "x@y", "a, b", "back\\slash")
)

const domainArb = fc
  .stringMatching(/^[a-z][a-z0-9]{0,10}$/)
  .map((label) => `${label}.test`)
  .filter((domain) => asciiDomain(domain) !== undefined)

export const mailboxArb: fc.Arbitrary<Mailbox> = fc.record({
  name: fc.oneof(
    fc.constantFrom(undefined, "a <b> c", 'say "hi" <x@y.test>', "back\\slash", "J. Doe"),
    nameArb
  ),
  local: localArb,
  domain: domainArb
})

/** Messages with every field in play, of mailboxes that both providers take. */
export const messageArb: fc.Arbitrary<Message> = fc
  .record({
    from: mailboxArb,
    to: fc.array(mailboxArb, { minLength: 1, maxLength: 4 }),
    cc: fc.array(mailboxArb, { maxLength: 3 }),
    bcc: fc.array(mailboxArb, { maxLength: 3 }),
    replyTo: fc.array(mailboxArb, { maxLength: 2 }),
    subject: fc.string({ minLength: 1, maxLength: 40 }),
    tags: fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), fc.string({ maxLength: 20 }), {
      maxKeys: 4
    }),
    headers: fc.dictionary(
      fc.stringMatching(/^X-[A-Za-z0-9-]{1,12}$/),
      fc.stringMatching(/^[\x21-\x7e][\x20-\x7e]{0,20}$/).map((value) => value.trimEnd()),
      { maxKeys: 4 }
    ),
    configurationSet: fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/), { nil: undefined })
  })
  .map((parts) => mail(parts))
