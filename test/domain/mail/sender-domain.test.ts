import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"

import { formatMailbox, parseMailbox, rewriteSender } from "../../../src/domain/mail/address.ts"

const domains = { sender: "postlane.test", legacy: "legacy.example" }
const rewritten = (from: string, on = domains) =>
  formatMailbox(rewriteSender(Result.getOrThrow(parseMailbox(from)), on))

describe("sender domain", () => {
  it("rewrites the legacy domain and any subdomain of it, and keeps name and local part", () => {
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["a@legacy.example", "a@postlane.test"],
      ["a@LEGACY.Example", "a@postlane.test"],
      ["a@mail.legacy.example", "a@postlane.test"],
      ["a@x.y.legacy.example", "a@postlane.test"],
      ["Ann <a@legacy.example>", "Ann <a@postlane.test>"],
      ['"Doe, Ann" <a@legacy.example>', '"Doe, Ann" <a@postlane.test>'],
      ['"A \\"Q\\" B" <a@legacy.example>', '"A \\"Q\\" B" <a@postlane.test>'],
      ["Zoë Ünï <zoë@legacy.example>", "Zoë Ünï <zoë@postlane.test>"],
      ["日本 <a@legacy.example>", "日本 <a@postlane.test>"],
      ['"two words"@legacy.example', '"two words"@postlane.test'],
      ["Case.Kept+Tag@legacy.example", "Case.Kept+Tag@postlane.test"]
    ]
    for (const [from, to] of rows) assert.strictEqual(rewritten(from), to)
  })

  it("leaves every other domain alone", () => {
    for (const from of [
      "a@postlane.test",
      "a@notlegacy.example",
      "a@legacy.example.org",
      "a@example",
      "A <a@sub.postlane.test>"
    ]) {
      assert.strictEqual(rewritten(from), from)
    }
  })

  it("knows an internationalised legacy domain in both spellings", () => {
    const on = { sender: "postlane.test", legacy: "xn--exmple-cua.test" }
    assert.strictEqual(rewritten("a@exämple.test", on), "a@postlane.test")
    assert.strictEqual(rewritten("a@xn--exmple-cua.test", on), "a@postlane.test")
  })

  it("S8: what leaves is never on the legacy domain, and rewriting twice changes nothing", () => {
    const label = fc.stringMatching(/^[a-z]{1,8}$/)
    fc.assert(
      fc.property(fc.array(label, { maxLength: 3 }), fc.boolean(), (labels, legacy) => {
        const base = legacy ? domains.legacy : domains.sender
        const box = { name: undefined, local: "a", domain: [...labels, base].join(".") }
        const once = rewriteSender(box, domains)
        assert.isFalse(once.domain === domains.legacy || once.domain.endsWith(`.${domains.legacy}`))
        assert.deepStrictEqual(rewriteSender(once, domains), once)
        assert.strictEqual(once.local, box.local)
      })
    )
  })

  it("keeps a sender domain that lies under the legacy one", () => {
    const under = { sender: "mail.legacy.example", legacy: "legacy.example" }
    assert.strictEqual(rewritten("a@legacy.example", under), "a@mail.legacy.example")
    assert.strictEqual(rewritten("a@mail.legacy.example", under), "a@mail.legacy.example")
    assert.strictEqual(rewritten("a@other.legacy.example", under), "a@mail.legacy.example")
  })
})
