import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"

import type { Verdict } from "../../../../src/domain/doctor/verdict.ts"
import type { Env } from "../../../../src/runtime/settings/settings.ts"
import { layerDatabase, layerEmptyDatabase, TestDatabase } from "../../../support/postgres/postgres.ts"
import { fakeBedrock } from "../../../support/vendors/fake-bedrock.ts"
import { startDns } from "../../../support/vendors/fake-dns.ts"
import type { FakeHttp } from "../../../support/vendors/fake-http.ts"
import { fakeResend } from "../../../support/vendors/fake-resend.ts"
import { fakeSes, type SesAccount } from "../../../support/vendors/fake-ses.ts"
import { startSqs } from "../../../support/vendors/sqs.ts"
import { jsonOf, run } from "../harness.ts"

const EVENTS = ["SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT", "DELIVERY_DELAY", "RENDERING_FAILURE"]
const set = (events: ReadonlyArray<string>) => ({
  options: { SendingOptions: { SendingEnabled: true } },
  destinations: [
    {
      Name: "bus",
      Enabled: true,
      MatchingEventTypes: events,
      EventBridgeDestination: { EventBusArn: "arn:aws:events:us-east-1:1:event-bus/default" }
    }
  ]
})
const ACCOUNT: SesAccount = {
  account: { SendingEnabled: true, ProductionAccessEnabled: true, EnforcementStatus: "HEALTHY" },
  identities: {
    "mail.example": {
      VerifiedForSendingStatus: true,
      ConfigurationSetName: "transactional-set",
      DkimAttributes: {
        SigningEnabled: true,
        Status: "SUCCESS",
        Tokens: ["t1", "t2", "t3"],
        SigningAttributesOrigin: "AWS_SES"
      },
      MailFromAttributes: {
        MailFromDomain: "bounce.mail.example",
        MailFromDomainStatus: "SUCCESS",
        BehaviorOnMxFailure: "USE_DEFAULT_VALUE"
      }
    }
  },
  sets: { "transactional-set": set(EVENTS), "outreach-set": set([...EVENTS, "OPEN", "CLICK"]) }
}

const ZONE = {
  "CNAME t1._domainkey.mail.example": ["t1.dkim.amazonses.com"],
  "CNAME t2._domainkey.mail.example": ["t2.dkim.amazonses.com"],
  "CNAME t3._domainkey.mail.example": ["t3.dkim.amazonses.com"],
  "MX bounce.mail.example": ["10 feedback-smtp.us-east-1.amazonses.com"],
  "TXT bounce.mail.example": ["v=spf1 include:amazonses.com ~all"],
  "TXT _dmarc.mail.example": ["v=DMARC1; p=quarantine; adkim=s; aspf=r"]
}

