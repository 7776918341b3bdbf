import { Result } from "effect"
import * as fc from "fast-check"

import {
  addressKey,
  formatMailbox,
  formattedKey,
  type Mailbox,
  parseMailbox
} from "../../../src/domain/mail/address.ts"
import { makeMessage, payloadOf } from "../../../src/domain/mail/message.ts"
import { decodeSendRequest } from "../../../src/domain/mail/read-request.ts"
import { JSON_WORDS, jsonSeeds, strangeJson } from "../json.ts"
import { hold, type Target } from "../target.ts"

/** Requests of the relay. */
export const SEND_SAMPLES = [
  { to: "a@x.test", subject: "s", text: "t", category: "transactional", source: "api:fuzz" },
  {
    to: ["Ann <ann@x.test>", '"B, C" <b@x.test>'],
    cc: "c@x.test",
    bcc: ["d@xn--bcher-kva.test"],
    from: "P <p@legacy.test>",
    replyTo: "r@x.test",
    subject: "Grüße",
    html: "<p>x</p>",
    text: "x",
    category: "transactional",
    source: "api:fuzz",
    tags: { campaign: "a b" },
    headers: { "X-Thing": "y", "List-Unsubscribe": "<https://x.test>" },
    idempotencyKey: "k",
    attachments: [{ filename: "a.txt", contentType: "text/plain", content: "eA==", contentId: "<i>" }],
    expiresAt: "2030-01-01T00:00:00Z"
  }
]

const ADDRESSES = [
  "a@x.test",
  "A B <a@x.test>",
  '"a b"@x.test',
  "a@[127.0.0.1]",
  "(c) a@x.test",
  "é@bücher.test",
  "g: a@x.test;"
]

export const ADDRESS_WORDS = [
  "(",
  ")",
  "<",
  ">",
  '"',
  "\\",
  "@",
  ",",
  ";",
  ":",
  ".",
  "[",
  "]",
  "=?utf-8?q?",
  "é",
  "a@x.test",
  "\u2028"
]

const domains = { sender: "sender.test", legacy: "legacy.test" }
const DEFAULTS = { from: { name: undefined, local: "noreply", domain: "sender.test" }, domains }

/** S8, MAIL-10: what is taken is one line, and means the same when it is read again. */
const holdMailbox = (box: Mailbox): void => {
  const written = formatMailbox(box)
  hold(!/[\r\n\0]/.test(written), `MAIL-10: an address breaks a header: ${JSON.stringify(written)}`)
  hold(formattedKey(written) === addressKey(box), `MAIL-10: its key is lost in ${JSON.stringify(written)}`)
  if (written.length > 320) return
  const again = parseMailbox(written)
  hold(Result.isSuccess(again), `MAIL-10: what was written cannot be read: ${JSON.stringify(written)}`)
  if (Result.isSuccess(again))
    hold(
      addressKey(again.success) === addressKey(box),
      `MAIL-10: it is read as another: ${JSON.stringify(written)}`
    )
}

const address = (text: string): string => {
  const read = parseMailbox(text)
  if (Result.isFailure(read)) return `address: ${read.failure.replaceAll(/".*"|\d+/gs, "…")}`
  holdMailbox(read.success)
  return `address: read, ${read.success.name === undefined ? "bare" : "with a name"}`
}

const bodyOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const fields = (issues: ReadonlyArray<{ readonly path: string }>) =>
  [...new Set(issues.map(({ path }) => path.split(".")[0] ?? ""))].sort().join(" ")

const request = (body: unknown): string => {
  const decoded = decodeSendRequest(body)
  if (Result.isFailure(decoded)) return `request: not decoded, ${fields(decoded.failure)}`
  const made = makeMessage(decoded.success, DEFAULTS)
  if (Result.isFailure(made)) {
    hold(made.failure.length > 0, "MAIL-10: refused without an issue")
    return `request: refused, ${fields(made.failure)}`
  }
  const message = made.success
  for (const box of [message.from, ...message.to, ...message.cc, ...message.bcc, ...message.replyTo])
    holdMailbox(box)
  hold(message.from.domain !== domains.legacy, "S8: it leaves from the legacy domain")
  hold(typeof payloadOf(message) === "string", "MAIL-40: no payload")
  return "request: a message"
}

/** An address, where it is no JSON object. */
const answer = (input: Buffer): string => {
  const text = input.toString("utf8")
  const body = bodyOf(text)
  return typeof body === "object" && body !== null ? request(body) : address(text)
}

export const send: Target = {
  name: "send",
  about: "addresses and send requests, read by the rules of sending",
  limitMs: 10_000,
  memoryMb: 1_024,
  guided: true,
  seeds: () => [...jsonSeeds(SEND_SAMPLES), ...ADDRESSES.map((one) => Buffer.from(one))],
  made: fc.oneof(
    strangeJson(SEND_SAMPLES),
    fc
      .array(fc.constantFrom(...ADDRESS_WORDS, ...ADDRESSES, " ", "a", "x.test"), { maxLength: 12 })
      .map((parts) => Buffer.from(parts.join("")))
  ),
  words: [...JSON_WORDS, ...ADDRESS_WORDS],
  open: () => Promise.resolve({ answer: async (input) => answer(input), close: () => Promise.resolve() })
}
