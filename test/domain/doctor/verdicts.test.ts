import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { Webhook } from "standardwebhooks"

import { bulkVerdicts } from "../../../src/domain/doctor/bulk-mail.ts"
import { type DatabaseFacts, databaseVerdicts } from "../../../src/domain/doctor/database.ts"
import { type ProviderAFacts, providerAVerdicts } from "../../../src/domain/doctor/provider-a.ts"
import {
  type IdentityFacts,
  NEEDED_EVENTS,
  type ProviderBFacts,
  providerBVerdicts
} from "../../../src/domain/doctor/provider-b.ts"
import { queueVerdicts } from "../../../src/domain/doctor/queue.ts"
import { type Verdict, verdictsOf } from "../../../src/domain/doctor/verdict.ts"
import { webhookSecretForm, webhookVerdicts } from "../../../src/domain/doctor/webhook-secret.ts"

const statuses = (verdicts: ReadonlyArray<Verdict>) => verdicts.map(({ status }) => status)
const complaints = (verdicts: ReadonlyArray<Verdict>) =>
  verdicts.flatMap((verdict) => (verdict.status === "ok" ? [] : [`${verdict.status}: ${verdict.what}`]))

describe("a verdict", () => {
  it("says why and what to do wherever something is not as it should be", () => {
    const { fail, ok } = verdictsOf("x")
    assert.deepStrictEqual(ok("good"), { check: "x", status: "ok", what: "good" })
    assert.deepStrictEqual(fail({ what: "a", why: "b", do: "c" }), {
      check: "x",
      status: "fail",
      what: "a",
      why: "b",
      do: "c"
    })
  })
})

describe("what Gmail and Yahoo ask of bulk senders", () => {
  it("is met with an address that mail services take, and else not", () => {
    const of = (baseUrl: string) => statuses(bulkVerdicts({ baseUrl }))
    assert.deepStrictEqual(of("https://x.test"), ["ok", "ok", "ok"])
    for (const plain of ["http://x.test", "http://https.test"])
      assert.deepStrictEqual(of(plain), ["warn", "ok", "ok"])
  })
})

describe("the database", () => {
  const reached = (facts: object = {}) =>
    databaseVerdicts({
      _tag: "Reached",
      version: 150_004,
      migrations: { _tag: "Pending", names: [], functions: [], newer: [] },
      skewMs: 0,
      uncertaintyMs: 0,
      waiting: [],
      unwritable: undefined,
      waitingMails: 0,
      unsentMails: 0,
      ...facts
    })

  it("a send queue that nobody works off", () => {
    assert.deepStrictEqual(complaints(reached({ unsentMails: 2 })), [
      "fail: 2 mails of the send queue are due, and no process sends them"
    ])
  })

  it("one that takes no rows, a standby or a full disk", () => {
    assert.deepStrictEqual(complaints(reached({ unwritable: "no room" })), [
      "fail: the database does not take what a send writes"
    ])
  })

  it("reachable, 15 or later, migrated, its clock like ours", () => {
    assert.deepStrictEqual(statuses(reached()), ["ok", "ok", "ok"])
    assert.deepStrictEqual(statuses(databaseVerdicts({ _tag: "Unreachable", why: "refused" })), ["fail"])
    assert.deepStrictEqual(complaints(reached({ version: 140_012 })), ["fail: PostgreSQL 14.12 is too old"])
    assert.deepStrictEqual(
      complaints(
        reached({ migrations: { _tag: "Pending", names: ["0007_a", "0008_b"], functions: ["f"], newer: [] } })
      ),
      ["fail: 2 migrations are missing"]
    )
    assert.deepStrictEqual(
      complaints(reached({ migrations: { _tag: "Pending", names: [], functions: ["f"], newer: [] } })),
      ["fail: 1 function is not as in this version"]
    )
    assert.deepStrictEqual(
      statuses(reached({ migrations: { _tag: "Broken", why: "changed", remedy: undefined } })),
      ["ok", "fail", "ok"]
    )
    const remedies = (migrations: Extract<DatabaseFacts, { _tag: "Reached" }>["migrations"]) =>
      reached({ migrations }).flatMap((verdict) => ("do" in verdict ? [verdict.do] : []))
    assert.deepStrictEqual(remedies({ _tag: "Broken", why: "changed", remedy: "install it anew" }), [
      "install it anew"
    ])
    assert.deepStrictEqual(
      statuses(reached({ migrations: { _tag: "Pending", names: [], functions: [], newer: ["0009_n"] } })),
      ["ok", "ok", "ok"]
    )
  })

  it("names every queue with messages that no consumer takes", () => {
    const waiting = [
      { queue: "email-defer", due: 1 },
      { queue: "before", due: 7 }
    ]
    assert.deepStrictEqual(complaints(reached({ waiting })), [
      "fail: 1 deferred mail is due in the queue postgres:email-defer, and no consumer takes it",
      "fail: 7 deferred mails are due in the queue postgres:before, and no consumer takes them"
    ])
  })

  it("a clock is blamed only for what the way to the database cannot explain", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -200_000, max: 200_000 }),
        fc.integer({ min: 0, max: 30_000 }),
        (skewMs, uncertaintyMs) => {
          const [, , clock] = statuses(reached({ skewMs, uncertaintyMs }))
          const sure = Math.max(0, Math.abs(skewMs) - uncertaintyMs)
          assert.strictEqual(clock, sure <= 5_000 ? "ok" : sure < 60_000 ? "warn" : "fail")
        }
      )
    )
  })
})

