import { Redacted } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { parseAuthenticationResults } from "../../../src/domain/inbound/authentication-results.ts"
import { authenticityOf, senderOf } from "../../../src/domain/inbound/sender-authenticity.ts"

const ann = { name: undefined, local: "ann", domain: "reader.test" }
const rules = { trustedHops: ["mx.hop.test"], trustsLoopback: false }
const delivery = { envelopeFrom: "bounces@x.test", peerTrusted: true }
const mailOf = (...values: ReadonlyArray<string>) => ({
  from: ["ann@reader.test"],
  headers: [
    ...values.map((value) => ({ name: "authentication-results", value })),
    { name: "from", value: "Ann <ann@reader.test>" }
  ]
})
const verified = (...values: ReadonlyArray<string>) =>
  authenticityOf(mailOf(...values), ann, delivery, rules).verified

describe("Authentication-Results (RFC 8601)", () => {
  it("reads what the RFC shows", () => {
    assert.deepStrictEqual(
      parseAuthenticationResults(
        'example.com 1; auth=pass (cram-md5) smtp.auth="send\\"er@example.com"; spf = fail smtp.mailfrom=example.com; none'
      ),
      {
        server: "example.com",
        results: [
          {
            method: "auth",
            result: "pass",
            properties: new Map([["smtp.auth", 'send"er@example.com']])
          },
          {
            method: "spf",
            result: "fail",
            properties: new Map([["smtp.mailfrom", "example.com"]])
          }
        ]
      }
    )
    assert.deepStrictEqual(parseAuthenticationResults("foo.example.net (foobar (nested)) 1; none"), {
      server: "foo.example.net",
      results: []
    })
    assert.deepStrictEqual(
      parseAuthenticationResults('mx; dkim=pass reason="good; dmarc=pass" header.d=x')?.results?.map(
        ({ method }) => method
      ),
      ["dkim"]
    )
  })

  it("a backslash in a comment takes the next character's meaning, as a stranger's HELO there may need it", () => {
    // As hops write a HELO of `a); dmarc=pass header.from=reader.test (b(c`.
    const forged = "mx.hop.test; spf=none (helo=a\\); dmarc=pass header.from=reader.test (b\\(c))"
    assert.deepStrictEqual(
      parseAuthenticationResults(forged)?.results?.map(({ method, result }) => [method, result]),
      [["spf", "none"]]
    )
    assert.isFalse(verified(forged))
    assert.isFalse(verified(forged, "mx.hop.test; dmarc=fail header.from=reader.test"))
    assert.isTrue(verified("mx.hop.test; dmarc=pass (a\\) b) header.from=reader.test"))
    assert.isTrue(verified("mx.hop.test; dmarc=pass (a\\( b) header.from=reader.test"))
    assert.isFalse(verified("mx.hop.test; dmarc=pass header.from=reader.test (a\\)"), "it is not closed")
  })

  it("what stands beyond 8,000 characters is unread, and so is all of its header", () => {
    const pass = "mx.hop.test; dmarc=pass header.from=reader.test"
    const room = 8_000 - pass.length
    assert.isTrue(verified(pass + " ".repeat(room)))
    for (const beyond of [" ", "; dmarc=fail", " (", `${" ".repeat(9_000)}; dkim=pass`]) {
      const long = pass + " ".repeat(room) + beyond
      assert.deepStrictEqual(parseAuthenticationResults(long), { server: "mx.hop.test", results: undefined })
      assert.isFalse(verified(long), beyond)
      assert.isFalse(verified(long, pass), "nothing below it counts either")
    }
    const unnamed = "spf=pass smtp.mailfrom=reader.test"
    assert.isDefined(parseAuthenticationResults(unnamed.padEnd(8_000)))
    assert.isUndefined(parseAuthenticationResults(unnamed.padEnd(8_001)))
  })

  it("takes any text, in time that its length bounds", () => {
    const nasty = fc.array(
      fc.constantFrom("(", ")", '"', "\\", ";", "=", ".", " ", "dmarc", "pass", "mx.hop.test", "header.from"),
      { maxLength: 400 }
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          nasty.map((parts) => parts.join(""))
        ),
        (value) => {
          const read = parseAuthenticationResults(value)
          assert.notMatch(read?.server ?? "", /[\s;]/)
        }
      )
    )
    for (const one of ["(", '"', "\\", "a.b=", ";", "dmarc=pass "])
      parseAuthenticationResults(one.repeat(19_000))
  })

  it("words in comments and in quotes prove nothing", () => {
    for (const value of [
      "mx.hop.test; spf=pass (dmarc=pass)",
      "mx.hop.test (; dmarc=pass)",
      'mx.hop.test; spf=pass smtp.mailfrom="; dmarc=pass"',
      "mx.hop.test; x-dmarc=pass",
      "mx.hop.test; dmarc=passed",
      "mx.hop.test; dmarc=pass-not",
      'evil.test "mx.hop.test"; dmarc=pass',
      "mx.hop.test; dmarc=pass (unclosed"
    ]) {
      assert.isFalse(verified(value), value)
    }
    assert.isTrue(verified("mx.hop.test; dmarc=pass (p=none) header.from=reader.test"))
  })
})

