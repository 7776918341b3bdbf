/**
 * `MailStore` and the log behind it: claims, rows, suppressions and evidence end the same, whichever writer comes first and
 * however often.
 *
 * Adapters: memory, postgres. Rules: A1, D1, L1, L2, L3, P1, P3, S1, S2, S4, S7, S9, MAIL-7, MAIL-41, MAIL-42, MAIL-43,
 * MAIL-74, EVENT-11, EVENT-13, EVENT-15, EVENT-24.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"

import type { EventEntry } from "../../../src/adapters/memory/mail/tables.ts"
import type { ClaimState } from "../../../src/domain/mail/claim.ts"
import type { SendDetails } from "../../../src/domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS, type Provider } from "../../../src/domain/mail/failover.ts"
import type { SendResult, SendStatus } from "../../../src/domain/mail/send-result.ts"
import type { Attempt } from "../../../src/domain/mail/trace.ts"
import type { BeginSend, RecordSend } from "../../../src/ports/mail/mail-store.ts"
import { anyId } from "../../support/any-id.ts"
import type { MailWorld } from "../../support/worlds/mail-world.ts"

const LEASE_MS = 60_000

let serial = 0
/** A text that no other test has. */
const fresh = (name: string) => `${name}-${process.pid}-${(serial += 1)}`
/** A row id. */
export const rowId = () => anyId()

export interface Mail {
  readonly details: SendDetails
}

export const mail = (overrides: Partial<SendDetails> = {}): Mail => {
  const key = fresh("key")
  return {
    details: {
      category: "transactional",
      source: "api:test",
      from: "noreply@postlane.test",
      to: [`${fresh("to")}@x.test`],
      others: [],
      subject: "a subject",
      idempotencyKey: anyId(key),
      keyHash: anyId(`hash-of-${key}`),
      ...overrides
    }
  }
}

/** What the library records of an attempt. */
export const attempt = (
  { details }: Mail,
  outcome: SendStatus,
  overrides: Partial<RecordSend> = {}
): RecordSend => ({
  rowId: rowId(),
  details,
  outcome,
  provider: "provider_a",
  providerMessageId: null,
  failedOver: false,
  error: outcome === "failed" || outcome === "suppressed" ? "why" : null,
  errorKind: outcome === "failed" ? "rejected" : null,
  costUsd: outcome === "sent" ? 0.0004 : null,
  attempts: [],
  retryAt: null,
  settle: undefined,
  ...overrides
})

export const resultOf = (
  status: SendStatus,
  idempotencyKey: string,
  kind: "rejected" | "ambiguous" = "rejected"
): SendResult => {
  const common = {
    sendId: anyId("00000000-0000-4000-8000-000000000000"),
    provider: "provider_a" as const,
    failedOver: false,
    idempotencyKey,
    suppressedRecipients: []
  }
  switch (status) {
    case "sent":
      return { ok: true, status, providerMessageId: "m", ...common }
    case "deferred":
      return { ok: true, status, providerMessageId: null, ...common }
    case "suppressed":
      return { ok: false, status, error: "why", providerMessageId: null, ...common }
    case "failed":
      return { ok: false, status, error: "why", kind, providerMessageId: null, ...common }
  }
}

const asking = (
  { details }: Mail,
  claim: Partial<NonNullable<BeginSend["claim"]>> = {}
): BeginSend & { readonly claim: NonNullable<BeginSend["claim"]> } => ({
  keyHash: details.keyHash,
  addresses: [...details.to, ...details.others],
  claim: { payloadHash: "payload", provider: "provider_a", owner: rowId(), leaseMs: LEASE_MS, ...claim }
})

const retrying = ({ details }: Mail, provider: Provider = "provider_a") => ({
  keyHash: details.keyHash,
  provider,
  rowId: rowId(),
  addresses: [...details.to],
  owner: rowId(),
  leaseMs: LEASE_MS
})

const settling = (
  begun: { readonly claim: { readonly owner: string } },
  { details }: Mail,
  state: ClaimState,
  status: SendStatus,
  kind?: "rejected" | "ambiguous"
): NonNullable<RecordSend["settle"]> => ({
  owner: begun.claim.owner,
  state,
  ambiguous: state === "ambiguous" || state === "deferred",
  result: resultOf(status, details.idempotencyKey, kind)
})