describe("webhook secrets", () => {
  it("whatever the scheme's library cannot use is malformed, and every real secret is not", () => {
    const base64 = fc
      .uint8Array({ minLength: 1, maxLength: 40 })
      .map((bytes) => Buffer.from(bytes).toString("base64"))
    const prefixed = fc
      .tuple(fc.constantFrom("", "whsec_", "whsec_whsec_"), fc.oneof(base64, fc.string(), fc.base64String()))
      .map(([prefix, text]) => prefix + text)
    fc.assert(
      fc.property(prefixed, (secret) => {
        const usable = Result.isSuccess(Result.try(() => new Webhook(secret).sign("id", new Date(0), "body")))
        if (!usable) assert.strictEqual(webhookSecretForm(secret), "malformed", JSON.stringify(secret))
      }),
      { numRuns: 500 }
    )
    fc.assert(
      fc.property(base64, fc.boolean(), (text, prefixes) => {
        const secret = prefixes ? `whsec_${text}` : text
        assert.notStrictEqual(webhookSecretForm(secret), "malformed", secret)
      })
    )
  })

  it("short ones work and are reported; unset ones are reported where their provider is in use", () => {
    const bytes = (count: number) => `whsec_${Buffer.alloc(count, 1).toString("base64")}`
    assert.strictEqual(webhookSecretForm(bytes(23)), "short")
    assert.strictEqual(webhookSecretForm(bytes(24)), "good")
    const uses = { providerA: true, providerB: true }
    assert.deepStrictEqual(
      statuses(webhookVerdicts({ providerA: ["good", "short", "malformed"], providerBIsSet: true, uses })),
      ["ok", "warn", "fail", "ok"]
    )
    assert.deepStrictEqual(complaints(webhookVerdicts({ providerA: [], providerBIsSet: false, uses })), [
      "warn: PROVIDERA_WEBHOOK_SECRET is unset",
      "warn: PROVIDERB_WEBHOOK_SECRET is unset"
    ])
    const none = { providerA: false, providerB: false }
    assert.deepStrictEqual(webhookVerdicts({ providerA: [], providerBIsSet: false, uses: none }), [])
  })
})

describe("provider_a", () => {
  const judge = (facts: ProviderAFacts) => statuses(providerAVerdicts(facts, "mail.test"))
  const domains = (...list: ReadonlyArray<readonly [string, string]>) =>
    judge({ _tag: "Domains", domains: list.map(([name, status]) => ({ name, status })) })

  it("a valid key and a verified domain", () => {
    assert.deepStrictEqual(domains(["other.test", "failed"], ["Mail.test", "verified"]), ["ok", "ok"])
    assert.deepStrictEqual(domains(["mail.test", "pending"]), ["ok", "fail"])
    assert.deepStrictEqual(domains(["other.test", "verified"]), ["ok", "fail"])
    assert.deepStrictEqual(judge({ _tag: "SendOnly" }), ["ok", "warn"])
    assert.deepStrictEqual(judge({ _tag: "Refused", why: "x" }), ["fail"])
    assert.deepStrictEqual(judge({ _tag: "Unknown", why: "x" }), ["fail"])
  })
})