describe("verified senders (INBOUND-4)", () => {
  it("headers of others change nothing, above or below", () => {
    const other = fc.string({ maxLength: 60 }).map((rest) => `evil.test; ${rest}`)
    fc.assert(
      fc.property(fc.array(other), fc.array(other), fc.boolean(), (above, below, passes) => {
        const own = `mx.hop.test; dmarc=${passes ? "pass" : "fail"} header.from=reader.test`
        assert.strictEqual(verified(...above, own, ...below), passes)
        assert.isFalse(verified(...above, ...below))
      })
    )
  })

  it("what the hop says and nobody can read proves nothing, and what stands below it neither", () => {
    const pass = "mx.hop.test; dmarc=pass header.from=reader.test"
    assert.isTrue(verified(pass, '"'))
    for (const unreadable of [
      '"',
      "(",
      "mx.hop.test; dmarc=fail (",
      'mx.hop.test; dmarc=fail reason="',
      "mx.hop.test; dmarc fail",
      "mx.hop.test; =pass; dmarc=pass",
      `mx.hop.test; dmarc=fail ${"x".repeat(9_000)}`,
      "spf=pass smtp.mailfrom=reader.test; dkim=pass",
      "mx.hop.test x; dmarc=fail"
    ]) {
      assert.isFalse(verified(unreadable, pass), unreadable)
    }
    assert.isTrue(verified("evil.test; dmarc=fail (", pass), "another server's, by its name")
    assert.isFalse(verified("in.mx.hop.test; dmarc=pass"), "a name below the hop's is not the hop's")
  })

  it("without a DMARC record of its domain a signature or return path of the sender's own is enough", () => {
    for (const [result, said] of [
      [true, "dkim=pass header.d=reader.test"],
      [true, "dkim=fail header.d=reader.test; dkim=pass header.i=@Reader.test"],
      [true, "spf=pass smtp.mailfrom=ann@reader.test"],
      [true, "spf=pass smtp.mailfrom=reader.test"],
      [false, "dkim=pass header.d=evil.test; spf=pass smtp.mailfrom=evil.test"],
      [false, "dkim=pass header.d=evil.reader.test"],
      [false, "dkim=pass header.d=evilreader.test"],
      [false, "dkim=none; spf=softfail smtp.mailfrom=reader.test"],
      [false, "dkim=pass; spf=pass"],
      [false, "dkim=pass header.d="],
      [false, 'x-a=b reason="dkim=pass header.d=reader.test"'],
      [false, 'dkim=pass reason="header.d=reader.test"']
    ] as const) {
      assert.strictEqual(verified(`mx.hop.test; dmarc=none header.from=reader.test; ${said}`), result, said)
      assert.isFalse(verified(`mx.hop.test; ${said}`), "the hop has to say that there is no record")
      assert.isFalse(verified(`mx.hop.test; dmarc=fail; ${said}`))
      assert.isFalse(verified(`mx.hop.test; dmarc=none; dmarc=fail; ${said}`))
      assert.isFalse(verified(`mx.hop.test; dmarc=none header.from=evil.test; ${said}`))
    }
    const below = { name: undefined, local: "ann", domain: "post.reader.test" }
    const signed = mailOf("mx.hop.test; dmarc=none; dkim=pass header.d=reader.test")
    assert.isTrue(
      authenticityOf(
        {
          from: ["ann@post.reader.test"],
          headers: [...signed.headers.slice(0, 1), { name: "from", value: "ann@post.reader.test" }]
        },
        below,
        delivery,
        rules
      ).verified,
      "the owner of what is above"
    )
  })

  it("only where DMARC says that there is no record does a signature or return path count", () => {
    for (const [result, said] of [
      [true, "none"],
      [true, "bestguesspass"],
      [false, "fail"],
      [false, "permerror"],
      [false, "temperror"],
      [false, "neutral"],
      [false, "policy"],
      [false, "softfail"],
      [false, "unknown"]
    ] as const)
      for (const proof of ["dkim=pass header.d=reader.test", "spf=pass smtp.mailfrom=ann@reader.test"])
        assert.strictEqual(
          verified(`mx.hop.test; dmarc=${said} header.from=reader.test; ${proof}`),
          result,
          said
        )
  })

  it("who signed is the domain of the signature, and the identity that it names has to be of it", () => {
    for (const [result, said] of [
      [true, "header.d=reader.test header.i=@reader.test"],
      [true, "header.i=ann@reader.test header.d=reader.test"],
      [true, "header.d=reader.test header.i=@post.reader.test"],
      [true, "header.i=@reader.test"],
      [false, "header.d=evil.test header.i=@reader.test"],
      [false, "header.i=@reader.test header.d=evil.test"],
      [false, "header.d=reader.test header.i=@evil.test"],
      [false, "header.d=post.reader.test header.i=@reader.test"],
      [false, 'header.d="" header.i=@reader.test'],
      [false, "header.d=reader.test header.i="],
      [false, "header.i=@post.reader.test"],
      [false, "header.from=reader.test"]
    ] as const)
      assert.strictEqual(
        verified(`mx.hop.test; dmarc=none header.from=reader.test; dkim=pass ${said}`),
        result,
        said
      )
  })

  it("a property has one value: neither the first nor the last of two counts", () => {
    for (const [result, said] of [
      [true, "dmarc=pass header.from=reader.test header.from=reader.test"],
      [false, "dmarc=pass header.from=evil.test header.from=reader.test"],
      [false, "dmarc=pass header.from=reader.test header.from=evil.test"],
      [false, "dmarc=pass header.from=evil.test Header.From=reader.test"],
      [false, "dmarc=none; dkim=pass header.d=reader.test header.d=evil.test"],
      [false, "dmarc=none; dkim=pass header.d=evil.test header.d=reader.test"],
      [false, "dmarc=none; dkim=pass header.d=reader.test header.i=@evil.test header.i=@reader.test"],
      [false, "dmarc=none; spf=pass smtp.mailfrom=evil.test smtp.mailfrom=reader.test"]
    ] as const)
      assert.strictEqual(verified(`mx.hop.test; ${said}`), result, said)
  })

  it("what contradicts itself proves nothing", () => {
    const none = "mx.hop.test; dmarc=none header.from=reader.test"
    for (const said of [
      "dkim=none; dkim=pass header.d=reader.test",
      "spf=fail smtp.mailfrom=x.test; spf=pass smtp.mailfrom=reader.test",
      "spf=pass smtp.mailfrom=reader.test; spf=pass smtp.mailfrom=reader.test",
      "dkim=pass header.d=evil.test header.d=reader.test",
      "dkim=pass header.i=a header.d=reader.test",
      "dkim=pass(x)header.d=reader.test",
      'dkim=pass reason="x"header.d=reader.test',
      "dkim=pass header.d=reader.test dkim",
      "dkim=pass header.d=reader.test; dmarc=pass"
    ])
      assert.isFalse(verified(`${none}; ${said}`), said)
    assert.isFalse(verified("mx.hop.test; dmarc=pass; dmarc=pass"))
    for (const other of ["spf=none", "spf=fail smtp.mailfrom=x.test smtp.helo=x.test"])
      assert.isFalse(verified(`${none}; ${other}; spf=pass smtp.mailfrom=reader.test`), other)
    assert.isTrue(
      verified(`${none}; spf=none smtp.helo=x.test; spf=pass smtp.mailfrom=reader.test`),
      "the two identities that SPF knows"
    )
    assert.isTrue(verified(`${none}; dkim=fail header.d=x.test; dkim=pass header.d=reader.test`))
  })

  it("without a named hop nobody is believed but loopback of an embedded run", () => {
    const pass = mailOf("mx.hop.test; dmarc=pass")
    const none = { trustedHops: [], trustsLoopback: false }
    assert.isFalse(authenticityOf(pass, ann, delivery, none).verified)
    assert.isTrue(authenticityOf(mailOf(), ann, delivery, { ...none, trustsLoopback: true }).verified)
    assert.isFalse(authenticityOf(pass, ann, { ...delivery, peerTrusted: false }, rules).verified)
  })

  it("a hop that shares a secret is believed with exactly this one, once", () => {
    const pass = mailOf("mx.hop.test; dmarc=pass header.from=reader.test")
    const secretly = { ...rules, hopSecret: Redacted.make("s3cret-of-the-hop") }
    const bearing = (...secrets: ReadonlyArray<string>) =>
      authenticityOf(
        {
          ...pass,
          headers: [...secrets.map((value) => ({ name: "x-postlane-hop", value })), ...pass.headers]
        },
        ann,
        delivery,
        secretly
      ).verified
    assert.isTrue(bearing("s3cret-of-the-hop"))
    for (const wrong of [
      [],
      [""],
      ["S3cret-of-the-hop"],
      ["s3cret-of-the-hoP"],
      ["s3cret-of-the-ho"],
      ["s3cret-of-the-hop!"],
      ["s3cret-of-the-hop", "s3cret-of-the-hop"]
    ])
      assert.isFalse(bearing(...wrong), JSON.stringify(wrong))
  })

  it("what stands between two reports of a hop is its own, and a Received by this hop", () => {
    const between = (name: string, value = "x"): boolean =>
      authenticityOf(
        {
          from: ["ann@reader.test"],
          headers: [
            { name: "authentication-results", value: "mx.hop.test; spf=none" },
            { name, value },
            { name: "authentication-results", value: "mx.hop.test; dmarc=pass header.from=reader.test" },
            { name: "from", value: "Ann <ann@reader.test>" }
          ]
        },
        ann,
        delivery,
        rules
      ).verified
    for (const own of ["received-spf", "dkim-filter", "arc-seal", "x-spam"]) assert.isTrue(between(own), own)
    assert.isTrue(between("received", "from a.test by MX.hop.test with ESMTP"))
    for (const by of ["in.mx.hop.test", "hop.test"]) assert.isTrue(between("received", `from a by ${by}`), by)
    for (const written of ["from mx.hop.test by evil.test with ESMTP", "from mx.hop.test", "by", ""])
      assert.isFalse(between("received", written), written)
    for (const foreign of ["subject", "dkim-signature", "from"]) assert.isFalse(between(foreign), foreign)
  })

  it("Exchange Online names no server: its topmost report is believed with the hop's secret, and that one alone", () => {
    const pass = "dmarc=pass action=none header.from=reader.test"
    const mail = (secret: boolean, ...reports: ReadonlyArray<string>) => ({
      from: ["ann@reader.test"],
      headers: [...(secret ? [{ name: "x-postlane-hop", value: "s" }] : []), ...mailOf(...reports).headers]
    })
    const hopSecret = Redacted.make("s")
    const online = ["protection.outlook.com"]
    const said = (trustedHops: ReadonlyArray<string>, secret: boolean, ...reports: ReadonlyArray<string>) =>
      authenticityOf(mail(secret, ...reports), ann, delivery, {
        trustedHops,
        trustsLoopback: false,
        ...(secret && { hopSecret })
      }).verified
    assert.isTrue(said(online, true, pass))
    assert.isFalse(said(online, false, pass), "everybody's mail leaves by its hosts")
    assert.isFalse(said(rules.trustedHops, true, pass), "another hop names itself")
    assert.isFalse(said(online, true, "dmarc=none header.from=reader.test", "dkim=pass header.d=reader.test"))
    assert.isTrue(said(online, true, "dmarc=none header.from=reader.test; dkim=pass header.d=reader.test"))
    assert.isFalse(said(online, true, "dmarc=fail", pass))
  })

  it("of what a hop reports twice about one method the topmost counts", () => {
    const pass = "mx.hop.test; dmarc=pass header.from=reader.test"
    assert.isFalse(verified("mx.hop.test; dmarc=fail header.from=reader.test", pass))
    assert.isTrue(verified(pass, "mx.hop.test; dmarc=fail header.from=reader.test"))
    const none = "mx.hop.test; dmarc=none header.from=reader.test"
    const signed = "mx.hop.test; dkim=pass header.d=reader.test"
    assert.isTrue(verified(none, signed))
    assert.isFalse(verified(none, "mx.hop.test; dkim=fail header.d=reader.test", signed))
    assert.isFalse(verified("mx.hop.test; dkim=none", none, signed))
    assert.isTrue(verified("mx.hop.test; spf=none", none, signed))
  })

  it("a method may name its version, and what breaks the grammar anywhere proves nothing", () => {
    const good = "dmarc=pass header.from=reader.test"
    for (const said of [
      "dmarc/1=pass header.from=reader.test",
      "dmarc / (v) 1 = pass header . from = reader.test",
      "DMARC=PASS HEADER.From=Reader.TEST",
      "dmarc=pass reason=a reason=b action=c header.from=reader.test",
      `none; ${good}`,
      `; ${good};`
    ])
      assert.isTrue(verified(`mx.hop.test; ${said}`), said)
    assert.isTrue(verified(`MX.hop.TEST 1 (v); ${good}`))
    for (const said of [
      "dmarc/=pass header.from=reader.test",
      "dmarc/x=pass",
      "dmarc/1x=pass",
      "dmarc/1 pass",
      "dmarc/(open 1=pass",
      "dmarc/1(open=pass",
      "dmarc=pass HEADER.From=evil.test",
      "\\xdmarc=pass header.from=reader.test",
      ") dmarc=pass header.from=reader.test",
      `${good}; dkim/(=pass`,
      `${good}; dkim=`,
      `${good}; dkim=pass header.=x`,
      `${good}; dkim=pass header.(=x`,
      `${good}; dkim=pass header.d`,
      `${good}; dkim=pass header.d=`,
      `${good}; dkim=pass header(.d=x`,
      `${good}; dkim=pass .d=x`,
      `${good}; dkim=pass header.d=x (`,
      `${good}; (`,
      `${good} x`,
      `${good}; none x`
    ])
      assert.isFalse(verified(`mx.hop.test; ${said}`), said)
    assert.isUndefined(parseAuthenticationResults("spf=pass ("))
    assert.isFalse(verified("mx.hop.test (", `mx.hop.test; ${good}`), "what is unread hides what is below")
    for (const said of [
      `mx.hop.test (; ${good}`,
      `mx.hop.test 1 (; ${good}`,
      `mx.hop.test 1 x; ${good}`,
      `(mx.hop.test; ${good}`
    ])
      assert.isFalse(verified(said), said)
  })

  it("a mail has one sender, or none", () => {
    const headers = [{ name: "from", value: "x" }]
    assert.strictEqual(senderOf({ headers, from: ["Ann@Reader.test"] })?.domain, "reader.test")
    assert.isUndefined(senderOf({ headers, from: ["a@x.test", "b@x.test"] }))
    assert.isUndefined(senderOf({ headers: [...headers, ...headers], from: ["a@x.test"] }))
    assert.isUndefined(senderOf({ headers, from: ["nobody"] }))
  })
})
