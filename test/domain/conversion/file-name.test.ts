import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"

import { cleanFileName } from "../../../src/reader/model/file-name.ts"

const units = fc.constantFrom(
  "a",
  ".",
  "/",
  "\\",
  " ",
  "\0",
  "\u202e",
  "ü",
  "u\u0308",
  "\u{1F600}",
  "\ud800",
  "\n"
)

describe("a file's name", () => {
  it("is one that can be shown anywhere, whatever was sent; cleaned again it is the same", () =>
    fc.assert(
      fc.property(fc.string({ unit: units, maxLength: 400 }), (sent) => {
        const name = cleanFileName(sent)
        assert.isNotEmpty(name)
        assert.isAtMost(Array.from(name).length, 200)
        assert.notMatch(name, /[\p{Cc}/\\\u202a-\u202e]/u)
        assert.isTrue(name.isWellFormed())
        assert.strictEqual(cleanFileName(name), name)
      })
    ))

  it("is the last part of a path, its ending kept where it is too long", () => {
    assert.strictEqual(cleanFileName("Papers\\2026\\Annual report.pdf"), "Annual report.pdf")
    assert.strictEqual(cleanFileName("../../etc/passwd"), "passwd")
    assert.strictEqual(cleanFileName("..."), "document")
    assert.strictEqual(cleanFileName(""), "document")
    assert.strictEqual(cleanFileName("exe\u202efdp.pdf"), "exefdp.pdf")
    assert.strictEqual(cleanFileName(`${"x".repeat(300)}.pdf`), `${"x".repeat(196)}.pdf`)
  })
})
