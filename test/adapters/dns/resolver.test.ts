import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { layer } from "../../../src/adapters/dns/resolver.ts"
import { Dns } from "../../../src/ports/doctor/examinations.ts"
import { startDns } from "../../support/vendors/fake-dns.ts"

const LONG = `v=DKIM1; p=${"A".repeat(300)}`

const ask = <A, E>(use: (dns: Dns["Service"]) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const server = yield* startDns({
      "CNAME t1._domainkey.mail.test": ["T1.dkim.amazonses.com"],
      "MX bounce.mail.test": ["10 feedback-smtp.us-east-1.amazonses.com", "20 backup.test"],
      "TXT bounce.mail.test": ["v=spf1 include:amazonses.com ~all", LONG],
      "TXT broken.mail.test": "SERVFAIL"
    })
    return yield* Effect.provide(Dns.use(use), layer({ servers: [server] }))
  })

describe("the resolver, over the wire", () => {
  it.live("reads the three kinds of records", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask((dns) => dns.cname("t1._domainkey.mail.test")), [
        "T1.dkim.amazonses.com"
      ])
      assert.sameDeepMembers(
        [...(yield* ask((dns) => dns.mx("bounce.mail.test")))],
        [
          { exchange: "feedback-smtp.us-east-1.amazonses.com", priority: 10 },
          { exchange: "backup.test", priority: 20 }
        ]
      )
      // A record of over 255 bytes comes as several strings, which mean one text.
      assert.sameMembers(
        [...(yield* ask((dns) => dns.txt("bounce.mail.test")))],
        ["v=spf1 include:amazonses.com ~all", LONG]
      )
    })
  )

  it.live("a name that is not there and one without such records have none; neither is a failure", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ask((dns) => dns.txt("nowhere.mail.test")), [])
      assert.deepStrictEqual(yield* ask((dns) => dns.cname("bounce.mail.test")), [])
    })
  )

  it.live("a server that cannot tell is a failure in words", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(ask((dns) => dns.txt("broken.mail.test")))
      assert.strictEqual(failure._tag, "DnsFailure")
      assert.include(failure.message, "SERVFAIL")
    })
  )
})
