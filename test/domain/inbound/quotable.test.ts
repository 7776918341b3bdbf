import { assert, describe, it } from "vitest"

import type { MailHeader } from "../../../src/domain/inbound/incoming-mail.ts"
import { isQuotableAddress, isQuotableName, unquotable } from "../../../src/domain/inbound/quotable.ts"

const header = (name: string, value: string): MailHeader => ({ name, value })
const FROM = header("from", "Ann <ann@reader.test>")
/** Why a mail of ann@reader.test proves nothing; its last report is the first header. */
const why = (
  headers: ReadonlyArray<MailHeader>,
  {
    envelopeFrom = "bounce@x.test",
    reportAt = 0
  }: { readonly envelopeFrom?: string; readonly reportAt?: number } = {}
) =>
  unquotable(
    { headers: [header("authentication-results", "x"), ...headers], from: ["ann@reader.test"] },
    { envelopeFrom, reportAt }
  )
const received = (value: string) => why([header("received", value), FROM])
const signature = (value: string) => why([FROM, header("dkim-signature", value)])
const from = (value: string) => why([header("from", value)])

describe("what a mail server may copy into its report", () => {
  it("is an address or a name without anything that ends a value, begins a comment or escapes", () => {
    for (const bad of [" ", "\t", "\u0000", "\u0085", "(", ")", "<", ">", ";", '"', "\\"]) {
      assert.isFalse(isQuotableAddress(`a${bad}@x.test`), JSON.stringify(bad))
      assert.isFalse(isQuotableName(`a${bad}`), JSON.stringify(bad))
    }
    for (const good of ["", "prvs=17=ann@x.test", "a+b@x.test"]) assert.isTrue(isQuotableAddress(good))
    assert.isTrue(isQuotableName("mail.x.test"))
    assert.isTrue(isQuotableName("[10.0.0.1]"))
    assert.isFalse(isQuotableName("a=b"), "a name has none")
    assert.isUndefined(why([FROM]))
    assert.match(why([FROM], { envelopeFrom: "a;b@x.test" }) ?? "", /envelope sender/)
  })

  it("is a signature whose reported tags can be quoted, encoded or not", () => {
    assert.isUndefined(signature("v=1; d=x.test; s=s1; a=rsa-sha256; i=@x.test; b=aB0+/ =\t="))
    for (const tag of ["d", "s", "a", "i"]) {
      assert.include(signature(`v=1; ${tag}=a(b; b=AA`), `the ${tag}=`)
      assert.include(signature(`v=1; ${tag.toUpperCase()} = a=28b ; b=AA`), `the ${tag}=`)
      assert.include(signature(`${tag}=a=3bb`), `the ${tag}=`)
    }
    assert.include(signature("b=AA(; d=x.test"), "the b=")
    assert.include(signature("B = A-A"), "the b=")
    // Nobody reports these, and a blank around a value is none of it.
    assert.isUndefined(signature('z=From:a(b)|To:"c"; n=(; h=from : to; d= x.test ;b= AA '))
    // Of several signatures the first that cannot be quoted is named.
    const both = [header("dkim-signature", "d=a(b"), header("dkim-signature", "s=a(b")]
    assert.include(why([FROM, ...both]), "the d=")
  })

  it("is a Received with one from, one by and one date, as servers write it", () => {
    for (const plain of [
      "from mail.x.test by mx.hop.test with ESMTP; Mon, 1 Jan 2026 00:00:00 +0000",
      "from mail.x.test (mail.x.test [10.0.0.1]) by mx.hop.test; Mon, 1 Jan 2026 00:00:00 +0000 (UTC)",
      "FROM mail.x.test (a (b) c) BY mx.hop.test",
      "from (mail.x.test) by mx.hop.test",
      "from  by mx.hop.test",
      "by mx.hop.test; a; b",
      "(from a by b by c)",
      "from a (b\\) c) by d",
      'from a by b (x; by "y"); date'
    ])
      assert.isUndefined(received(plain), plain)
    for (const bad of [
      "from a=b by mx.hop.test",
      "from a;b by mx.hop.test; date",
      "from a (x; y) by mx.hop.test; date",
      'from a ("x") by mx.hop.test',
      "from a by b by c",
      "from a by b BY c",
      "from a by b by",
      "from a by b; date; date",
      "from a by b (open",
      "from a by b) closed",
      'from a by "b"',
      "from a by b\\c",
      "from a (x) (y by b",
      "from a ) by b ( by c"
    ])
      assert.match(received(bad) ?? "", /the name that its server gave/, bad)
  })

  it("looks at each Received that the hop may have written: down to its last report, and at the next below", () => {
    const plain = header("received", "from a by mx.hop.test; date")
    const bad = header("received", "from a=b by mx.hop.test; date")
    const report = header("authentication-results", "x")
    const check = (...headers: ReadonlyArray<MailHeader>) => {
      const reportAt = headers.lastIndexOf(report)
      return (
        unquotable(
          { headers: [...headers, FROM], from: ["ann@reader.test"] },
          { envelopeFrom: "", reportAt }
        ) !== undefined
      )
    }
    assert.isTrue(check(bad, report, plain))
    assert.isTrue(check(plain, bad, plain, report))
    assert.isTrue(check(plain, report, bad))
    assert.isTrue(check(report, bad, plain))
    assert.isTrue(check(report, header("x-other", "from a=b"), bad))
    assert.isFalse(check(report, plain, bad), "a stranger's, below the hop's own")
    assert.isFalse(check(plain, header("x-other", "from a=b"), report))
    assert.isFalse(check(report))
  })

  it("is a From in which every reader finds the same address", () => {
    for (const plain of [
      "ann@reader.test",
      " Ann@Reader.TEST ",
      "Ann <ann@reader.test>",
      "Ann < ANN@reader.test >",
      "ann@reader.test (Ann)",
      "Ann <ann@reader.test> (work) ",
      '"<x>" <ann@reader.test>'
    ])
      assert.isUndefined(from(plain), plain)
    for (const bad of [
      "",
      "bob@reader.test",
      "ann@reader.test.evil.test",
      "ann@reader.test, bob@x.test",
      "Ann <ann@reader.test",
      "Ann <ann@reader.test> <bob@x.test>",
      "Ann <ann@reader.test> (a;b)",
      "Ann <ann@reader.test> (a (b))",
      "ann@reader.test (a\\)",
      'ann@reader.test (a"b)',
      "ann@reader.test (a=b)",
      "Ann <ann@reader.test>x",
      "xann@reader.test"
    ])
      assert.match(from(bad) ?? "", /its From/, bad)
    const spelt = unquotable(
      { headers: [header("from", "ann@reader.test")], from: ["Ann@Reader.test"] },
      { envelopeFrom: "", reportAt: 0 }
    )
    assert.isUndefined(spelt)
    assert.match(why([header("subject", "x")]) ?? "", /its From/, "a mail without one")
  })
})
