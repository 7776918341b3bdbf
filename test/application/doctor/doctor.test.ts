import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

import { examine } from "../../../src/application/doctor/doctor.ts"
import type { IdentityFacts, ProviderBFacts } from "../../../src/domain/doctor/provider-b.ts"
import { verdictsOf } from "../../../src/domain/doctor/verdict.ts"
import { Dns, DnsFailure, Examinations } from "../../../src/ports/doctor/examinations.ts"

const OPTIONS = {
  sender: "mail.test",
  region: "us-east-1",
  visibilitySeconds: 60,
  baseUrl: "https://api.mail.test"
}

const IDENTITY: IdentityFacts = {
  verified: true,
  dkim: {
    signing: true,
    status: "SUCCESS",
    easy: true,
    tokens: ["a", "b", "c"],
    host: "dkim.amazonses.com",
    keyLength: "RSA_2048_BIT"
  },
  mailFrom: { domain: "bounce.mail.test", status: "SUCCESS" },
  configurationSet: "transactional-set"
}

const account = (identity: IdentityFacts): ProviderBFacts => ({
  _tag: "Account",
  sendingEnabled: true,
  productionAccess: true,
  enforcement: "HEALTHY",
  identity: { _tag: "There", identity },
  sets: []
})

/** Names that were looked up, and a zone as it should be. */
const zone = (asked: Array<string>, missing: ReadonlyArray<string> = []) =>
  Layer.succeed(
    Dns,
    Dns.of({
      cname: (name) =>
        Effect.sync(() => {
          asked.push(`CNAME ${name}`)
          const token = name.split(".")[0]!
          return missing.includes(token) ? [] : [`${token}.dkim.amazonses.com`]
        }),
      mx: (name) =>
        Effect.sync(() => {
          asked.push(`MX ${name}`)
          return [{ exchange: "feedback-smtp.us-east-1.amazonses.com", priority: 10 }]
        }),
      txt: (name) =>
        Effect.sync(() => {
          asked.push(`TXT ${name}`)
          if (name === "bounce.mail.test") return ["v=spf1 include:amazonses.com ~all"]
          return name === "_dmarc.mail.test" ? ["v=DMARC1; p=reject; adkim=s"] : []
        })
    })
  )

const examinations = (parts: Partial<Examinations["Service"]>) =>
  Layer.succeed(
    Examinations,
    Examinations.of({
      alarms: undefined,
      database: undefined,
      events: undefined,
      model: undefined,
      objects: undefined,
      probes: undefined,
      buckets: undefined,
      cloud: undefined,
      providers: new Map(),
      providerB: undefined,
      queue: undefined,
      served: undefined,
      ...parts
    })
  )

const all = (parts: Partial<Examinations["Service"]>, dns: Layer.Layer<Dns>) =>
  Effect.map(Stream.runCollect(examine(OPTIONS)).pipe(Effect.provide([examinations(parts), dns])), (groups) =>
    groups.flat()
  )

const dnsOf = (verdicts: Effect.Success<ReturnType<typeof all>>) =>
  verdicts.filter(({ check }) => check === "dns").map(({ status, what }) => `${status} ${what}`)

describe("the doctor", () => {
  it.effect("asks for the three DKIM records by the names that the provider tells", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const verdicts = yield* all({ providerB: Effect.succeed(account(IDENTITY)) }, zone(asked, ["b"]))
      assert.sameMembers(asked, [
        "CNAME a._domainkey.mail.test",
        "CNAME b._domainkey.mail.test",
        "CNAME c._domainkey.mail.test",
        "MX bounce.mail.test",
        "TXT bounce.mail.test",
        "TXT _dmarc.mail.test"
      ])
      assert.deepStrictEqual(dnsOf(verdicts), [
        "ok DKIM record a._domainkey.mail.test",
        "fail b._domainkey.mail.test has no CNAME record",
        "ok DKIM record c._domainkey.mail.test",
        "ok MX of bounce.mail.test",
        "ok SPF of bounce.mail.test",
        "ok DMARC: p=reject, DKIM and SPF align (adkim=s, aspf=r)"
      ])
    })
  )

  it.effect(
    "without the provider's word it still judges what needs none, by the set-up that is asked for",
    () =>
      Effect.gen(function* () {
        const verdicts = yield* all(
          { providerB: Effect.succeed({ _tag: "Refused", why: "expired" }) },
          zone([])
        )
        assert.deepStrictEqual(dnsOf(verdicts), [
          "warn the three DKIM records cannot be checked",
          "ok MX of bounce.mail.test",
          "ok SPF of bounce.mail.test",
          "ok DMARC: p=reject, DKIM and SPF align (adkim=s, aspf=r)"
        ])
        assert.include(JSON.stringify(verdicts), "expired")
      })
  )

  it.effect("a resolver that does not answer is reported; no record is called missing", () =>
    Effect.gen(function* () {
      const silent = () => Effect.fail(new DnsFailure({ message: "the resolver did not answer" }))
      const dns = Layer.succeed(Dns, Dns.of({ cname: silent, mx: silent, txt: silent }))
      const verdicts = yield* all({ providerB: Effect.succeed(account(IDENTITY)) }, dns)
      assert.lengthOf(dnsOf(verdicts), 6)
      for (const verdict of dnsOf(verdicts)) assert.match(verdict, /^warn .*cannot be looked up$/)
    })
  )

  it.effect("what is simulated or not used is not asked", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const verdicts = yield* all({}, zone(asked))
      assert.deepStrictEqual(asked, [])
      assert.deepStrictEqual(
        verdicts.map(({ check, status }) => `${check} ${status}`),
        ["model ok", "provider_a ok", "provider_b ok", "dns ok"]
      )
    })
  )

  it.effect("asks the provider once, though two checks wait for it", () =>
    Effect.gen(function* () {
      let calls = 0
      const providerB = Effect.sync(() => {
        calls += 1
        return account(IDENTITY)
      })
      yield* all({ providerB }, zone([]))
      assert.strictEqual(calls, 1)
    })
  )

  it.live("tells what it knows while it waits for the rest", () =>
    Effect.gen(function* () {
      const reported = yield* Deferred.make<void>()
      // The database answers once the verdict on the provider has been seen, and never before.
      const database = Effect.as(Deferred.await(reported), { _tag: "Unreachable" as const, why: "refused" })
      const seen: Array<string> = []
      yield* examine(OPTIONS).pipe(
        Stream.runForEach((group) =>
          Effect.gen(function* () {
            seen.push(...group.map(({ what }) => what))
            if (group.some(({ check }) => check === "provider_a"))
              yield* Deferred.succeed(reported, undefined)
          })
        ),
        Effect.provide([
          examinations({
            database,
            providers: new Map([
              ["provider_a", Effect.succeed([verdictsOf("provider_a").ok("the key is valid")])]
            ])
          }),
          zone([])
        ])
      )
      assert.strictEqual(seen.at(-1), "the database cannot be reached")
    })
  )

  it.effect("a check that hangs is reported after its time limit, and does not delay the report", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const database = Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(all({ database }, zone([])))
      yield* Deferred.await(asked)
      yield* Effect.yieldNow
      yield* TestClock.adjust("1 minute")
      const verdicts = yield* Fiber.join(fiber)
      const late = verdicts.filter(({ check }) => check === "database")
      assert.deepStrictEqual(
        late.map(({ status, what }) => `${status} ${what}`),
        ["fail the check took too long"]
      )
      assert.lengthOf(verdicts, 5)
    })
  )
})
