import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

import type { Message } from "../../../src/domain/mail/message.ts"
import {
  canonicalBody,
  plainBodyOf,
  plainKey,
  preparePlain,
  withoutPlainRecipients
} from "../../../src/domain/mail/plain-request.ts"
import { KEY_TAG } from "../../../src/domain/mail/tag.ts"
import { anyId } from "../../support/any-id.ts"

const box = (local: string, name?: string) => ({ name, local, domain: "x.test" })
const message = (change: Partial<Message> = {}): Message => ({
  from: box("shop", "Shop"),
  to: [box("ann", "Ann"), box("Bob")],
  cc: [box("cy")],
  bcc: [box("dan")],
  replyTo: [box("desk")],
  subject: "Hello",
  html: "<p>",
  text: "text",
  category: "transactional",
  list: undefined,
  source: "api:test",
  provider: undefined,
  configurationSet: "set",
  tags: { b: "2", a: "1", c: "3" },
  headers: { "X-B": "2", "X-A": "1" },
  attachments: [{ filename: "a.pdf", contentType: "application/pdf", content: "aGk=", contentId: "id" }],
  expiresAt: undefined,
  ...change
})
const key = (tag?: string) => ({
  key: anyId("order-17"),
  keyHash: anyId("hash"),
  tag: tag === undefined ? undefined : anyId(tag),
  firstAttemptAt: 0
})
const prepared = (change: Partial<Message> = {}, tag?: string) =>
  preparePlain("provider_a", message(change), key(tag))
const bodyOf = (change: Partial<Message> = {}, tag?: string) =>
  Result.getOrThrow(plainBodyOf(prepared(change, tag)))

describe("a request in no vendor's shape", () => {
  it("has all of its mail, and null for what it has not", () => {
    assert.deepStrictEqual(bodyOf(), {
      from: { name: "Shop", address: "shop@x.test" },
      to: [
        { name: "Ann", address: "ann@x.test" },
        { name: null, address: "Bob@x.test" }
      ],
      cc: [{ name: null, address: "cy@x.test" }],
      bcc: [{ name: null, address: "dan@x.test" }],
      replyTo: [{ name: null, address: "desk@x.test" }],
      subject: "Hello",
      html: "<p>",
      text: "text",
      configurationSet: "set",
      tags: { a: "1", b: "2", c: "3" },
      headers: { "X-A": "1", "X-B": "2" },
      attachments: [{ filename: "a.pdf", contentType: "application/pdf", content: "aGk=", contentId: "id" }]
    })
    const bare = bodyOf({
      html: undefined,
      text: undefined,
      configurationSet: undefined,
      attachments: [{ filename: "a", contentType: undefined, content: "", contentId: undefined }]
    })
    assert.deepInclude(bare, { html: null, text: null, configurationSet: null })
    assert.deepStrictEqual(bare.attachments, [
      { filename: "a", contentType: null, content: "", contentId: null }
    ])
  })

  it("MAIL-12: names the use of its key beside the caller's tags, where there is one", () => {
    assert.deepStrictEqual(bodyOf({}, "t").tags, { a: "1", b: "2", c: "3", [KEY_TAG]: "t" })
    assert.notProperty(bodyOf().tags, KEY_TAG)
  })

  it("MAIL-51: is the same bytes for the same mail, also where a queue changed the order of its members", () => {
    const turned = prepared({ tags: { c: "3", a: "1", b: "2" }, headers: { "X-A": "1", "X-B": "2" } })
    assert.strictEqual(JSON.stringify(turned), JSON.stringify(prepared()))
    const reversed = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(reversed)
        : typeof value === "object" && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .toReversed()
                .map(([name, one]) => [name, reversed(one)])
            )
          : value
    const request = prepared()
    const other = { ...request, body: reversed(request.body) as typeof request.body }
    assert.notStrictEqual(JSON.stringify(other.body), JSON.stringify(request.body))
    assert.strictEqual(canonicalBody(other), canonicalBody(request))
    assert.deepStrictEqual(JSON.parse(canonicalBody(request)), request.body)
    // The order of recipients and attachments is part of it.
    assert.notStrictEqual(
      canonicalBody(prepared({ to: [box("Bob"), box("ann", "Ann")] })),
      canonicalBody(request)
    )
  })

  it("S7: loses the blocked recipients and nothing else, or is none where nobody is left in To", () => {
    const request = prepared()
    const without = (...blocked: ReadonlyArray<string>) => withoutPlainRecipients(request, new Set(blocked))
    assert.strictEqual(without(), request)
    assert.strictEqual(without("other@x.test"), request)
    assert.deepStrictEqual(without("bob@x.test", "dan@x.test"), {
      ...request,
      body: { ...bodyOf(), to: [{ name: "Ann", address: "ann@x.test" }], bcc: [] }
    })
    assert.isUndefined(without("ann@x.test", "bob@x.test"))
    assert.strictEqual(plainKey({ name: null, address: "A\u0308nn@X.test" }), "\u00e4nn@x.test")
    const foreign = { ...request, body: { raw: "x" } }
    assert.strictEqual(withoutPlainRecipients(foreign, new Set(["ann@x.test"])), foreign)
    assert.isTrue(Result.isFailure(plainBodyOf(foreign)))
  })
})
