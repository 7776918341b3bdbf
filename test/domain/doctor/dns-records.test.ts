import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { alignmentOf, dmarcNames, parseDmarc } from "../../../src/domain/doctor/dmarc.ts"
import {
  dkimVerdict,
  dmarcVerdict,
  type Lookup,
  mxVerdict,
  spfVerdict
} from "../../../src/domain/doctor/dns-records.ts"
import type { Verdict } from "../../../src/domain/doctor/verdict.ts"

const SENDER = "mail.test"
const FROM = "bounce.mail.test"
const found = <A>(...records: ReadonlyArray<A>): Lookup<A> => ({ _tag: "Found", records })
const UNKNOWN = { _tag: "Unknown", why: "the resolver did not answer" } as const

const dkim = (cname: Lookup<string>) =>
  dkimVerdict({ token: "t1", sender: SENDER, host: "dkim.amazonses.com", cname })
const mx = (...records: ReadonlyArray<readonly [number, string]>) =>
  mxVerdict({
    mailFrom: FROM,
    region: "eu-west-1",
    mx: found(...records.map(([priority, exchange]) => ({ exchange, priority })))
  })
const spf = (...records: ReadonlyArray<string>) => spfVerdict({ mailFrom: FROM, txt: found(...records) })
const dmarc = (
  txt: ReadonlyArray<string>,
  facts: Partial<Parameters<typeof dmarcVerdict>[0]> = {}
): Verdict =>
  dmarcVerdict({
    sender: SENDER,
    found: { name: `_dmarc.${SENDER}`, txt },
    unknown: undefined,
    signsAs: SENDER,
    mailFrom: FROM,
    ...facts
  })

