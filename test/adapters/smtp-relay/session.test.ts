/** The dialogue where a connection does not know yet that it is lost: no server of a test has it so by will. Rules: MAIL-36. */
import { assert, describe, it } from "@effect/vitest"

import type { Dialogue, Reply } from "../../../src/adapters/smtp-relay/dialogue.ts"
import { handOver, kindOf, RelayFailure } from "../../../src/adapters/smtp-relay/session.ts"

/** A dialogue that is let as far as the mail, whose bytes cannot be written. */
const lostInTheMail = (): { readonly dialogue: Dialogue; readonly written: Array<string> } => {
  const written: Array<string> = []
  const replies: Array<Reply> = [250, 250, 354].map((code) => ({ code, lines: ["go on"] }))
  const dialogue: Dialogue = {
    peer: { host: "relay.test", port: 25, secure: false },
    reply: () => {
      const reply = replies.shift()
      return reply === undefined ? Promise.reject(new Error("no answer")) : Promise.resolve(reply)
    },
    early: () => undefined,
    write: (bytes) => {
      if (typeof bytes !== "string") return Promise.reject(new Error("write ECONNRESET"))
      written.push(bytes.trim())
      return Promise.resolve()
    },
    encrypt: () => Promise.resolve(),
    isEncrypted: () => false,
    isOpen: () => true,
    rest: () => {},
    wake: () => {},
    localAddress: () => undefined,
    destroy: () => void written.push("(destroyed)")
  }
  return { dialogue, written }
}

describe("smtp: a mail whose bytes could not be written", () => {
  it("has no final dot, and proves that nothing was accepted (MAIL-36)", async () => {
    const { dialogue, written } = lostInTheMail()
    const mail = {
      from: "a@x.test",
      author: "a@x.test",
      to: ["b@x.test"],
      raw: Buffer.from("Subject: s\r\n\r\nt\r\n")
    }
    const failure = await handOver({ dialogue, offers: new Map(), isFree: true }, mail).then(
      () => undefined,
      (cause: unknown) => cause
    )
    assert.instanceOf(failure, RelayFailure)
    assert.strictEqual(failure instanceof RelayFailure && kindOf(failure), "unavailable")
    assert.deepStrictEqual(written, ["MAIL FROM:<a@x.test>", "RCPT TO:<b@x.test>", "DATA", "(destroyed)"])
  })
})
