import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

import { makeAuditDigestStore } from "../../../src/adapters/memory/delivery/audit-digest-store.ts"
import { AuditDigest, AuditDigestConfig, layer } from "../../../src/application/delivery/audit-digest.ts"
import type { DigestEntry } from "../../../src/domain/delivery/digest-activity.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import { AuditDigestStore, RelayFailed, SendRelay } from "../../../src/ports/delivery/audit-digest-store.ts"
import { anyId } from "../../support/any-id.ts"
import { plainTemplates, shownData } from "../../support/worlds/plain-templates.ts"
import { storeDown } from "../../support/worlds/store-down.ts"

const NOW = Date.parse("2026-11-20T15:00:00Z")
const counts = { sent: 9, delivered: 7, bounced: 1, complained: 0, failed: 0, suppressed: 2 }
const entries: ReadonlyArray<DigestEntry> = [
  {
    _tag: "Admin",
    at: NOW - 7_200_000,
    actor: "ann",
    action: "email_unsuppress",
    target: "q@x.test"
  },
  {
    _tag: "Mail",
    at: NOW - 7_300_000,
    source: null,
    status: "bounced",
    recipients: ["b@x.test"],
    error: "no such user"
  }
]

type Verdict = "sent" | "suppressed" | "refused" | "unknown"

/** Digests in memory, to a relay that says what a test wants for each address and keeps what it was asked. */
const makeWorld = Effect.fnUntraced(function* (options: {
  readonly emails: ReadonlyArray<string>
  readonly verdict?: (email: string) => Verdict
  readonly configured?: boolean
  readonly wrap?: (store: AuditDigestStore["Service"]) => AuditDigestStore["Service"]
}) {
  yield* TestClock.setTime(NOW)
  const asked: Array<SendRequest> = []
  const store = makeAuditDigestStore({
    subscriptions: options.emails.map((email, index) => ({
      id: `subscription-${index}`,
      email,
      cadence: "daily",
      customerId: email.startsWith("customer") ? anyId(`id of ${email}`) : null,
      createdAt: 0
    })),
    activity: { counts, entries, total: 60 }
  })
  const services = layer.pipe(
    Layer.provide([
      Layer.succeed(AuditDigestConfig, { baseUrl: "https://p.test" }),
      Layer.succeed(AuditDigestStore, options.wrap?.(store) ?? store),
      Layer.succeed(SendRelay, {
        configured: options.configured ?? true,
        send: (request) =>
          Effect.suspend(() => {
            asked.push(request)
            const verdict = options.verdict?.(String(request.to)) ?? "sent"
            return verdict === "sent" || verdict === "suppressed"
              ? Effect.succeed(verdict)
              : Effect.fail(new RelayFailed({ message: verdict, certain: verdict === "refused" }))
          })
      }),
      plainTemplates,
      NodeCrypto.layer
    ])
  )
  const digest = yield* Effect.provide(AuditDigest, services)
  return { asked, digest }
})