describe("the sender domain's records of provider_b", () => {
  it("DKIM: each token's CNAME points to the provider's host", () => {
    assert.strictEqual(dkim(found("t1.dkim.amazonses.com")).status, "ok")
    assert.strictEqual(dkim(found("T1.DKIM.AmazonSES.com.")).status, "ok")
    for (const wrong of [found<string>(), found("t2.dkim.amazonses.com"), found("proxy.test")]) {
      const verdict = dkim(wrong)
      assert.strictEqual(verdict.status, "fail")
      assert.include(JSON.stringify(verdict), "t1._domainkey.mail.test CNAME t1.dkim.amazonses.com")
    }
    assert.strictEqual(dkim(UNKNOWN).status, "warn")
  })

  it("MX of MAIL FROM: one record, priority 10, the region's feedback host", () => {
    assert.strictEqual(mx([10, "feedback-smtp.eu-west-1.amazonses.com."]).status, "ok")
    assert.strictEqual(mx([20, "feedback-smtp.eu-west-1.amazonses.com"]).status, "warn")
    assert.strictEqual(mx().status, "fail")
    assert.strictEqual(mx([10, "feedback-smtp.us-east-1.amazonses.com"]).status, "fail", "another region")
    assert.strictEqual(
      mx([10, "feedback-smtp.eu-west-1.amazonses.com"], [20, "mx.test"]).status,
      "fail",
      "a second record"
    )
    assert.strictEqual(mxVerdict({ mailFrom: FROM, region: "eu-west-1", mx: UNKNOWN }).status, "warn")
  })

  it("SPF of MAIL FROM: one record that includes the provider and not everybody", () => {
    for (const right of [
      "v=spf1 include:amazonses.com ~all",
      "V=SPF1 ip4:192.0.2.1 +include:AmazonSES.com -all",
      "v=spf1 include:amazonses.com"
    ])
      assert.strictEqual(spf("google-site-verification=x", right).status, "ok", right)
    for (const wrong of [
      "v=spf1 -all",
      "v=spf1 -include:amazonses.com ~all",
      "v=spf1 include:amazonses.com.evil.test ~all",
      "v=spf1 ~all include:amazonses.com",
      "v=spf1 include:amazonses.com +all",
      "v=spf10 include:amazonses.com ~all"
    ])
      assert.strictEqual(spf(wrong).status, "fail", wrong)
    assert.strictEqual(spf().status, "fail")
    assert.strictEqual(
      spf("v=spf1 include:amazonses.com ~all", "v=spf1 include:other.test ~all").status,
      "fail",
      "two records are an error (RFC 7208, 4.5)"
    )
    assert.strictEqual(spfVerdict({ mailFrom: FROM, txt: UNKNOWN }).status, "warn")
  })

  it("DMARC: strict DKIM and relaxed SPF align", () => {
    assert.strictEqual(dmarc(["v=DMARC1; p=reject; adkim=s; aspf=r"]).status, "ok")
    assert.strictEqual(dmarc(["v=DMARC1; p=none"]).status, "ok")
    const strictSpf = dmarc(["v=DMARC1; p=reject; adkim=s; aspf=s"])
    assert.strictEqual(strictSpf.status, "warn", "bounce.mail.test is not mail.test")
    assert.include(JSON.stringify(strictSpf), "aspf=r")
    assert.strictEqual(dmarc(["v=DMARC1; p=reject"], { signsAs: undefined }).status, "warn")
    assert.strictEqual(dmarc(["v=DMARC1; p=reject"], { mailFrom: undefined }).status, "warn")
    const neither = { signsAs: undefined, mailFrom: undefined }
    assert.strictEqual(dmarc(["v=DMARC1; p=reject"], neither).status, "fail")
    assert.strictEqual(dmarc(["v=DMARC1; p=none"], neither).status, "warn")
    assert.strictEqual(
      dmarc(["v=DMARC1; p=reject; sp=none"], {
        ...neither,
        found: { name: "_dmarc.test", txt: ["v=DMARC1; p=reject; sp=none"] }
      }).status,
      "warn",
      "a parent's record counts by its policy for subdomains"
    )
  })

  it("DMARC: none, two, or one without a policy", () => {
    assert.strictEqual(dmarc([], { found: undefined }).status, "warn")
    assert.strictEqual(dmarc(["v=spf1 -all"]).status, "warn")
    assert.strictEqual(dmarc(["v=DMARC1; p=none", "v=DMARC1; p=reject"]).status, "fail")
    assert.strictEqual(dmarc(["v=DMARC1; p=perhaps"]).status, "fail")
    assert.strictEqual(dmarc([], { unknown: "the resolver did not answer" }).status, "warn")
  })

  it("a DMARC record is read as RFC 7489 has it", () => {
    assert.deepStrictEqual(
      parseDmarc("v=DMARC1; p=Quarantine;sp = none ; adkim=S; x=1; rua=mailto:a@x.test"),
      {
        policy: "quarantine",
        subdomainPolicy: "none",
        adkim: "s",
        aspf: "r",
        reports: true
      }
    )
    assert.strictEqual(parseDmarc("v=DMARC1; rua=mailto:a@x.test")?.policy, "none")
    for (const wrong of ["", "v=DMARC2; p=none", "p=none; v=DMARC1", "v=DMARC1", "v=DMARC11; p=none"])
      assert.isUndefined(parseDmarc(wrong), wrong)
  })

  it("any text is read without dying, and what is strict never aligns more than what is relaxed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        parseDmarc(text)
        parseDmarc(`v=DMARC1;${text}`)
      })
    )
    const domain = fc.constantFrom(undefined, SENDER, FROM, "other.mail.test", "evil.example", "ail.test")
    fc.assert(
      fc.property(domain, domain, (signsAs, mailFrom) => {
        const facts = { sender: SENDER, signsAs, mailFrom }
        const strict = alignmentOf({ adkim: "s", aspf: "s" }, facts)
        const relaxed = alignmentOf({ adkim: "r", aspf: "r" }, facts)
        assert.isTrue(!strict.dkim || relaxed.dkim)
        assert.isTrue(!strict.spf || relaxed.spf)
        assert.strictEqual(strict.dkim, signsAs === SENDER)
        assert.isFalse(mailFrom === "evil.example" && relaxed.spf)
        assert.isFalse(mailFrom === "ail.test" && relaxed.spf)
      })
    )
  })

  it("DMARC is looked for from the domain upwards, and never at a top level", () => {
    assert.deepStrictEqual(dmarcNames("a.b.example.com"), [
      "_dmarc.a.b.example.com",
      "_dmarc.b.example.com",
      "_dmarc.example.com"
    ])
    assert.deepStrictEqual(dmarcNames("example.com"), ["_dmarc.example.com"])
    assert.deepStrictEqual(dmarcNames("localhost"), ["_dmarc.localhost"])
  })
})
