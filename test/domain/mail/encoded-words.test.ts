import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { encodedWords, isPrintableAscii } from "../../../src/domain/mail/encoded-words.ts"

describe("encoded words (RFC 2047)", () => {
  it("are of 75 characters at most and whole characters each, and as few as that allows", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 }), (text) => {
        const words = encodedWords(text)
        const decoded = words.map((word) => {
          assert.isAtMost(word.length, 75)
          assert.match(word, /^=\?UTF-8\?B\?[A-Za-z\d+/]*=*\?=$/)
          return Buffer.from(word.slice(10, -2), "base64").toString("utf8")
        })
        assert.strictEqual(decoded.join(""), text.toWellFormed())
        // The next character would not have fitted into a word.
        for (const [at, part] of decoded.slice(0, -1).entries())
          assert.isAbove(Buffer.byteLength(part + String.fromCodePoint(decoded[at + 1]!.codePointAt(0)!)), 45)
      })
    )
    assert.lengthOf(encodedWords("x".repeat(45)), 1)
    assert.lengthOf(encodedWords("x".repeat(46)), 2)
  })

  it("are for what a header cannot hold", () => {
    for (const plain of ["", " ", "~", "a b"]) assert.isTrue(isPrintableAscii(plain))
    for (const other of ["\u007f", "\t", "\u00e4", "a\n"]) assert.isFalse(isPrintableAscii(other))
  })
})