describe("the audit digest", () => {
  it.effect("tells what happened, with links into the admin pages; a customer gets none of those", () =>
    Effect.gen(function* () {
      const { asked, digest } = yield* makeWorld({ emails: ["a@x.test", "customer@x.test"] })
      assert.deepStrictEqual(yield* digest.run({ cadence: "daily" }), {
        ok: true,
        sent: 2,
        suppressed: 0,
        failed: 0
      })
      const [admin, customer] = asked
      assert.deepStrictEqual(
        [admin?.to, admin?.category, admin?.source, admin?.idempotencyKey],
        [
          "a@x.test",
          "notification",
          "api:audit-digest",
          "audit-digest/subscription-0/daily/2026-11-19T14:00:00.000Z"
        ]
      )
      assert.deepStrictEqual(shownData(admin?.text), {
        kind: "audit-digest",
        cadence: "daily",
        from: "2026-11-19T14:00:00.000Z",
        to: "2026-11-20T14:00:00.000Z",
        counts: [
          { label: "Sent", count: 9, failures: 0 },
          { label: "Delivered", count: 7, failures: 0 },
          { label: "Bounced", count: 1, failures: 1 },
          { label: "Complained", count: 0, failures: 0 },
          { label: "Failed", count: 0, failures: 0 },
          { label: "Suppressed", count: 2, failures: 2 }
        ],
        events: [
          {
            at: "2026-11-20T13:00:00.000Z",
            actor: "ann",
            what: "Removed the suppression of q@x.test",
            failed: false
          },
          {
            at: "2026-11-20T12:58:20.000Z",
            actor: "outside the library",
            what: "Mail to b@x.test bounced: no such user",
            failed: true
          }
        ],
        more: 58,
        links: [
          { text: "Email log", url: "https://p.test/admin/email-log" },
          { text: "Suppressions", url: "https://p.test/admin/suppressions" },
          { text: "Notifications", url: "https://p.test/admin/notifications" }
        ]
      })
      assert.notInclude(customer?.text ?? "", "/admin/")
    })
  )

  it.effect("one that fails stops no other; a run again sends nothing twice and tries that one again", () =>
    Effect.gen(function* () {
      let down = true
      const { asked, digest } = yield* makeWorld({
        emails: ["a@x.test", "bad@x.test", "gone@x.test", "z@x.test"],
        verdict: (email) =>
          email === "bad@x.test" && down ? "unknown" : email === "gone@x.test" ? "suppressed" : "sent"
      })
      const run = digest.run({ cadence: "daily" })
      assert.deepStrictEqual(yield* run, { ok: false, sent: 2, suppressed: 1, failed: 1 })
      assert.deepStrictEqual(yield* run, { ok: false, sent: 0, suppressed: 0, failed: 1 })
      down = false
      assert.deepStrictEqual(yield* run, { ok: true, sent: 1, suppressed: 0, failed: 0 })
      assert.deepStrictEqual(yield* run, { ok: true, sent: 0, suppressed: 0, failed: 0 })
      const bad = asked.filter(({ to }) => to === "bad@x.test")
      assert.lengthOf(asked, 6)
      assert.lengthOf(new Set(bad.map((request) => JSON.stringify(request))), 1)
    })
  )

  it.effect("two runs at once send each digest once; the next period has another key", () =>
    Effect.gen(function* () {
      const emails = Array.from({ length: 450 }, (_, index) => `r${index}@x.test`)
      const { asked, digest } = yield* makeWorld({ emails })
      const runs = Effect.all([digest.run({ cadence: "daily" }), digest.run({ cadence: "daily" })], {
        concurrency: 2
      })
      const [one, two] = yield* runs
      assert.strictEqual(one.sent + two.sent, 450)
      yield* TestClock.adjust("23 hours")
      yield* runs
      assert.lengthOf(asked, 900)
      assert.lengthOf(new Set(asked.map(({ idempotencyKey }) => idempotencyKey)), 900)
      assert.lengthOf(new Set(asked.map(({ to }) => to)), 450)
    })
  )

  it.effect("a patient run does not ask for a failed one again at once", () =>
    Effect.gen(function* () {
      const { asked, digest } = yield* makeWorld({ emails: ["a@x.test"], verdict: () => "refused" })
      const run = digest.run({ cadence: "daily", patient: true })
      assert.isFalse((yield* run).ok)
      assert.isTrue((yield* run).ok)
      yield* TestClock.adjust("2 minutes")
      assert.isFalse((yield* run).ok)
      assert.lengthOf(asked, 2)
    })
  )

  it.effect("without the relay's address, or without an answer of the store, nothing is sent", () =>
    Effect.gen(function* () {
      const unset = yield* makeWorld({ emails: ["a@x.test"], configured: false })
      assert.strictEqual(
        (yield* Effect.flip(unset.digest.run({ cadence: "daily" })))._tag,
        "RelayUnconfigured"
      )
      const error = storeDown()
      const down = yield* makeWorld({
        emails: ["a@x.test", "b@x.test"],
        wrap: (store) => ({ ...store, claim: () => Effect.fail(error) })
      })
      assert.deepStrictEqual(yield* down.digest.run({ cadence: "daily" }), {
        ok: false,
        sent: 0,
        suppressed: 0,
        failed: 2
      })
      assert.deepStrictEqual([unset.asked, down.asked], [[], []])
    })
  )

  it.effect("an end that cannot be written down is asked again, with the same mail", () =>
    Effect.gen(function* () {
      const error = storeDown()
      const { asked, digest } = yield* makeWorld({
        emails: ["a@x.test"],
        wrap: (store) => ({ ...store, settle: () => Effect.fail(error) })
      })
      yield* digest.run({ cadence: "daily" })
      yield* digest.run({ cadence: "daily" })
      assert.lengthOf(asked, 1)
      yield* TestClock.adjust("3 minutes")
      yield* digest.run({ cadence: "daily" })
      assert.lengthOf(asked, 2)
      assert.deepStrictEqual(asked[0], asked[1])
    })
  )
})
