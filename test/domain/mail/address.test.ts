import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"

import { bareAddressOf } from "../../../src/domain/delivery/untrusted.ts"
import {
  addressKey,
  addressOf,
  asciiDomain,
  formattedKey,
  formatMailbox,
  type Mailbox,
  parseMailbox,
  parsePublicMailbox,
  rewriteSender,
  withoutInvisibleEdges,
  writtenKey
} from "../../../src/domain/mail/address.ts"

/** Every character that nobody sees, as Unicode has them. */
const INVISIBLE = Array.from({ length: 0x11_0000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point))
  .filter((char) => /[\p{Default_Ignorable_Code_Point}\p{Zs}\u2800]/u.test(char))

const parsed = (text: string): Mailbox | string =>
  Result.match(parseMailbox(text), { onFailure: (why) => why, onSuccess: (box) => box })

describe("addresses", () => {
  it("parses what RFC 5322 and 6531 allow", () => {
    const rows: ReadonlyArray<readonly [string, Mailbox]> = [
      ["a@x.test", { name: undefined, local: "a", domain: "x.test" }],
      ["a.b+c@X.Test", { name: undefined, local: "a.b+c", domain: "x.test" }],
      ["Ann Lee <a@x.test>", { name: "Ann Lee", local: "a", domain: "x.test" }],
      ["Ann<a@x.test>", { name: "Ann", local: "a", domain: "x.test" }],
      ["John Q. Public <a@x.test>", { name: "John Q. Public", local: "a", domain: "x.test" }],
      ['"Doe, \\"Ann\\"" <a@x.test>', { name: 'Doe, "Ann"', local: "a", domain: "x.test" }],
      ["<a@x.test>", { name: undefined, local: "a", domain: "x.test" }],
      [" a@x.test ", { name: undefined, local: "a", domain: "x.test" }],
      ['"a b"@x.test', { name: undefined, local: "a b", domain: "x.test" }],
      ["dörte@exämple.test", { name: undefined, local: "dörte", domain: "xn--exmple-cua.test" }],
      ["日本 <a@x.test>", { name: "日本", local: "a", domain: "x.test" }],
      ["J.  R. R. <a@x.test>", { name: "J. R. R.", local: "a", domain: "x.test" }],
      ["Ann (home (\\)))  Lee <a@x.test> (work)", { name: "Ann Lee", local: "a", domain: "x.test" }],
      ['a."b c".d @ x . test', { name: undefined, local: "a.b c.d", domain: "x.test" }],
      ["a@x.test\u00a0", { name: undefined, local: "a", domain: "x.test" }],
      [", a@x.test", { name: undefined, local: "a", domain: "x.test" }]
    ]
    for (const [text, box] of rows) assert.deepStrictEqual(parsed(text), box, text)
  })

  it("refuses what is none, or more than one", () => {
    const hostile = [
      "",
      " ",
      "a",
      "a@",
      "@x.test",
      "a@b@c",
      "a..b@x.test",
      ".a@x.test",
      "a.@x.test",
      "a@x..test",
      "a@-x.test",
      "a@x.test,b@x.test",
      "a@x.test, b@x.test",
      "group: a@x.test;",
      "a@x.test>",
      "<a@x.test",
      "Foo, Bar <a@x.test>",
      "a@[127.0.0.1]",
      "a@x.test\r\nBcc: b@x.test",
      "Ann\r\n <a@x.test>",
      "Ann\u0000 <a@x.test>",
      "a\u2028@x.test",
      `${"l".repeat(65)}@x.test`,
      `a@${"d".repeat(250)}.test`,
      "a b@x.test",
      "a@x.test,",
      ". Ann <a@x.test>",
      "Ann <<a@x.test>>",
      "Ann <a@x.test> Lee",
      'a@"x".test',
      "(a@x.test",
      '"a@x.test',
      "a\\@x.test",
      "<@b.test:a@x.test>",
      "\ud800@x.test",
      'Ann <"a\udfff"@x.test>',
      "a@x.test (open",
      "a b c@x.test",
      "<a@x.test b",
      "Ann <a@x.test b",
      "J <a.\u200bb@x.test>",
      '<"\u200ba"@x.test>'
    ]
    for (const text of hostile) assert.isString(parsed(text), JSON.stringify(text))
  })

  it("is not looked into where it is longer than any real one", () => {
    for (const char of ["(", '"', "<", "a ", "a@", "\\", "a."]) {
      for (const text of [
        `${char.repeat(3_000)}ann@reader.test`,
        `"${char.repeat(200_000)}" <ann@reader.test>`
      ]) {
        assert.deepStrictEqual(parseMailbox(text), Result.fail("longer than 320 characters"))
      }
      // One that is just short enough is answered, and throws nothing.
      parseMailbox(char.repeat(320).slice(0, 320))
    }
  })

  it("takes no domain without a dot where a person types the address in", () => {
    assert.isTrue(Result.isSuccess(parsePublicMailbox("Ann <a@x.test>")))
    for (const text of ["a@b", "Ann <a@localhost>", "a@b.", "no address"]) {
      assert.isTrue(Result.isFailure(parsePublicMailbox(text)), text)
    }
  })

  it("never throws, and never lets a line break through", () => {
    const line = fc
      .array(fc.constantFrom(...Array.from('ab <>@".,:;\r\n\\()\u0000\u001f\té')), { maxLength: 30 })
      .map((characters) => characters.join(""))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), line), (text) => {
        const box = parsed(text)
        if (typeof box === "string") return
        // oxlint-disable-next-line no-control-regex -- what must not be there
        assert.notMatch(formatMailbox(box), /[\u0000-\u001f]/)
      }),
      { numRuns: 2000 }
    )
  })

  it("formats what parses back to the same mailbox", () => {
    const name = fc.option(
      fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
        .map((text) => withoutInvisibleEdges(text.replace(/\p{C}/gu, "").replace(/\s+/g, " ")))
        .filter((text) => text !== ""),
      { nil: undefined }
    )
    const local = fc
      .stringMatching(/^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~ "\\(),:;<>[\]-]{1,20}$/)
      .filter((text) => text.trim() === text && !text.includes("  "))
    fc.assert(
      fc.property(
        name,
        local,
        fc.constantFrom("x.test", "xn--exmple-cua.test", "a.b.c.test"),
        (displayName, localPart, domain) => {
          const box = { name: displayName, local: localPart, domain }
          const again = parsed(formatMailbox(box))
          assert.deepStrictEqual(again, box)
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("are the same with anything invisible around them, and none with it inside the local part", () => {
    const key = (text: string) => addressKey(Result.getOrThrow(parseMailbox(text)))
    const around = fc.array(fc.constantFrom(...INVISIBLE), { maxLength: 3 }).map((all) => all.join(""))
    fc.assert(
      fc.property(around, around, around, around, (a, b, c, d) => {
        for (const text of [
          `${a}john@x.test${b}`,
          `${a}John${b} <${c}john@x.test${d}>`,
          `${a}<john@x.test>${d}`,
          `John <john@x.test\u200c${d}>`,
          // Apart from the domain it would be a word of its own.
          `John <john@x.test ${d}\u{e0099}>`
        ]) {
          assert.strictEqual(key(text), "john@x.test")
          assert.strictEqual(writtenKey(text), "john@x.test")
          assert.strictEqual(bareAddressOf(text), "john@x.test")
        }
        assert.strictEqual(Result.getOrThrow(parseMailbox(`${a}John${b} <john@x.test>`)).name, "John")
      })
    )
    for (const char of INVISIBLE.filter((one) => one !== " ")) {
      for (const text of [
        `jo${char}hn@x.test`,
        `john${char}@x.test`,
        `"jo${char}hn"@x.test`,
        `J <jo${char}hn@x.test>`
      ]) {
        assert.isTrue(Result.isFailure(parseMailbox(text)), JSON.stringify(text))
      }
    }
    for (const char of INVISIBLE.filter((one) => !/[\u200c\u200d]/.test(one)))
      assert.strictEqual(key(`john@x${char}.test`), "john@x.test", JSON.stringify(char))
  })

  it("compares by one key, whatever case, quoting or normal form", () => {
    const key = (text: string) => addressKey(Result.getOrThrow(parseMailbox(text)))
    assert.strictEqual(key("Ann@X.test"), "ann@x.test")
    assert.strictEqual(key('"ann"@x.test'), "ann@x.test")
    assert.strictEqual(key("Zo\u00eb <Zoe\u0308@x.test>"), "zo\u00eb@x.test")
    assert.strictEqual(addressOf({ name: "N", local: "a b", domain: "x.test" }), '"a b"@x.test')
  })

  it("has 64 characters before the @ and 254 in all, and a mailbox 320", () => {
    const local = "l".repeat(64)
    assert.isObject(parsed(`${local}@x.test`))
    assert.strictEqual(parsed(`l${local}@x.test`), "the part before the @ is longer than 64 characters")
    const host = (length: number) => `${"d".repeat(60)}.`.repeat(4).slice(0, length - 5) + ".test"
    assert.isObject(parsed(`${local}@${host(189)}`))
    assert.strictEqual(parsed(`${local}@${host(190)}`), "longer than 254 characters")
    const named = (length: number) => `"${"n".repeat(length - 13)}" <ann@x.test>`.replace("ann@", "a@")
    assert.isObject(parsed(named(320)))
    assert.lengthOf(named(320), 320)
    assert.strictEqual(parsed(named(321)), "longer than 320 characters")
  })

  it("says of a text that is none what is wrong, and keeps a name apart from what stands before it", () => {
    assert.strictEqual(parsed("a@x y"), "is not one mail address")
    assert.strictEqual(parsed("a@x_y.test"), '"x_y.test" is not a domain')
    assert.strictEqual(parsed("(a@x.test"), "is not one mail address")
    assert.strictEqual(parsed(". <a@x.test>"), "is not one mail address")
    assert.deepInclude(parsed("(home)Ann(work)Lee <a@x.test>"), { name: "Ann Lee" })
    assert.deepInclude(parsed("a(x)(y)@x.test"), { local: "a" })
    assert.deepInclude(parsed("Ann.Lee <a@x.test>"), { name: "Ann.Lee" })
    assert.deepInclude(parsed('"\u200bAnn" <"a"@x.test>'), { name: "Ann" })
  })

  it("text that a person typed is compared without what is around it, also where it is no address", () => {
    assert.strictEqual(writtenKey(" Ann@X.test "), "ann@x.test")
    assert.strictEqual(writtenKey("\tAnn@X.test\n"), "ann@x.test")
    assert.strictEqual(writtenKey("Ann <\u200b a@x.test>"), "a@x.test")
    assert.strictEqual(writtenKey(" \u200bNo Address "), "no address")
    assert.strictEqual(writtenKey("A\u00c4"), "a\u00e4")
  })

  it("as a provider's request holds it has the same key, encoded name or not", () => {
    for (const box of [
      { name: undefined, local: "Ann", domain: "x.test" },
      { name: "Ann <Lee>", local: "A\u0308nn", domain: "x.test" },
      { name: 'D"o', local: "a b", domain: "x.test" }
    ])
      assert.strictEqual(formattedKey(formatMailbox(box)), addressKey(box))
    assert.strictEqual(formattedKey("=?UTF-8?B?w6Q=?= <Ann@x.test>"), "ann@x.test")
  })

  it("MAIL-13: of the legacy domain, or below it, leaves from the sender domain, but one that is below it as it is", () => {
    const sent = (domain: string, sender: string) =>
      rewriteSender({ name: "N", local: "a", domain }, { sender, legacy: "old.test" })
    for (const [domain, sender, becomes] of [
      ["old.test", "new.test", "new.test"],
      ["in.old.test", "new.test", "new.test"],
      ["bold.test", "new.test", "bold.test"],
      ["x.test", "new.test", "x.test"],
      ["in.new.test", "new.test", "in.new.test"],
      ["mail.old.test", "mail.old.test", "mail.old.test"],
      ["in.mail.old.test", "mail.old.test", "in.mail.old.test"],
      ["other.old.test", "mail.old.test", "mail.old.test"],
      ["old.test", "mail.old.test", "mail.old.test"],
      ["email.old.test", "mail.old.test", "mail.old.test"]
    ] as const)
      assert.deepStrictEqual(sent(domain, sender), { name: "N", local: "a", domain: becomes }, domain)
  })

  it("takes host names only", () => {
    assert.strictEqual(asciiDomain("EXÄMPLE.test."), "xn--exmple-cua.test")
    for (const bad of [
      "",
      ".",
      "a..b",
      "x_y.test",
      "ü_x.test",
      "[1.2.3.4]",
      "a b",
      "x.test/p",
      "ü/b",
      "ü:80",
      "-a.test"
    ])
      assert.isUndefined(asciiDomain(bad), bad)
  })
})
