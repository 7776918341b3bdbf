import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  isReturnLocal,
  readReturnPath,
  returnMessageId,
  returnPath,
  returnToken,
  tagOfToken
} from "../../../src/domain/mail/return-address.ts"
import { anyId } from "../../support/any-id.ts"

const tagArb = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => anyId(Buffer.from(bytes).toString("hex")) as Parameters<typeof returnToken>[0])
const addressArb = fc.record({
  local: fc.stringMatching(/^[a-z0-9][a-z0-9]{0,9}[a-z0-9]$/),
  domain: fc.constantFrom("bounces.example.com", "in.test")
})

describe("the envelope sender of a mail whose reports come back (RETURN-1, RETURN-2)", () => {
  it("names one use of a key, whatever servers did to its case, in 64 octets at most", () => {
    fc.assert(
      fc.property(addressArb, tagArb, fc.boolean(), (address, tag, upper) => {
        const path = returnPath(address, tag)
        assert.isAtMost(path.lastIndexOf("@"), 64)
        assert.match(path, /^[a-z0-9+@.]+$/)
        assert.deepStrictEqual(readReturnPath(address, upper ? path.toUpperCase() : path), { tag })
        assert.strictEqual(tagOfToken(returnToken(tag)), tag)
        assert.strictEqual(tagOfToken(returnToken(tag).toUpperCase()), tag)
        const { local } = address
        const another = `${local.startsWith("x") ? "y" : "x"}${local.slice(1)}`
        assert.isUndefined(readReturnPath(address, returnPath({ ...address, local: another }, tag)))
      })
    )
  })

  it("no other token is one of the tag: each has one form", () => {
    fc.assert(
      fc.property(tagArb, fc.nat(51), fc.stringMatching(/^[a-z2-7]$/), (tag, at, char) => {
        const token = returnToken(tag)
        const other = token.slice(0, at) + char + token.slice(at + 1)
        if (other === token) return
        assert.notStrictEqual(tagOfToken(other), tag)
      })
    )
  })

  it("any other text is none, and no address is ours that is not on our name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), addressArb, (text, domain, address) => {
        const tag = tagOfToken(text)
        if (tag !== undefined) assert.strictEqual(returnToken(tag), text.toLowerCase())
        const read = readReturnPath(address, `${text}@${domain}`)
        if (read !== undefined) assert.strictEqual(domain.toLowerCase(), address.domain)
      })
    )
    const address = { local: "bounce", domain: "in.test" }
    assert.deepStrictEqual(readReturnPath(address, "Bounce@IN.test"), { tag: undefined })
    for (const other of [
      "bounce+@in.test",
      "bounce+abc@in.test",
      "bouncer@in.test",
      "@in.test",
      "",
      "bounce",
      "bounce@x.test"
    ])
      assert.isUndefined(readReturnPath(address, other), other)
  })

  it("the Message-ID follows from the token, and does not give it away", () => {
    fc.assert(
      fc.property(tagArb, tagArb, (tag, other) => {
        const id = returnMessageId({ domain: "in.test" }, tag)
        const [shown = ""] = id.split("@")
        assert.strictEqual(shown.length, 32)
        // A reader of the Message-ID lacks half of the tag: another tag with the same beginning has it, too.
        const guess = anyId(shown + other.slice(32)) as typeof tag
        assert.strictEqual(returnMessageId({ domain: "in.test" }, guess), id)
        if (guess !== tag) assert.notStrictEqual(returnToken(guess), returnToken(tag))
      })
    )
  })

  it("BOUNCE_ADDRESS leaves room for the token", () => {
    for (const local of ["bounce", "bounces", "b", "mail-return", "a.b"])
      assert.isTrue(isReturnLocal(local), local)
    for (const local of ["", "far-too-long", "a b", "a@b", ".a", "ü"])
      assert.isFalse(isReturnLocal(local), local)
  })
})
