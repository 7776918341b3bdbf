import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { checkRecord, type Published, purposeOf } from "../../../src/domain/doctor/sender-domain.ts"
import { type DnsRecord, recordsOfB, sharedRecords } from "../../../src/domain/doctor/sender-records.ts"

const SENDER = "mail.test"
const KEY = "p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ"
const DKIM_TEXT: DnsRecord = {
  of: "provider_a",
  type: "TXT",
  name: `resend._domainkey.${SENDER}`,
  value: KEY
}
const B = recordsOfB({
  sender: SENDER,
  region: "eu-west-1",
  identity: {
    status: "SUCCESS",
    dkim: { easy: true, signing: true, status: "SUCCESS", host: "dkim.amazonses.com", tokens: ["t1"] },
    mailFrom: { domain: `bounce.${SENDER}`, status: "SUCCESS" }
  } as never
})
const [CNAME, MX, SPF] = B as [DnsRecord, DnsRecord, DnsRecord]
const [DMARC] = sharedRecords(SENDER) as [DnsRecord]

const state = (record: DnsRecord, ...records: ReadonlyArray<string>) => {
  const { found, state: is } = checkRecord(record, {
    type: record.type,
    found: { _tag: "Found", records }
  } as Published)
  return [is, found]
}

describe("a record of the sender domain", () => {
  it("has a purpose by its name and value", () => {
    assert.deepStrictEqual(
      [CNAME, MX, SPF, DMARC, DKIM_TEXT, { type: "TXT", name: SENDER, value: "token=1" }].map(purposeOf),
      ["dkim", "return path", "spf", "dmarc", "dkim", "other"]
    )
  })

  it("is published where it stands as it has to, by name without case and the root's dot", () => {
    assert.deepStrictEqual(state(CNAME, "T1.dkim.AmazonSES.com."), ["published", undefined])
    assert.deepStrictEqual(state(MX, "feedback-smtp.eu-west-1.amazonses.com"), ["published", undefined])
    assert.deepStrictEqual(state(SPF, "v=spf1 include:amazonses.com ~all"), ["published", undefined])
    assert.deepStrictEqual(state(SPF, "google=1", "V=SPF1 mx Include:AmazonSES.com -all"), [
      "published",
      undefined
    ])
    assert.deepStrictEqual(state(DMARC, "v=DMARC1; p=reject"), ["published", undefined])
    assert.deepStrictEqual(state(DKIM_TEXT, `k=rsa; ${KEY.replace("MA0", 'MA0" "')}; t=s`), [
      "published",
      undefined
    ])
  })

  it("differs, with what stands there, or is missing", () => {
    assert.deepStrictEqual(state(CNAME, "proxy.test"), ["different", "proxy.test"])
    assert.deepStrictEqual(state(SPF, "v=spf1 -all"), ["different", "v=spf1 -all"])
    assert.strictEqual(state(SPF, "v=spf1 include:amazonses.com ~all", "v=spf1 -all")[0], "different")
    assert.strictEqual(state(DMARC, "v=DMARC1; p=none", "v=DMARC1; p=reject")[0], "different")
    assert.strictEqual(state(DKIM_TEXT, "v=DKIM1; p=")[0], "different")
    assert.strictEqual(state({ ...DKIM_TEXT, value: "no key" }, "another")[0], "different")
    for (const record of [CNAME, MX, SPF, DMARC, DKIM_TEXT])
      assert.deepStrictEqual(state(record), ["missing", undefined])
    assert.deepStrictEqual(state(SPF, "google=1"), ["missing", undefined])
    assert.deepStrictEqual(state(DMARC, "google=1"), ["missing", undefined])
  })

  it("is not known where the resolver does not say, or its type is not looked up", () => {
    const why = "the resolver did not answer"
    for (const record of [CNAME, MX, SPF, DMARC]) {
      const { found, state: is } = checkRecord(record, {
        type: record.type,
        found: { _tag: "Unknown", why }
      } as Published)
      assert.deepStrictEqual([is, found], ["unknown", why])
    }
    assert.strictEqual(checkRecord({ ...SPF, type: "CAA" }, { type: "other" }).state, "unknown")
  })
})

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 400 }),
  fc.constantFrom("v=spf1", "v=DMARC1", "p=", "v=spf1 include:", ";;;p=;", '"', " ")
)

it("whatever stands in DNS, a record is never published by what is not its own", () => {
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 5 }), (texts) => {
      for (const record of [CNAME, MX, DKIM_TEXT])
        assert.notStrictEqual(state(record, ...texts)[0], "published")
      for (const record of [SPF, DMARC])
        assert.include(["missing", "different", "published"], state(record, ...texts)[0])
    })
  )
})

it("what others put beside a record does not change that it is published", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z0-9=.]{1,40}$/), { maxLength: 5 }), (others) => {
      for (const record of [CNAME, MX, SPF, DKIM_TEXT, DMARC])
        assert.strictEqual(state(record, ...others, record.value)[0], "published")
    })
  )
})
