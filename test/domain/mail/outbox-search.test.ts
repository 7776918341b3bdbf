import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  meetsAll,
  parseOutboxSearch,
  type SearchedMail,
  type SearchTerm,
  writeTerm
} from "../../../src/domain/mail/outbox-search.ts"
import { KEY_TAG } from "../../../src/domain/mail/tag.ts"

const mail = (changes: Partial<SearchedMail> = {}): SearchedMail => ({
  from: "News <news@x.test>",
  to: ["Ann <Ann@x.test>"],
  cc: [],
  bcc: ["carl@x.test"],
  subject: "Your receipt: order 17",
  at: "2026-03-10T12:00:00.000Z",
  text: "The code is 4711",
  tags: { campaign: "Spring", [KEY_TAG]: "feed" },
  files: 1,
  messageId: "m-1",
  key: "Order 17/A",
  ...changes
})

const finds = (search: string, changes?: Partial<SearchedMail>): boolean =>
  meetsAll(mail(changes), parseOutboxSearch(search).terms)

describe("a search of the outbox", () => {
  it.each([
    ["from:news", true],
    ["from:ann", false],
    ["TO:ann@X.test", true],
    ["to:carl", true],
    ["to:news", false],
    ["subject:receipt", true],
    ['subject:"receipt: order 17"', true],
    ['subject:"order receipt"', false],
    ["subject:4711", false],
    ["tag:campaign", true],
    ["tag:campaign=spring", true],
    ["tag:spring", true],
    ["tag:feed", false],
    ["id:M-1", true],
    ['id:"order 17/a"', true],
    ["id:m", false],
    ["has:attachment", true],
    ["has:attachments from:news receipt", true],
    ["before:2026-03-11", true],
    ["before:2026-03-10", false],
    ["after:2026-03-10", true],
    ["after:2026-03-11", false],
    ["before:2026-03-10T12:00", false],
    ["before:2026-03-10T12:00:01z after:2026-03-10T12:00:00", true],
    ["code 47", true],
    ['"code is"', true],
    ['"is code"', false],
    // What looks like an operator and is none is a word.
    ["receipt:", true],
    ["https://x.test", false],
    ['"from:news"', false],
    ["", true]
  ])("%s: %s", (search, found) => {
    assert.strictEqual(finds(search), found)
    assert.deepStrictEqual(parseOutboxSearch(search).faults, [])
  })

  it("says what it left out", () => {
    for (const wrong of [
      "before:soon",
      "after:2026-02-30",
      "before:2026-13-01",
      "before:2026-03-10T25:00",
      "before:",
      "has:wings",
      "has:",
      "from:",
      'to:""'
    ]) {
      const { faults, terms } = parseOutboxSearch(`${wrong} order`)
      assert.deepStrictEqual([faults.length, terms], [1, [{ is: "words", text: "order" }]], wrong)
    }
  })

  it("is read as it was meant: in any case, quoted or not, up to a quotation that is not closed", () => {
    const terms = (search: string) => parseOutboxSearch(search).terms
    for (const is of ["from", "to", "subject", "tag", "id"] as const)
      assert.deepStrictEqual(terms(` ${is.toUpperCase()}:"A b"  C`), [
        { is, text: "a b" },
        { is: "words", text: "c" }
      ])
    for (const is of ["before", "after"] as const)
      assert.deepStrictEqual(terms(`${is}:2026-03-10t12:00z`), [
        { is, said: "2026-03-10T12:00Z", at: Date.parse("2026-03-10T12:00:00Z") }
      ])
    assert.deepStrictEqual(terms('to:"ann lee'), [{ is: "to", text: "ann lee" }])
    assert.deepStrictEqual(terms('"" " "'), [{ is: "words", text: " " }])
    assert.deepStrictEqual(terms('x"from:"y z'), [
      { is: "words", text: "xfrom:y" },
      { is: "words", text: "z" }
    ])
    for (const word of ["from", "before", "has"])
      assert.deepStrictEqual(parseOutboxSearch(word), { terms: [{ is: "words", text: word }], faults: [] })
    assert.deepStrictEqual(terms("to:a:b"), [{ is: "to", text: "a:b" }])
    assert.deepStrictEqual(
      ["a", "a b", "a:b"].map((text) => writeTerm({ is: "to", text })),
      ["to:a", 'to:"a b"', 'to:"a:b"']
    )
    assert.strictEqual(writeTerm({ is: "words", text: "a b" }), '"a b"')
  })

  it("finds no mail with files where none was counted", () => {
    assert.isFalse(finds("has:attachment", { files: undefined }))
    assert.isFalse(finds("has:attachment", { files: 0 }))
  })
})

const value = fc.stringMatching(/^[a-z0-9@.:=<> -]{1,12}$/).filter((text) => text.trim() !== "")
const day = fc
  .date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const term: fc.Arbitrary<SearchTerm> = fc.oneof(
  fc.record({ is: fc.constantFrom("words", "from", "to", "subject", "tag", "id"), text: value }),
  fc.constant<SearchTerm>({ is: "attachment" }),
  fc
    .tuple(fc.constantFrom("before", "after"), day)
    .map(([is, said]): SearchTerm => ({ is, said, at: Date.parse(`${said}T00:00:00Z`) }))
)
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom('"', ":", " ", "from", "before", "has", "\\", "\u2028", "__proto__"),
    maxLength: 60
  })
)

describe("any search", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(fc.array(term, { maxLength: 6 }), (terms) => {
        assert.deepStrictEqual(parseOutboxSearch(terms.map(writeTerm).join("  ")), { terms, faults: [] })
      })
    )
  })

  it("of anybody gives terms and faults that can be shown, and each word that is added finds fewer", () => {
    fc.assert(
      fc.property(hostile, hostile, fc.string(), (one, other, subject) => {
        const { faults, terms } = parseOutboxSearch(`${one}" ${other}`)
        for (const each of terms) assert.isString(writeTerm(each))
        assert.isAtMost(faults.join("").length, (one.length + other.length + 60) * (faults.length + 1))
        for (let count = terms.length; count > 0; count -= 1)
          if (meetsAll(mail({ subject }), terms.slice(0, count)))
            assert.isTrue(meetsAll(mail({ subject }), terms.slice(0, count - 1)))
      })
    )
  })

  it("is read in time that follows its length", () => {
    for (const long of ['"', ":", "a:", '":"', "before:"].map((part) => part.repeat(20_000)))
      assert.isArray(parseOutboxSearch(long).terms)
  })
})
