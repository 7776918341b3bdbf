import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { languageTag, safeAddress } from "../../../src/reader/html/allowed.ts"

describe("addresses of links", () => {
  it.each([
    ["https://example.org/a", "https://example.org/a"],
    ["www.example.org", "https://www.example.org/"],
    ["mailto:a@example.org", "mailto:a@example.org"],
    [" https://example.org/ ", "https://example.org/"]
  ])("%s may be followed", (given, made) => {
    assert.strictEqual(safeAddress(given), made)
  })

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>1</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://example.org/1",
    "https://user:secret@example.org/",
    "/relative",
    "chapter2.pdf",
    ""
  ])("%j may not", (given) => {
    assert.isUndefined(safeAddress(given))
  })

  it("only ever have a scheme of the list", () => {
    const part = fc.constantFrom(
      "java",
      "script",
      ":",
      "data",
      "http",
      "s",
      "//",
      "x",
      "\t",
      "\n",
      "\u0000",
      " ",
      "&colon;",
      "www."
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const address = safeAddress(parts.join(""))
        assert.isTrue(address === undefined || /^(https?|mailto|tel|ftp|doi|urn):/.test(address))
      })
    )
  })
})

describe("language tags", () => {
  it.each([
    ["en", "en"],
    ["de_DE", "de-DE"],
    ["ZH-hans-cn", "zh-Hans-CN"],
    ["en-GB-oxendict", "en-GB-oxendict"]
  ])("%s is one", (given, made) => {
    assert.strictEqual(languageTag(given), made)
  })

  it.each([
    "",
    "english",
    "x",
    "en-",
    "e n",
    '"><script>',
    "und",
    "de-1996-1996",
    "en-abcde-ABCDE",
    undefined
  ])("%s is none", (given) => {
    assert.isUndefined(languageTag(given))
  })

  it("are never thrown over", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z\d_-]{0,24}$/), (given) => {
        const tag = languageTag(given)
        assert.isTrue(tag === undefined || languageTag(tag) === tag)
      })
    )
  })

  it("are never thrown over, however their parts are repeated", () => {
    const part = fc.constantFrom("Latn", "DE", "419", "1996", "1901", "abcde", "ABCDE", "oxendict")
    fc.assert(
      fc.property(fc.constantFrom("de", "art", "zh"), fc.array(part, { maxLength: 5 }), (language, parts) => {
        const tag = languageTag(language + parts.map((one) => `-${one}`).join(""))
        assert.isTrue(tag === undefined || languageTag(tag) === tag)
      })
    )
  })
})