const SECRETS = {
  PROVIDERA_API_KEY: "re_secret_api_key",
  CLOUD_ACCESS_KEY_ID: "AKIASECRETKEYID",
  CLOUD_SECRET_ACCESS_KEY: "secret-access-key-of-the-cloud",
  PROXY_SHARED_SECRET: "proxy-shared-secret",
  PROVIDERA_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 9).toString("base64")}`,
  PROVIDERB_WEBHOOK_SECRET: "secret-of-the-bus"
}

const serving = (peer: FakeHttp) =>
  Effect.acquireRelease(
    Effect.promise(() => peer.listen()),
    () => Effect.promise(() => peer.close())
  )

/** An installation whose every part is there and set up correctly. */
const installation = Effect.gen(function* () {
  const resend = yield* serving(
    fakeResend({ apiKey: SECRETS.PROVIDERA_API_KEY, domains: [{ name: "mail.example", status: "verified" }] })
  )
  const ses = yield* serving(fakeSes({ account: () => ACCOUNT }))
  const bedrock = yield* serving(fakeBedrock(() => "yes"))
  const sqs = yield* startSqs
  const { url: queue } = yield* sqs.createQueue("defer", 3)
  const dns = yield* startDns(ZONE)
  const { url } = yield* TestDatabase
  const env: Env = {
    ...SECRETS,
    DB_URL: url,
    SENDER_DOMAIN: "mail.example",
    BASE_URL: "https://api.mail.example",
    EMAIL_FALLBACK: "provider_b",
    PROVIDERA_BASE_URL: resend.url,
    PROVIDERB_ENDPOINT: ses.url,
    SQS_ENDPOINT: sqs.endpoint,
    BEDROCK_RUNTIME_ENDPOINT: bedrock.url,
    BEDROCK_ENDPOINT: bedrock.url,
    EMAIL_DEFER_QUEUE_URL: queue.replace("http://", "https://"),
    EMAIL_DEFER_VISIBILITY_SECONDS: "30",
    TRUSTED_MAIL_HOPS: "mx.mail.example"
  }
  return { dns, env, peers: { resend, ses, bedrock } }
})

interface Report {
  readonly ok: boolean
  readonly counts: Readonly<Record<Verdict["status"], number>>
  readonly checks: ReadonlyArray<Verdict>
}
const report = (dns: string, env: Env) =>
  Effect.map(run(["doctor", "--json", "--dns-server", dns], env), (ran) => ({
    ...ran,
    ...jsonOf<Report>(ran)
  }))
const complaints = ({ checks }: Report) =>
  checks.flatMap(({ check, status, what }) => (status === "ok" ? [] : [`${status} ${check}: ${what}`]))

describe("postlane doctor", () => {
  it.live(
    "an installation as it should be has nothing to complain of, nothing is sent, and no secret is shown",
    () =>
      Effect.gen(function* () {
        const { dns, env, peers } = yield* installation
        const found = yield* report(dns, env)
        assert.deepStrictEqual(complaints(found), [])
        assert.isTrue(found.ok)
        assert.strictEqual(found.code, 0)
        assert.deepStrictEqual([...new Set(found.checks.map(({ check }) => check))].sort(), [
          "bulk",
          "cloud",
          "database",
          "dns",
          "model",
          "objects",
          "provider_a",
          "provider_b",
          "queue",
          "served",
          "settings",
          "webhooks"
        ])
        assert.strictEqual(peers.resend.acceptedCount + peers.ses.acceptedCount, 0)
        const text = yield* run(["doctor", "--dns-server", dns], env, { columns: 80, colours: true })
        for (const secret of Object.values(SECRETS))
          assert.notInclude(text.out + text.err + found.out, secret)
        assert.match(text.out, /\n\n\d+ as they should be, 0 to look at, 0 broken$/)
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live("reports each problem with a remedy, and still checks the rest", () =>
    Effect.gen(function* () {
      const { dns, env } = yield* installation
      const found = yield* report(dns, {
        ...env,
        PROVIDERA_API_KEY: "re_wrong_key_of_someone",
        PROVIDERA_WEBHOOK_SECRET: "whsec_!!!",
        SENDER_DOMAIN: "other.example",
        EMAIL_DEFER_QUEUE_URL: `${env["EMAIL_DEFER_QUEUE_URL"]}-gone`,
        EMAIL_PRIMERY: "provider_b",
        TRUSTED_MAIL_HOPS: ""
      })
      assert.strictEqual(found.code, 1)
      assert.isFalse(found.ok)
      assert.deepStrictEqual(complaints(found).toSorted(), [
        "fail database: " +
          complaints(found)
            .find((text) => text.startsWith("fail database"))!
            .slice(15),
        "fail dns: bounce.other.example has no MX record",
        "fail dns: bounce.other.example has no SPF record",
        "fail provider_a: the API key is refused",
        "fail provider_b: there is no identity for other.example",
        "fail queue: the retry queue cannot be reached",
        "fail webhooks: PROVIDERA_WEBHOOK_SECRET is malformed",
        "warn dns: other.example has no DMARC record",
        "warn dns: the three DKIM records cannot be checked",
        "warn settings: EMAIL_PRIMERY is not a setting, and is ignored; did you mean EMAIL_PRIMARY?",
        "warn settings: TRUSTED_MAIL_HOPS is unset"
      ])
      assert.match(complaints(found).join("\n"), /fail database: \d+ migrations are missing/)
      for (const verdict of found.checks) {
        if (verdict.status !== "ok") assert.isTrue(verdict.why !== "" && verdict.do !== "", verdict.what)
      }
      assert.notMatch(found.out, /re_wrong_key_of_someone|whsec_!!!/)
    }).pipe(Effect.scoped, Effect.provide(layerEmptyDatabase))
  )

  it.live("says whose credentials sign, and why there are none", () =>
    Effect.gen(function* () {
      const { dns, env } = yield* installation
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      const cloud = Effect.fnUntraced(function* () {
        const keys = { CLOUD_ACCESS_KEY_ID: "", CLOUD_SECRET_ACCESS_KEY: "" }
        const { checks } = yield* report(dns, { ...env, ...keys })
        return checks.filter(({ check }) => check === "cloud")
      })
      vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true")
      const [none] = yield* cloud()
      assert.strictEqual(none?.what, "there are no cloud credentials")
      vi.stubEnv("AWS_ACCESS_KEY_ID", "ASIA")
      vi.stubEnv("AWS_SECRET_ACCESS_KEY", "s")
      assert.deepStrictEqual(yield* cloud(), [
        {
          check: "cloud",
          status: "ok",
          what: "calls are signed with the credentials of: AWS_ACCESS_KEY_ID in the environment"
        }
      ])
    }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live("reports all unreadable settings at once", () =>
    Effect.gen(function* () {
      const found = yield* report("127.0.0.1:1", { PORT: "many", EMAIL_FALLBACK: "pigeon" })
      assert.deepStrictEqual(complaints(found), [
        "fail settings: PORT must be a whole number from 0 to 65535 (unset: 8787)",
        "fail settings: EMAIL_FALLBACK must be provider_a, provider_b, smtp or postmark"
      ])
      const wrong = yield* run(["doctor", "--dns-server", "resolver.example"], {})
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.err, "must be an IP address")
    })
  )
})