describe("provider_b", () => {
  const identity: IdentityFacts = {
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
  const there = (published: ReadonlyArray<string> | undefined, sendingEnabled = true) =>
    ({ _tag: "There", sendingEnabled, suppresses: ["BOUNCE", "COMPLAINT"], published }) as const
  const account: Extract<ProviderBFacts, { _tag: "Account" }> = {
    _tag: "Account",
    sendingEnabled: true,
    productionAccess: true,
    enforcement: "HEALTHY",
    identity: { _tag: "There", identity },
    sets: [
      { name: "transactional-set", outreach: false, found: there(NEEDED_EVENTS) },
      { name: "outreach-set", outreach: true, found: there([...NEEDED_EVENTS, "OPEN", "CLICK"]) }
    ]
  }
  const judge = (facts: Partial<typeof account>) =>
    complaints(providerBVerdicts({ ...account, ...facts }, "mail.test"))
  const judgeIdentity = (facts: Partial<IdentityFacts>) =>
    judge({ identity: { _tag: "There", identity: { ...identity, ...facts } } })

  it("a correct set-up has no findings", () => {
    assert.deepStrictEqual(judge({}), [])
  })

  it("the account", () => {
    assert.deepStrictEqual(judge({ sendingEnabled: false }), [
      "fail: sending is switched off for the account"
    ])
    assert.deepStrictEqual(judge({ productionAccess: false }), ["warn: the account is in the sandbox"])
    assert.deepStrictEqual(judge({ enforcement: "PROBATION" }), ["warn: the account's standing is PROBATION"])
    assert.deepStrictEqual(judge({ enforcement: "SHUTDOWN" }), ["fail: the account's standing is SHUTDOWN"])
    assert.deepStrictEqual(statuses(providerBVerdicts({ _tag: "Refused", why: "x" }, "mail.test")), ["fail"])
    assert.deepStrictEqual(statuses(providerBVerdicts({ _tag: "NotAllowed", why: "x" }, "mail.test")), [
      "warn"
    ])
    assert.deepStrictEqual(statuses(providerBVerdicts({ _tag: "Unknown", why: "x" }, "mail.test")), ["fail"])
  })

  it("the identity, its DKIM and its MAIL FROM", () => {
    assert.lengthOf(judge({ identity: { _tag: "Missing" } }), 1)
    assert.match(judge({ identity: { _tag: "Unknown", why: "denied" } })[0]!, /^warn/)
    assert.deepStrictEqual(judgeIdentity({ verified: false }), ["fail: mail.test is not verified"])
    const dkim = (facts: Partial<IdentityFacts["dkim"]>) =>
      judgeIdentity({ dkim: { ...identity.dkim, ...facts } })
    assert.deepStrictEqual(dkim({ status: "PENDING" }), ["fail: DKIM is not ready (PENDING)"])
    assert.deepStrictEqual(dkim({ signing: false }), ["fail: DKIM signing is switched off"])
    assert.match(dkim({ easy: false })[0]!, /^warn: DKIM signs as mail.test with a key of your own/)
    assert.deepStrictEqual(dkim({ keyLength: "RSA_1024_BIT" }), [
      "warn: DKIM signs as mail.test with a key of 1024 bits"
    ])
    assert.deepStrictEqual(dkim({ keyLength: undefined }), [])
    assert.deepStrictEqual(judgeIdentity({ mailFrom: undefined }), [
      "warn: there is no custom MAIL FROM domain"
    ])
    assert.deepStrictEqual(judgeIdentity({ mailFrom: { domain: "bounce.mail.test", status: "FAILED" } }), [
      "fail: MAIL FROM bounce.mail.test is not ready (FAILED)"
    ])
  })

  it("the configuration sets: outreach alone may be missing, and alone is tracked", () => {
    const set = (outreach: boolean, found: (typeof account)["sets"][number]["found"]) =>
      judge({ sets: [{ name: "s", outreach, found }] }).filter((text) => !text.includes("without a"))
    assert.match(set(false, { _tag: "Missing" })[0]!, /^fail/)
    assert.match(set(true, { _tag: "Missing" })[0]!, /^warn/)
    assert.match(set(false, { _tag: "Unknown", why: "denied" })[0]!, /^warn/)
    assert.match(set(false, there(NEEDED_EVENTS, false))[0]!, /^fail: sending is switched off/)
    assert.match(set(false, there(undefined))[0]!, /publishes nothing to EventBridge/)
    assert.deepStrictEqual(
      set(false, there(["SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT", "DELIVERY_DELAY"])),
      ["warn: the configuration set s does not publish RENDERING_FAILURE"]
    )
    const suppressing = (suppresses: ReadonlyArray<string> | undefined) =>
      set(false, { ...there(NEEDED_EVENTS), suppresses })
    assert.deepStrictEqual(suppressing(undefined), [])
    assert.deepStrictEqual(suppressing(["BOUNCE"]), [
      "warn: the configuration set s does not suppress after COMPLAINT"
    ])
    assert.deepStrictEqual(suppressing([]), [
      "warn: the configuration set s does not suppress after BOUNCE and COMPLAINT"
    ])
    assert.deepStrictEqual(set(true, there(NEEDED_EVENTS)), [
      "warn: the configuration set s does not publish OPEN, CLICK"
    ])
    assert.match(
      judge({ sets: account.sets.slice(1) })[0]!,
      /^warn: mail goes out without a configuration set/
    )
  })
})

describe("the retry queue", () => {
  const sqs = (facts: object = {}) =>
    queueVerdicts(
      {
        _tag: "Sqs",
        redrive: { maxReceives: 3, deadLetterQueue: "dead", deadLetters: 0 },
        visibilitySeconds: 60,
        retentionSeconds: 345_600,
        deadLetterRetentionSeconds: 1_209_600,
        due: 0,
        ...facts
      },
      60
    )

  it("three receives, then a dead-letter queue that remembers for longer", () => {
    assert.deepStrictEqual(statuses(sqs()), ["ok"])
    assert.deepStrictEqual(statuses(sqs({ redrive: undefined })), ["fail"])
    for (const maxReceives of [1, 2, 4, 10]) {
      const redrive = { maxReceives, deadLetterQueue: "dead", deadLetters: 0 }
      assert.deepStrictEqual(statuses(sqs({ redrive })), ["warn"])
    }
    assert.deepStrictEqual(statuses(sqs({ visibilitySeconds: 59 })), ["ok", "warn"])
    assert.deepStrictEqual(complaints(sqs({ due: 2 })), [
      "warn: 2 deferred mails are due, and no consumer takes them"
    ])
    assert.deepStrictEqual(statuses(sqs({ deadLetterRetentionSeconds: 345_600 })), ["ok", "warn"])
    const redrive = { maxReceives: 3, deadLetterQueue: "dead", deadLetters: 2 }
    assert.deepStrictEqual(complaints(sqs({ redrive })), ["warn: 2 dead letters wait"])
  })

  it("none, one in the database, and one that does not answer", () => {
    assert.deepStrictEqual(statuses(queueVerdicts({ _tag: "None" }, 60)), ["warn"])
    assert.deepStrictEqual(statuses(queueVerdicts({ _tag: "Unreachable", why: "x" }, 60)), ["fail"])
    const inDatabase = { _tag: "Postgres", name: "q", dead: 0, isConsumed: true } as const
    assert.deepStrictEqual(statuses(queueVerdicts(inDatabase, 60)), ["ok"])
    assert.deepStrictEqual(complaints(queueVerdicts({ ...inDatabase, dead: 1 }, 60)), [
      "warn: 1 dead letter waits"
    ])
    assert.deepStrictEqual(complaints(queueVerdicts({ ...inDatabase, isConsumed: false }, 60)), [
      "warn: no process takes from the retry queue q"
    ])
  })
})
