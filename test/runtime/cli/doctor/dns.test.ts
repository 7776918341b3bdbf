import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { type DnsRecord, recordsOfA } from "../../../../src/domain/doctor/sender-records.ts"
import type { FakeHttp } from "../../../support/vendors/fake-http.ts"
import { fakeResend } from "../../../support/vendors/fake-resend.ts"
import { fakeSes } from "../../../support/vendors/fake-ses.ts"
import { jsonOf, run } from "../harness.ts"

const serving = (peer: FakeHttp) =>
  Effect.acquireRelease(
    Effect.promise(() => peer.listen()),
    () => Effect.promise(() => peer.close())
  )

interface Printed {
  readonly records: ReadonlyArray<DnsRecord>
  readonly notes: ReadonlyArray<string>
}

const line = ({ name, of, priority, type, value }: DnsRecord) =>
  [of, type, name, ...(priority === undefined ? [] : [String(priority)]), value].join(" ")

const BASE = {
  SENDER_DOMAIN: "mail.example.com",
  DB_URL: "postgres://u:p@127.0.0.1:1/none",
  EMAIL_FALLBACK: "provider_b",
  PROVIDERA_API_KEY: "re_key",
  CLOUD_ACCESS_KEY_ID: "AKIA",
  CLOUD_SECRET_ACCESS_KEY: "secret-access-key"
}

const OURS = [
  "provider_b MX bounce.mail.example.com 10 feedback-smtp.us-east-1.amazonses.com",
  "provider_b TXT bounce.mail.example.com v=spf1 include:amazonses.com ~all",
  "both TXT _dmarc.mail.example.com v=DMARC1; p=none; rua=mailto:dmarc@mail.example.com; adkim=s; aspf=r"
]

describe("postlane dns", () => {
  it.live("prints what both providers ask for, and needs no database", () =>
    Effect.gen(function* () {
      const records = [
        {
          record: "SPF",
          name: "send.mail",
          type: "MX",
          ttl: "Auto",
          value: "feedback-smtp.eu-west-1.amazonses.com",
          priority: 10
        },
        { record: "DKIM", name: "resend._domainkey.mail", type: "TXT", ttl: "Auto", value: "p=MIGf" }
      ]
      const resend = yield* serving(
        fakeResend({ domains: [{ name: "mail.example.com", status: "pending", records }] })
      )
      const ses = yield* serving(
        fakeSes({
          account: () => ({
            account: { SendingEnabled: true },
            identities: {
              "mail.example.com": {
                DkimAttributes: { Tokens: ["t1", "t2"], SigningAttributesOrigin: "AWS_SES" }
              }
            },
            sets: {}
          })
        })
      )
      const env = { ...BASE, PROVIDERA_BASE_URL: resend.url, PROVIDERB_ENDPOINT: ses.url }
      const ran = yield* run(["dns", "--json"], env)
      const printed = jsonOf<Printed>(ran)
      assert.deepStrictEqual(printed.records.map(line), [
        "provider_a MX send.mail.example.com 10 feedback-smtp.eu-west-1.amazonses.com",
        "provider_a TXT resend._domainkey.mail.example.com p=MIGf",
        "provider_b CNAME t1._domainkey.mail.example.com t1.dkim.amazonses.com",
        "provider_b CNAME t2._domainkey.mail.example.com t2.dkim.amazonses.com",
        ...OURS
      ])
      assert.deepStrictEqual(printed.notes, [])
      assert.strictEqual(ran.code, 0)
    }).pipe(Effect.scoped)
  )

  it.live(
    "prints what is known where a provider does not answer, says what is missing, and shows no secret",
    () =>
      Effect.gen(function* () {
        const resend = yield* serving(fakeResend({ domains: [], sendOnly: true }))
        const ses = yield* serving(fakeSes({ account: () => ({ account: {}, identities: {}, sets: {} }) }))
        const env = { ...BASE, PROVIDERA_BASE_URL: resend.url, PROVIDERB_ENDPOINT: ses.url }
        const ran = yield* run(["dns", "--json"], env)
        const printed = jsonOf<Printed>(ran)
        assert.deepStrictEqual(printed.records.map(line), OURS)
        assert.match(printed.notes.join("\n"), /provider_a: .*full access[^]*provider_b: .*no identity/)
        const text = yield* run(["dns"], env)
        assert.include(text.out, "bounce.mail.example.com")
        for (const secret of [BASE.PROVIDERA_API_KEY, BASE.CLOUD_SECRET_ACCESS_KEY])
          assert.notInclude(ran.out + text.out + text.err, secret)
      }).pipe(Effect.scoped)
  )

  it("writes whole names, however the provider shortens them", () => {
    const names = (sender: string, ...given: ReadonlyArray<string>) =>
      recordsOfA(
        given.map((name) => ({ type: "TXT", name, value: "v" })),
        sender
      ).map(({ name }) => name)
    assert.deepStrictEqual(names("example.com", "send", "@", "", "send.example.com.", "example"), [
      "send.example.com",
      "example.com",
      "example.com",
      "send.example.com",
      "example.example.com"
    ])
    assert.deepStrictEqual(names("a.b.example.com", "send.a.b", "a.b", "send", "x.a"), [
      "send.a.b.example.com",
      "a.b.example.com",
      "send.a.b.example.com",
      "x.a.b.example.com"
    ])
  })
})