/** The contract suite of the mail store and of the log behind it. */
export const suite = (name: string, makeWorld: Effect.Effect<MailWorld, never, Scope.Scope>) => {
  describe(`mail store: ${name}`, () => {
    const scope = Scope.makeUnsafe()
    let world: MailWorld
    beforeAll(async () => {
      world = await Effect.runPromise(Scope.provide(makeWorld, scope))
    })
    afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

    const rowsOf = ({ details }: Mail) =>
      Effect.map(world.rows, (rows) => rows.filter(({ keyHash }) => keyHash === details.keyHash))
    const oneRow = (one: Mail) =>
      Effect.map(rowsOf(one), (rows) => {
        assert.lengthOf(rows, 1)
        return rows[0]!
      })
    const event = (messageId: string, kind: string, more: Partial<EventEntry> = {}): EventEntry => ({
      provider: "provider_a",
      providerMessageId: messageId,
      event: kind,
      ...more
    })

    describe("begin without a claim", () => {
      it.live("answers the suppressions of the addresses and nothing else", () =>
        Effect.gen(function* () {
          const [one, two, other] = [mail(), mail(), mail()]
          yield* world.suppress({ email: one.details.to[0]!, reason: "manual" })
          yield* world.suppress({ email: one.details.to[0]!, reason: "complaint" })
          yield* world.suppress({ email: other.details.to[0]!, reason: "hard_bounce" })
          const ask = { keyHash: anyId("k"), claim: undefined }
          const [found, none, empty] = yield* Effect.all(
            [
              world.store.begin({ ...ask, addresses: [...two.details.to, ...one.details.to] }),
              world.store.begin({ ...ask, addresses: two.details.to }),
              world.store.begin({ ...ask, addresses: [] })
            ],
            { concurrency: "unbounded" }
          )
          assert.sameDeepMembers(
            [...found.suppressions],
            [
              { email: one.details.to[0]!, reason: "manual" },
              { email: one.details.to[0]!, reason: "complaint" }
            ]
          )
          assert.strictEqual(found.decision._tag, "Claimed")
          assert.deepStrictEqual([none.suppressions, empty.suppressions], [[], []])
        })
      )
    })

    describe("an erased person", () => {
      it.live("is blocked on every path: without a claim, a new one, an old one, a retry (P3, S7)", () =>
        Effect.gen(function* () {
          const one = mail()
          const email = one.details.to[0]!
          const ask = asking(one)
          yield* world.store.begin(ask)
          yield* world.store.record(
            attempt(one, "failed", { settle: settling(ask, one, "refused", "failed") })
          )
          yield* world.suppress({ email, reason: "complaint" })
          yield* world.suppress({ email, reason: "hard_bounce" })
          yield* world.erase(email)
          assert.notDeepInclude(yield* world.suppressions, { email, reason: "complaint" })
          const retried = yield* world.store.beginRetry(retrying(one))
          const answers = [
            (yield* world.store.begin({ keyHash: anyId("k"), addresses: [email], claim: undefined }))
              .suppressions,
            (yield* world.store.begin({ ...asking(mail()), addresses: [email] })).suppressions,
            (yield* world.store.begin(asking(one))).suppressions,
            retried._tag === "Go" ? retried.suppressions : []
          ]
          for (const found of answers) {
            assert.sameDeepMembers(
              [...found],
              [
                { email, reason: "complaint" },
                { email, reason: "hard_bounce" }
              ]
            )
          }
        })
      )
    })

    describe("the events of a row (EVENT-15)", () => {
      const keeping = Effect.fnUntraced(function* (one: Mail, entries: ReadonlyArray<Partial<EventEntry>>) {
        const providerMessageId = `events-${one.details.keyHash}`
        yield* world.store.record(attempt(one, "sent", { providerMessageId }))
        yield* world.recordEvents(
          entries.map((entry) => ({ provider: "provider_a", providerMessageId, event: "clicked", ...entry }))
        )
        return (yield* oneRow(one)).events
      })

      it.live("are kept as they came, each once", () =>
        Effect.gen(function* () {
          const [one, two] = [
            { occurredAt: 2_000, raw: { link: 1 } },
            { occurredAt: 1_000, raw: { link: 2 } }
          ]
          const late = { event: "delivered", raw: "x".repeat(40_000) }
          const listed = { event: "clicked", listed: true }
          const events = yield* keeping(mail(), [
            one,
            one,
            two,
            { ...one, raw: { link: 3 } },
            one,
            late,
            late,
            { ...listed, occurredAt: 3_000 },
            { ...listed, occurredAt: 4_000 }
          ])
          assert.deepStrictEqual(
            events.map(({ at, event: kind, listed: isListed, number, raw }) => [
              number,
              kind,
              kind === "delivered" || at,
              isListed,
              raw
            ]),
            [
              [1, "clicked", 2_000, false, { link: 1 }],
              [2, "clicked", 1_000, false, { link: 2 }],
              [3, "clicked", 2_000, false, { link: 3 }],
              [4, "delivered", true, false, null],
              [5, "clicked", 3_000, true, null]
            ]
          )
        })
      )

      it.live("are the first fifty and the last fifty, however many come", () =>
        Effect.gen(function* () {
          const clicks = Array.from({ length: 230 }, (_, index) => ({ occurredAt: index * 1_000 }))
          const events = yield* keeping(mail(), clicks)
          const numbers = Array.from({ length: 230 }, (_, index) => index + 1)
          assert.deepStrictEqual(
            events.map(({ number }) => number),
            [...numbers.slice(0, 50), ...numbers.slice(180)]
          )
          assert.deepStrictEqual(
            events.map(({ at }) => at),
            events.map(({ number }) => (number - 1) * 1_000)
          )
        })
      )

      it.live("lose their bodies with an erased recipient, and come again without being kept twice", () =>
        Effect.gen(function* () {
          const one = mail()
          const opened = { occurredAt: 1_000, raw: { to: one.details.to[0] } }
          assert.lengthOf(yield* keeping(one, [opened]), 1)
          yield* world.erase(one.details.to[0]!)
          const events = yield* keeping(one, [opened])
          assert.deepStrictEqual(
            events.map(({ number, raw }) => [number, raw]),
            [[1, null]]
          )
        })
      )
    })

    describe("claims (S9)", () => {
      it.live("holds a new key, with its suppressions", () =>
        Effect.gen(function* () {
          const one = mail()
          yield* world.suppress({ email: one.details.to[0]!, reason: "manual" })
          const began = yield* world.store.begin(asking(one))
          assert.deepInclude(began.decision, { _tag: "Claimed", sticky: undefined, takeover: false })
          assert.deepStrictEqual(began.suppressions, [{ email: one.details.to[0]!, reason: "manual" }])
          assert.isUndefined(began.evidence)
        })
      )

      it.live("answers its owner again when the first answer was lost", () =>
        Effect.gen(function* () {
          const ask = asking(mail())
          const first = yield* world.store.begin(ask)
          assert.deepStrictEqual(yield* world.store.begin(ask), first)
        })
      )

      it.live("32 at once: one claims, the others get IN_PROGRESS", () =>
        Effect.gen(function* () {
          for (let round = 0; round < 10; round += 1) {
            const one = mail()
            const began = yield* Effect.forEach(
              Array.from({ length: 32 }),
              () => world.store.begin(asking(one)),
              { concurrency: "unbounded" }
            )
            const tags = began.map(({ decision }) => decision._tag).sort()
            assert.deepStrictEqual(tags, ["Claimed", ...Array.from({ length: 31 }, () => "InProgress")])
          }
        })
      )

      it.live("refuses another payload, held or settled", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = asking(one)
          yield* world.store.begin(ask)
          const other = { payloadHash: "another payload" }
          assert.strictEqual((yield* world.store.begin(asking(one, other))).decision._tag, "Conflict")
          yield* world.store.record(
            attempt(one, "sent", {
              providerMessageId: fresh("m"),
              settle: settling(ask, one, "accepted", "sent")
            })
          )
          assert.strictEqual((yield* world.store.begin(asking(one, other))).decision._tag, "Conflict")
        })
      )

      for (const [status, state] of [
        ["sent", "accepted"],
        ["deferred", "deferred"]
      ] as const) {
        it.live(`repeats the result of a ${status} call`, () =>
          Effect.gen(function* () {
            const one = mail()
            const ask = asking(one)
            yield* world.store.begin(ask)
            yield* world.store.record(
              attempt(one, status, {
                providerMessageId: status === "sent" ? fresh("m") : null,
                settle: settling(ask, one, state, status)
              })
            )
            const again = yield* world.store.begin(asking(one))
            assert.deepStrictEqual(again.decision, {
              _tag: "Replay",
              result: resultOf(status, one.details.idempotencyKey)
            })
          })
        )
      }

      for (const outcome of ["sent", "deferred"] as const) {
        it.live(`repeats the result of a ${outcome} call as it was answered, where an event came first`, () =>
          Effect.gen(function* () {
            const one = mail()
            const ask = asking(one)
            yield* world.store.begin(ask)
            const providerMessageId = fresh("m")
            const { keyHash } = one.details
            yield* world.recordEvent({
              provider: "provider_a",
              providerMessageId,
              event: "delivered",
              keyHash
            })
            const recorded = yield* world.store.record(
              attempt(one, outcome, {
                providerMessageId: outcome === "sent" ? providerMessageId : null,
                settle: settling(ask, one, outcome === "sent" ? "accepted" : "deferred", outcome)
              })
            )
            assert.deepInclude(recorded, { status: "delivered", providerMessageId })
            const again = yield* world.store.begin(asking(one))
            assert.strictEqual(again.decision._tag, "Replay")
            if (again.decision._tag !== "Replay") return
            assert.deepInclude(again.decision.result, { status: "sent", sendId: recorded.sendId })
          })
        )
      }

      it.live("does not treat a refusal as final where a call without a claim left rows (S2, S4)", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = asking(one, { provider: "provider_b" })
          yield* world.store.begin(ask)
          yield* world.store.record(
            attempt(one, "failed", {
              provider: "provider_b",
              settle: settling(ask, one, "refused", "failed")
            })
          )
          const providerMessageId = fresh("m")
          yield* world.store.record(attempt(one, "sent", { provider: "provider_b", providerMessageId }))
          const again = yield* world.store.begin(asking(one))
          assert.deepInclude(again.decision, { _tag: "Claimed", sticky: "provider_b", takeover: true })
          assert.deepStrictEqual(again.evidence, { provider: "provider_b", providerMessageId })
        })
      )

      it.live("is not set free by a call that never heard of an earlier ambiguous attempt (S2)", () =>
        Effect.gen(function* () {
          const one = mail()
          const dead = asking(one, { leaseMs: 0 })
          yield* world.store.begin(dead)
          const deaf = asking(one)
          yield* world.store.begin(deaf)
          yield* world.store.record(
            attempt(one, "failed", { settle: settling(deaf, one, "refused", "failed") })
          )
          const again = yield* world.store.begin(asking(one, { provider: "provider_b" }))
          assert.deepInclude(again.decision, { _tag: "Claimed", sticky: "provider_a" })
        })
      )

      it.live("frees the key after a proven refusal", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = asking(one)
          yield* world.store.begin(ask)
          yield* world.store.record(
            attempt(one, "failed", { settle: settling(ask, one, "refused", "failed") })
          )
          const again = yield* world.store.begin(asking(one, { payloadHash: "another payload" }))
          assert.deepInclude(again.decision, { _tag: "Claimed", sticky: undefined, takeover: false })
        })
      )

      it.live("keeps a key whose next call died, and does not free it with that call's successor (S2)", () =>
        Effect.gen(function* () {
          const one = mail()
          const refused = asking(one)
          yield* world.store.begin(refused)
          yield* world.store.record(
            attempt(one, "failed", { settle: settling(refused, one, "refused", "failed") })
          )
          yield* world.store.begin(asking(one))
          assert.strictEqual((yield* world.store.begin(asking(one))).decision._tag, "InProgress")
          yield* world.advance(LEASE_MS + 1)
          const heir = asking(one, { provider: "provider_b" })
          const inherited = yield* world.store.begin(heir)
          assert.deepInclude(inherited.decision, { _tag: "Claimed", sticky: "provider_a", takeover: true })
          yield* world.store.record(
            attempt(one, "failed", { settle: settling(heir, one, "refused", "failed") })
          )
          const after = yield* world.store.begin(asking(one, { provider: "provider_b" }))
          assert.deepInclude(after.decision, { _tag: "Claimed", sticky: "provider_a" })
        })
      )

      it.live("sticks to the provider after an ambiguous end, where that one dedupes", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = asking(one)
          const first = yield* world.store.begin(ask)
          yield* world.store.record(
            attempt(one, "failed", { settle: settling(ask, one, "ambiguous", "failed", "ambiguous") })
          )
          const again = yield* world.store.begin(asking(one, { provider: "provider_b" }))
          assert.isTrue(first.decision._tag === "Claimed")
          assert.deepStrictEqual(again.decision, {
            _tag: "Claimed",
            sticky: "provider_a",
            takeover: false,
            firstAttemptAt: first.decision._tag === "Claimed" ? first.decision.firstAttemptAt : Number.NaN
          })
        })
      )

      it.live("repeats an ambiguous end on a provider that does not dedupe, until evidence comes (S4)", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = asking(one, { provider: "provider_b" })
          yield* world.store.begin(ask)
          yield* world.store.record(
            attempt(one, "failed", {
              provider: "provider_b",
              errorKind: "ambiguous",
              settle: settling(ask, one, "ambiguous", "failed", "ambiguous")
            })
          )
          const again = yield* world.store.begin(asking(one, { provider: "provider_b" }))
          assert.strictEqual(again.decision._tag, "Replay")
          const messageId = fresh("m")
          yield* world.recordEvent({
            provider: "provider_b",
            providerMessageId: messageId,
            event: "delivered",
            keyHash: one.details.keyHash
          })
          const proven = yield* world.store.begin(asking(one, { provider: "provider_b" }))
          assert.deepInclude(proven.decision, { _tag: "Claimed", sticky: "provider_b" })
          assert.deepStrictEqual(proven.evidence, { provider: "provider_b", providerMessageId: messageId })
        })
      )

      it.live("hands a dead process's key over after its lease, on the same provider, and not to two", () =>
        Effect.gen(function* () {
          const one = mail()
          yield* world.store.begin(asking(one))
          yield* world.advance(LEASE_MS + 1)
          const began = yield* Effect.forEach(
            Array.from({ length: 8 }),
            () => world.store.begin(asking(one, { provider: "provider_b" })),
            { concurrency: "unbounded" }
          )
          const claimed = began.filter(({ decision }) => decision._tag === "Claimed")
          assert.lengthOf(claimed, 1)
          assert.deepInclude(claimed[0]!.decision, { sticky: "provider_a", takeover: true })
        })
      )

      it.live("leaves a claim that has passed on to another owner alone", () =>
        Effect.gen(function* () {
          const one = mail()
          const dead = asking(one)
          yield* world.store.begin(dead)
          yield* world.advance(LEASE_MS + 1)
          yield* world.store.begin(asking(one))
          const { owner } = dead.claim
          const { keyHash } = one.details
          assert.isFalse(yield* world.store.moveClaim({ keyHash, owner, provider: "provider_b" }))
          yield* world.store.record(
            attempt(one, "sent", {
              providerMessageId: fresh("m"),
              settle: settling(dead, one, "accepted", "sent")
            })
          )
          assert.strictEqual((yield* world.store.begin(asking(one))).decision._tag, "InProgress")
        })
      )

      it.live("notes a fail-over", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = asking(one)
          yield* world.store.begin(ask)
          const moved = {
            keyHash: one.details.keyHash,
            owner: ask.claim.owner,
            provider: "provider_b"
          } as const
          assert.isTrue(yield* world.store.moveClaim(moved))
          assert.isFalse(yield* world.store.moveClaim({ ...moved, owner: rowId() }))
          yield* world.advance(LEASE_MS + 1)
          assert.deepInclude((yield* world.store.begin(asking(one))).decision, {
            sticky: "provider_b",
            takeover: true
          })
        })
      )

      it.live("forgets a key after 24 hours, and the proof of its earlier meaning with it", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = asking(one)
          yield* world.store.begin(ask)
          yield* world.store.record(
            attempt(one, "sent", {
              providerMessageId: fresh("m"),
              settle: settling(ask, one, "accepted", "sent")
            })
          )
          yield* world.advance(IDEMPOTENCY_WINDOW_MS)
          const began = yield* world.store.begin(asking(one, { payloadHash: "another payload" }))
          assert.deepInclude(began.decision, { _tag: "Claimed", sticky: undefined })
          assert.isUndefined(began.evidence)
          const { keyHash } = one.details
          assert.isUndefined(yield* world.store.findEvidence({ keyHash, provider: "provider_a" }))
        })
      )
    })

    describe("retries", () => {
      it.live("go where nothing is known, and again for the same owner", () =>
        Effect.gen(function* () {
          const one = mail()
          yield* world.suppress({ email: one.details.to[0]!, reason: "complaint" })
          yield* world.store.record(attempt(one, "deferred"))
          const ask = retrying(one)
          const go = {
            _tag: "Go",
            suppressions: [{ email: one.details.to[0]!, reason: "complaint" }]
          } as const
          assert.deepStrictEqual(yield* world.store.beginRetry(ask), go)
          assert.deepStrictEqual(yield* world.store.beginRetry(ask), go)
        })
      )

      it.live("go to one of 16 concurrent callers, the others get busy (S1)", () =>
        Effect.gen(function* () {
          const one = mail()
          yield* world.store.record(attempt(one, "deferred"))
          const began = yield* Effect.forEach(
            Array.from({ length: 16 }),
            () => world.store.beginRetry(retrying(one)),
            { concurrency: "unbounded" }
          )
          assert.lengthOf(
            began.filter(({ _tag }) => _tag === "Go"),
            1
          )
          assert.lengthOf(
            began.filter(({ _tag }) => _tag === "Busy"),
            15
          )
          yield* world.advance(LEASE_MS + 1)
          assert.strictEqual((yield* world.store.beginRetry(retrying(one)))._tag, "Go")
        })
      )

      it.live("are busy while the relay holds the key, and hold off the relay's take-over in turn", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = asking(one)
          yield* world.store.begin(ask)
          assert.strictEqual((yield* world.store.beginRetry(retrying(one)))._tag, "Busy")
          yield* world.advance(LEASE_MS + 1)
          assert.strictEqual((yield* world.store.beginRetry(retrying(one)))._tag, "Go")
          assert.strictEqual((yield* world.store.begin(asking(one))).decision._tag, "InProgress")
        })
      )

      it.live("free the key with their row, and keep its state", () =>
        Effect.gen(function* () {
          const one = mail()
          const call = asking(one)
          yield* world.store.begin(call)
          yield* world.store.record(
            attempt(one, "deferred", { settle: settling(call, one, "deferred", "deferred") })
          )
          const ask = retrying(one)
          yield* world.store.beginRetry(ask)
          const settle = { owner: ask.owner, state: "deferred", ambiguous: true, result: undefined } as const
          yield* world.store.record(attempt(one, "deferred", { rowId: ask.rowId, settle }))
          assert.strictEqual((yield* world.store.beginRetry(retrying(one)))._tag, "Go")
          const replayed = yield* world.store.begin(asking(one))
          assert.deepStrictEqual(replayed.decision, {
            _tag: "Replay",
            result: resultOf("deferred", one.details.idempotencyKey)
          })
        })
      )

      it.live("are over where their row is there", () =>
        Effect.gen(function* () {
          const one = mail()
          const ask = retrying(one)
          yield* world.store.record(attempt(one, "failed", { rowId: ask.rowId }))
          assert.deepStrictEqual(yield* world.store.beginRetry(ask), { _tag: "Recorded" })
        })
      )

      it.live("are settled by an event of that provider (S4)", () =>
        Effect.gen(function* () {
          const one = mail()
          const messageId = fresh("m")
          yield* world.store.record(attempt(one, "deferred"))
          yield* world.recordEvent(event(messageId, "delivered", { keyHash: one.details.keyHash }))
          assert.strictEqual((yield* world.store.beginRetry(retrying(one, "provider_b")))._tag, "Go")
          assert.deepStrictEqual(yield* world.store.beginRetry(retrying(one)), {
            _tag: "Settled",
            evidence: { provider: "provider_a", providerMessageId: messageId }
          })
        })
      )
    })

    describe("an acceptance after its row has ended otherwise", () => {
      /** A retry whose failure was written, whose queue never heard so, and which was accepted when it came back. */
      const ends = (one: Mail, eventFirst: boolean) =>
        Effect.gen(function* () {
          const call = asking(one)
          yield* world.store.begin(call)
          const lost = settling(call, one, "ambiguous", "failed", "ambiguous")
          yield* world.store.record(attempt(one, "failed", { errorKind: "ambiguous", settle: lost }))
          const ask = retrying(one)
          yield* world.store.beginRetry(ask)
          const settle = { owner: ask.owner, state: "deferred", ambiguous: true, result: undefined } as const
          yield* world.store.record(
            attempt(one, "failed", { rowId: ask.rowId, errorKind: "ambiguous", settle })
          )
          const messageId = fresh("m")
          const steps = [
            Effect.asVoid(
              world.store.record(
                attempt(one, "sent", { rowId: ask.rowId, providerMessageId: messageId, settle })
              )
            ),
            Effect.asVoid(world.recordEvent(event(messageId, "delivered", { keyHash: one.details.keyHash })))
          ]
          yield* Effect.all(eventFirst ? steps.toReversed() : steps.slice(0, 1))
          return { messageId, retryId: ask.rowId }
        })

      it.live("is proof for every later call and retry on the key (S4)", () =>
        Effect.gen(function* () {
          const one = mail()
          const { messageId, retryId } = yield* ends(one, false)
          const evidence = { provider: "provider_a", providerMessageId: messageId } as const
          const { keyHash } = one.details
          assert.deepStrictEqual(
            yield* world.store.findEvidence({ keyHash, provider: "provider_a" }),
            evidence
          )
          assert.deepStrictEqual(yield* world.store.beginRetry(retrying(one)), { _tag: "Settled", evidence })
          const began = yield* world.store.begin(asking(one))
          assert.deepInclude(began.decision, { _tag: "Claimed", sticky: "provider_a" })
          assert.deepStrictEqual(began.evidence, evidence)
          const again = { ...retrying(one), rowId: retryId }
          assert.deepStrictEqual(yield* world.store.beginRetry(again), { _tag: "Recorded" })
        })
      )

      it.live(
        "has a row of its own, whether its event comes first or not, and leaves the other (L1, L2)",
        () =>
          Effect.gen(function* () {
            for (const eventFirst of [false, true]) {
              const one = mail()
              const { messageId, retryId } = yield* ends(one, eventFirst)
              const again = attempt(one, "sent", { rowId: retryId, providerMessageId: messageId })
              const recorded = yield* world.store.record(again)
              const status = eventFirst ? "delivered" : "sent"
              assert.deepInclude(recorded, { status, providerMessageId: messageId })
              const rows = yield* rowsOf(one)
              assert.lengthOf(rows, 3)
              const accepted = rows.find(({ id }) => id === recorded.sendId)
              assert.deepInclude(accepted, {
                outcome: "sent",
                status,
                category: "transactional",
                costUsd: 0.0004
              })
              assert.deepInclude(
                rows.find(({ id }) => id === retryId),
                { outcome: "failed", status: "failed", providerMessageId: null }
              )
            }
          })
      )
    })

    describe("attempts (MAIL-74)", () => {
      const startedAt = Date.UTC(2026, 10, 22, 12)
      const refused: Attempt = {
        provider: "provider_a",
        outcome: "unavailable",
        reason: "429: slow down",
        code: "rate_limit_exceeded",
        startedAt,
        durationMs: 31
      }
      const accepted: Attempt = {
        provider: "provider_b",
        outcome: "accepted",
        reason: null,
        code: null,
        startedAt: startedAt + 40,
        durationMs: 180
      }
      const lost: Attempt = { ...accepted, provider: "provider_a", outcome: "ambiguous", reason: "no answer" }
      it.live("are written with their rows, several in one call, and once each", () =>
        Effect.gen(function* () {
          const [first, second, none] = [mail(), mail(), mail()]
          const entries = [
            attempt(first, "sent", { providerMessageId: fresh("m"), attempts: [refused, accepted] }),
            attempt(second, "deferred", { attempts: [lost], retryAt: startedAt + 120_000 }),
            attempt(none, "suppressed", { provider: null })
          ]
          yield* Effect.all(entries.map(world.store.record), { concurrency: "unbounded" })
          yield* Effect.forEach(entries, world.store.record)
          const found = yield* Effect.forEach([first, second, none], oneRow)
          assert.deepStrictEqual(
            found.map(({ attempts }) => attempts),
            [[refused, accepted], [lost], []]
          )
          assert.deepStrictEqual(
            found.map(({ retryAt }) => retryAt),
            [null, startedAt + 120_000, null]
          )
        })
      )

      it.live("go to the row that an event had made", () =>
        Effect.gen(function* () {
          const one = mail()
          const messageId = fresh("m")
          yield* world.recordEvent(event(messageId, "delivered", { keyHash: one.details.keyHash }))
          const entry = attempt(one, "sent", { providerMessageId: messageId, attempts: [accepted] })
          yield* world.store.record(entry)
          const row = yield* oneRow(one)
          assert.notStrictEqual(row.id, entry.rowId)
          assert.deepStrictEqual(row.attempts, [accepted])
        })
      )

      it.live("of a retry that came back are added to those of its row", () =>
        Effect.gen(function* () {
          const one = mail()
          const entry = attempt(one, "deferred", { attempts: [lost] })
          yield* world.store.record(entry)
          const again = attempt(one, "sent", { providerMessageId: fresh("m"), attempts: [accepted] })
          yield* Effect.replicateEffect(world.store.record({ ...again, rowId: entry.rowId }), 2)
          assert.deepStrictEqual((yield* oneRow(one)).attempts, [lost, accepted])
        })
      )
    })

    describe("rows (L1)", () => {
      it.live("hold what the library knows", () =>
        Effect.gen(function* () {
          const one = mail({ others: ["cc@x.test", "bcc@x.test"], dropped: ["out@x.test"] })
          const messageId = fresh("m")
          const entry = attempt(one, "sent", { providerMessageId: messageId, failedOver: true })
          const recorded = yield* world.store.record(entry)
          assert.deepStrictEqual(recorded, {
            sendId: entry.rowId,
            status: "sent",
            providerMessageId: messageId
          })
          assert.deepInclude(yield* oneRow(one), {
            id: entry.rowId,
            category: "transactional",
            source: "api:test",
            from: "noreply@postlane.test",
            to: one.details.to,
            others: ["cc@x.test", "bcc@x.test"],
            dropped: ["out@x.test"],
            recipientCount: 3,
            subject: "a subject",
            outcome: "sent",
            status: "sent",
            provider: "provider_a",
            providerMessageId: messageId,
            failedOver: true,
            costUsd: 0.0004,
            idempotencyKey: one.details.idempotencyKey,
            lastEvent: null,
            alertedAt: null
          })
        })
      )

      it.live("hold why a send failed, and the same row recorded twice changes nothing", () =>
        Effect.gen(function* () {
          const one = mail()
          const entry = attempt(one, "failed", { errorKind: "unavailable", provider: null })
          yield* world.store.record(entry)
          const before = yield* oneRow(one)
          yield* world.store.record(entry)
          assert.deepStrictEqual(yield* oneRow(one), before)
          assert.deepInclude(before, {
            status: "failed",
            error: "why",
            errorKind: "unavailable",
            provider: null
          })
        })
      )

      it.live("of 400 sends at once are each written, and answered to whom it belongs", () =>
        Effect.gen(function* () {
          const mails = Array.from({ length: 400 }, () => mail())
          const entries = mails.map((one) => attempt(one, "sent", { providerMessageId: fresh("m") }))
          const recorded = yield* Effect.forEach(entries, (entry) => world.store.record(entry), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(
            recorded.map(({ sendId, providerMessageId }) => ({ sendId, providerMessageId })),
            entries.map(({ rowId: sendId, providerMessageId }) => ({ sendId, providerMessageId }))
          )
        })
      )

      it.live("that an event made first are completed, keep their id and are not set back (L2)", () =>
        Effect.gen(function* () {
          const one = mail()
          const messageId = fresh("m")
          const early = yield* world.recordEvent(
            event(messageId, "delivered", {
              occurredAt: 1_700_000_000_000,
              subject: "as the provider saw it",
              recipients: ["somebody@x.test"],
              raw: { type: "email.delivered" }
            })
          )
          const recorded = yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
          assert.deepStrictEqual(recorded, {
            sendId: early.sendId,
            status: "delivered",
            providerMessageId: messageId
          })
          assert.deepInclude(yield* oneRow(one), {
            id: early.sendId,
            category: "transactional",
            to: one.details.to,
            subject: "a subject",
            outcome: "sent",
            status: "delivered",
            lastEvent: "delivered",
            lastEventAt: 1_700_000_000_000,
            raw: { type: "email.delivered" }
          })
        })
      )

      it.live(
        "of a deferral move with the event that proves acceptance, in both orders, to the same end (D1)",
        () =>
          Effect.gen(function* () {
            const ends = []
            for (const eventFirst of [false, true]) {
              const one = mail()
              const messageId = fresh("m")
              const steps = [
                world.store.record(attempt(one, "deferred")),
                world.recordEvent(
                  event(messageId, "delivered", {
                    keyHash: one.details.keyHash,
                    occurredAt: 1_700_000_000_000
                  })
                )
              ]
              yield* Effect.all(eventFirst ? steps.reverse() : steps)
              const { id: _, entryId: __, createdAt: ___, ...row } = yield* oneRow(one)
              assert.strictEqual(row.providerMessageId, messageId)
              ends.push({
                ...row,
                to: [],
                idempotencyKey: anyId(""),
                keyHash: anyId(""),
                providerMessageId: ""
              })
            }
            assert.deepStrictEqual(ends[0], ends[1])
            assert.deepInclude(ends[0], {
              status: "delivered",
              outcome: "deferred",
              category: "transactional"
            })
          })
      )

      it.live("of a deferral that an event settles have their price, in both orders", () =>
        Effect.gen(function* () {
          for (const eventFirst of [false, true]) {
            const one = mail()
            const steps = [
              world.store.record(attempt(one, "deferred", { costUsd: 0.0004 })),
              world.recordEvent(event(fresh("m"), "delivered", { keyHash: one.details.keyHash }))
            ]
            if (!eventFirst) {
              yield* steps[0]!
              assert.deepInclude(yield* oneRow(one), { status: "deferred", costUsd: null })
            }
            yield* Effect.all(eventFirst ? steps.toReversed() : steps.slice(1))
            assert.deepInclude(yield* oneRow(one), { status: "delivered", costUsd: 0.0004 })
          }
        })
      )

      it.live("of a deferral answer the proof that was there", () =>
        Effect.gen(function* () {
          const one = mail()
          const messageId = fresh("m")
          yield* world.recordEvent(event(messageId, "sent", { keyHash: one.details.keyHash }))
          const recorded = yield* world.store.record(attempt(one, "deferred"))
          assert.deepInclude(recorded, { status: "sent", providerMessageId: messageId })
        })
      )

      it.live("of a retry are their own, where its event comes while it is under way, too (L1)", () =>
        Effect.gen(function* () {
          const ends = []
          for (const eventFirst of [false, true]) {
            const one = mail()
            const messageId = fresh("m")
            yield* world.store.record(attempt(one, "deferred"))
            const ask = retrying(one)
            yield* world.store.beginRetry(ask)
            const settle = {
              owner: ask.owner,
              state: "deferred",
              ambiguous: true,
              result: undefined
            } as const
            const steps = [
              world.store.record(
                attempt(one, "sent", { rowId: ask.rowId, providerMessageId: messageId, settle })
              ),
              world.recordEvent(event(messageId, "delivered", { keyHash: one.details.keyHash }))
            ]
            yield* Effect.all(eventFirst ? steps.reverse() : steps)
            const rows = yield* rowsOf(one)
            ends.push(rows.map(({ outcome, status }) => ({ outcome, status })))
          }
          assert.deepStrictEqual(ends[0], ends[1])
          assert.deepStrictEqual(ends[0], [
            { outcome: "deferred", status: "deferred" },
            { outcome: "sent", status: "delivered" }
          ])
        })
      )

      it.live("survive text that the database refuses", () =>
        Effect.gen(function* () {
          const one = mail({ subject: "a\0b \ud800 c \ud83d\ude00", source: "api:\\u0000" })
          yield* world.store.record(attempt(one, "sent", { providerMessageId: fresh("m") }))
          const row = yield* oneRow(one)
          assert.match(row.subject ?? "", /^a.b . c \u{1f600}$/su)
          assert.strictEqual(row.source, "api:\\u0000")
        })
      )
    })

    describe("events", () => {
      it.live("of mail that was sent outside the library make a row of category unknown (MAIL-7)", () =>
        Effect.gen(function* () {
          const messageId = fresh("m")
          const recorded = yield* world.recordEvent(
            event(messageId, "scheduled", { recipients: ["o@x.test"] })
          )
          assert.deepInclude(recorded, { status: "sent", alert: false })
          const row = (yield* world.rows).find(({ providerMessageId }) => providerMessageId === messageId)
          assert.deepInclude(row, {
            category: "unknown",
            outcome: null,
            status: "sent",
            to: ["o@x.test"],
            lastEvent: "scheduled"
          })
        })
      )

      it.live(
        "move status forward only, never out of a terminal one; the last event is the latest (L2, EVENT-11)",
        () =>
          Effect.gen(function* () {
            const messageId = fresh("m")
            const at = 1_700_000_000_000
            const steps = [
              ["delivered", at + 2, "delivered", "delivered"],
              ["delivery_delayed", at + 1, "delivered", "delivered"],
              ["bounce_transient", at + 3, "delivered", "bounce_transient"],
              ["clicked", at + 4, "clicked", "clicked"],
              ["bounced", at + 5, "bounced", "bounced"],
              ["complained", at + 6, "bounced", "complained"],
              ["delivered", at + 7, "bounced", "delivered"],
              ["anything new", at + 7, "bounced", "delivered"]
            ] as const
            for (const [kind, occurredAt, status, lastEvent] of steps) {
              yield* world.recordEvent(event(messageId, kind, { occurredAt, reason: `reason of ${kind}` }))
              const row = (yield* world.rows).find(({ providerMessageId }) => providerMessageId === messageId)
              assert.deepInclude(row, { status, lastEvent })
            }
            const row = (yield* world.rows).find(({ providerMessageId }) => providerMessageId === messageId)
            assert.strictEqual(row?.error, "reason of bounced")
          })
      )

      it.live("that come again change nothing, a lifted suppression included (L3)", () =>
        Effect.gen(function* () {
          const messageId = fresh("m")
          const email = `${fresh("gone")}@x.test`
          const bounce = event(messageId, "bounced", {
            recipients: [email],
            bounceType: "Permanent",
            occurredAt: 1_700_000_000_000
          })
          assert.isTrue((yield* world.recordEvent(bounce)).alert)
          assert.deepInclude(yield* world.suppressions, { email, reason: "hard_bounce" })
          yield* world.unsuppress(email)
          const before = yield* world.rows
          assert.isFalse((yield* world.recordEvent(bounce)).alert)
          assert.isFalse((yield* world.recordEvent({ ...bounce, occurredAt: undefined })).alert)
          assert.deepStrictEqual(yield* world.rows, before)
          assert.notDeepInclude(yield* world.suppressions, { email, reason: "hard_bounce" })
        })
      )

      it.live("alert once under 32 at once, and again after the claim was released (A1)", () =>
        Effect.gen(function* () {
          const one = mail()
          const messageId = fresh("m")
          yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
          const kinds = ["bounced", "failed", "complained", "suppressed"]
          const recorded = yield* Effect.forEach(
            Array.from({ length: 32 }, (_, index) => kinds[index % kinds.length]!),
            (kind) => world.recordEvent(event(messageId, kind)),
            { concurrency: "unbounded" }
          )
          const alerts = recorded.filter(({ alert }) => alert)
          assert.lengthOf(alerts, 1)
          assert.isTrue(yield* world.releaseAlert(alerts[0]!.sendId))
          assert.isFalse(yield* world.releaseAlert(alerts[0]!.sendId))
          assert.isTrue((yield* world.recordEvent(event(messageId, "bounced"))).alert)
        })
      )

      it.live("answer what kind of mail they are about: the row's words, else the event's own", () =>
        Effect.gen(function* () {
          const one = mail({ category: "marketing", source: "api:promo" })
          const messageId = fresh("m")
          yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
          const known = yield* world.recordEvent(event(messageId, "bounced", { category: "alert" }))
          assert.deepInclude(known, { alert: true, category: "marketing", source: "api:promo" })
          const other = yield* world.recordEvent(event(fresh("m"), "bounced", { category: "alert" }))
          assert.deepInclude(other, { alert: true, category: "alert", source: undefined })
        })
      )

      it.live("of outreach never alert, and backfill keeps the claim (A1, EVENT-24)", () =>
        Effect.gen(function* () {
          const [outreach, old, seen] = [fresh("m"), fresh("m"), fresh("m")]
          assert.isFalse((yield* world.recordEvent(event(outreach, "bounced", { alertable: false }))).alert)
          assert.deepInclude(yield* world.recordEvent(event(old, "sent", { backfill: true })), {
            alert: false,
            backfilled: true
          })
          assert.isFalse((yield* world.recordEvent(event(old, "bounced"))).alert)
          yield* world.recordEvent(event(seen, "sent"))
          assert.deepInclude(yield* world.recordEvent(event(seen, "bounced", { backfill: true })), {
            alert: true,
            backfilled: false
          })
        })
      )

      it.live("suppress a single recipient, a named one, and nobody else (P1)", () =>
        Effect.gen(function* () {
          const [single, several, transient, named, poll] = [
            mail(),
            mail({ to: [`${fresh("a")}@x.test`, `${fresh("b")}@x.test`] }),
            mail(),
            mail({ to: [`${fresh("a")}@x.test`, `${fresh("b")}@x.test`] }),
            mail()
          ]
          const ids = yield* Effect.forEach([single, several, transient, named, poll], (one) => {
            const messageId = fresh("m")
            return Effect.as(
              world.store.record(attempt(one, "sent", { providerMessageId: messageId })),
              messageId
            )
          })
          const permanent = { bounceType: "Permanent", recipients: ["not-this-one@x.test"] }
          yield* world.recordEvent(event(ids[0]!, "bounced", permanent))
          yield* world.recordEvent(event(ids[1]!, "bounced", permanent))
          yield* world.recordEvent(event(ids[1]!, "complained", permanent))
          yield* world.recordEvent(event(ids[2]!, "bounced", { bounceType: "Transient" }))
          yield* world.recordEvent(
            event(ids[3]!, "bounced", { bounceType: "Permanent", suppress: [named.details.to[1]!] })
          )
          yield* world.recordEvent(event(ids[4]!, "bounced"))
          yield* world.recordEvent(event(ids[4]!, "complained"))
          const known = new Set(
            [single, several, transient, named, poll].flatMap(({ details }) => details.to)
          )
          known.add("not-this-one@x.test")
          const found = (yield* world.suppressions).filter(({ email }) => known.has(email))
          assert.sameDeepMembers(found, [
            { email: single.details.to[0]!, reason: "hard_bounce" },
            { email: named.details.to[1]!, reason: "hard_bounce" },
            { email: poll.details.to[0]!, reason: "complaint" }
          ])
        })
      )

      it.live(
        "that named no recipient suppress once the row says who it is, and only a single one (L1, P1)",
        () =>
          Effect.gen(function* () {
            const [single, several] = [mail(), mail({ others: [`${fresh("cc")}@x.test`] })]
            for (const one of [single, several]) {
              const messageId = fresh("m")
              yield* world.recordEvent(event(messageId, "bounced", { bounceType: "Permanent" }))
              yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
            }
            const found = yield* world.suppressions
            assert.deepInclude(found, { email: single.details.to[0]!, reason: "hard_bounce" })
            assert.notDeepInclude(found, { email: several.details.to[0]!, reason: "hard_bounce" })
          })
      )
    })

    describe("an event that comes before its row", () => {
      const early = (one: Mail, messageId: string, kind: string) =>
        event(messageId, kind, {
          bounceType: "Permanent",
          keyHash: one.details.keyHash,
          // What a webhook names: the To recipients alone.
          recipients: [...one.details.to]
        })

      it.live("suppresses nobody until the row names all recipients, and only a single one (P1)", () =>
        Effect.gen(function* () {
          for (const kind of ["bounced", "complained"]) {
            const reason = kind === "bounced" ? ("hard_bounce" as const) : ("complaint" as const)
            for (const others of [[], [`${fresh("bcc")}@x.test`]]) {
              const one = mail({ others })
              const messageId = fresh("m")
              const found = { email: one.details.to[0]!, reason }
              yield* world.recordEvent(early(one, messageId, kind))
              assert.notDeepInclude(yield* world.suppressions, found)
              yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
              if (others.length === 0) assert.deepInclude(yield* world.suppressions, found)
              else assert.notDeepInclude(yield* world.suppressions, found)
              yield* world.recordEvent(early(one, messageId, kind))
              const all = (yield* world.suppressions).filter(({ email }) =>
                [...one.details.to, ...others].includes(email)
              )
              assert.lengthOf(all, others.length === 0 ? 1 : 0)
            }
          }
        })
      )

      it.live("suppresses whom it names, at once", () =>
        Effect.gen(function* () {
          const one = mail({ others: [`${fresh("bcc")}@x.test`] })
          const email = one.details.others[0]!
          yield* world.recordEvent({
            ...early(one, fresh("m"), "bounced"),
            provider: "provider_b",
            suppress: [email]
          })
          assert.deepInclude(yield* world.suppressions, { email, reason: "hard_bounce" })
        })
      )
    })

    describe("poll and webhook", () => {
      it.live("end in the richest account, whichever comes first", () =>
        Effect.gen(function* () {
          const ends = []
          for (const pollFirst of [true, false]) {
            const one = mail()
            const messageId = fresh("m")
            yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
            const pushed = event(messageId, "bounced", {
              occurredAt: 1_700_000_000_000,
              reason: "Permanent/General: no such user",
              raw: { type: "email.bounced" },
              bounceType: "Permanent"
            })
            const listed = event(messageId, "bounced", {
              occurredAt: 1_700_000_600_000,
              raw: { last_event: "bounced" },
              listed: true
            })
            const steps = [world.recordEvent(listed), world.recordEvent(pushed), world.recordEvent(listed)]
            yield* Effect.all(pollFirst ? steps.slice(0, 2) : steps.slice(1))
            const { error, lastEvent, lastEventAt, raw, status } = yield* oneRow(one)
            ends.push({ error, lastEvent, lastEventAt, raw, status })
          }
          assert.deepStrictEqual(ends[1], ends[0])
          assert.deepStrictEqual(ends[0], {
            error: "Permanent/General: no such user",
            lastEvent: "bounced",
            lastEventAt: 1_700_000_000_000,
            raw: { type: "email.bounced" },
            status: "bounced"
          })
        })
      )
    })

    describe("evidence", () => {
      it.live("is the newest message id of the key and provider, with or without a row (EVENT-13)", () =>
        Effect.gen(function* () {
          const one = mail()
          const { keyHash } = one.details
          const ask = { keyHash, provider: "provider_a" } as const
          assert.isUndefined(yield* world.store.findEvidence(ask))
          const [first, second] = [fresh("m"), fresh("m")]
          yield* world.recordEvent(event(first, "sent", { keyHash }))
          assert.deepStrictEqual(yield* world.store.findEvidence(ask), {
            provider: "provider_a",
            providerMessageId: first
          })
          yield* world.recordEvent(event(second, "sent", { keyHash }))
          assert.deepInclude(yield* world.store.findEvidence(ask), { providerMessageId: second })
          assert.isUndefined(yield* world.store.findEvidence({ keyHash, provider: "provider_b" }))
        })
      )
    })
  })
}
