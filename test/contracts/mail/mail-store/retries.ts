import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { KeyTag } from "../../../../src/domain/ids.ts"
import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../../src/domain/mail/failover.ts"
import {
  asking,
  attempt,
  event,
  firstAttemptOf,
  lastAttemptOf,
  fresh,
  LEASE_MS,
  type Mail,
  mail,
  Mails,
  type MailTests,
  resultOf,
  retrying,
  rowsOf,
  settling
} from "./mails.ts"

/** Retries of deferred mail: one at a time, and none once the mail was accepted. */
export const retries = (it: MailTests): void => {
  describe("retries", () => {
    it.effect("go where nothing is known, and again for the same owner", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        yield* world.suppress({ email: one.details.to[0]!, reason: "complaint" })
        yield* world.store.record(attempt(one, "deferred"))
        const ask = retrying(one)
        const go = {
          _tag: "Go",
          suppressions: [{ email: one.details.to[0]!, reason: "complaint" }]
        } as const
        assert.deepInclude(yield* world.store.beginRetry(ask), go)
        assert.deepInclude(yield* world.store.beginRetry(ask), go)
      })
    )

    it.effect("learn how old their key is by the store's clock alone", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const call = asking(one)
        const { at, decision } = yield* world.store.begin(call)
        assert(decision._tag === "Claimed")
        assert.closeTo(at, decision.firstAttemptAt, 5_000)
        const settle = settling(call, one, "deferred", "deferred")
        yield* world.store.record(attempt(one, "deferred", { settle }))
        yield* world.advance(3_600_000)
        const began = yield* world.store.beginRetry(retrying(one))
        assert(began._tag === "Go")
        assert.closeTo(began.at - began.firstAttemptAt, 3_600_000, 5_000)
      })
    )

    it.effect("go to one of 16 concurrent callers, the others get busy (S1)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("are busy while the relay holds the key, and hold off the relay's take-over in turn", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const ask = asking(one)
        yield* world.store.begin(ask)
        assert.strictEqual((yield* world.store.beginRetry(retrying(one)))._tag, "Busy")
        yield* world.advance(LEASE_MS + 1)
        assert.strictEqual((yield* world.store.beginRetry(retrying(one)))._tag, "Go")
        assert.strictEqual((yield* world.store.begin(asking(one))).decision._tag, "InProgress")
      })
    )

    it.effect("hold a key that a refusal had freed before a send without a claim left it open (S2)", () =>
      Effect.gen(function* () {
        const { store } = yield* Mails
        const one = mail()
        const refused = asking(one)
        yield* store.begin(refused)
        yield* store.record(attempt(one, "failed", { settle: settling(refused, one, "refused", "failed") }))
        assert.strictEqual((yield* store.beginRetry(retrying(one)))._tag, "Go")
        assert.strictEqual((yield* store.begin(asking(one))).decision._tag, "InProgress")
      })
    )

    it.effect("free the key with their row, and keep its state", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const call = asking(one)
        const { decision: first } = yield* world.store.begin(call)
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
          result: resultOf("deferred", one.details.idempotencyKey),
          firstAttemptAt: firstAttemptOf(first),
          lastAttemptAt: lastAttemptOf(replayed.decision)
        })
      })
    )

    it.effect("end their key though the store never heard that they began, and no other key's use (S9)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        for (const isOfThisUse of [true, false]) {
          const one = mail()
          const call = asking(one)
          yield* world.store.begin(call)
          const deferral = settling(call, one, "deferred", "deferred")
          yield* world.store.record(attempt(one, "deferred", { settle: deferral }))
          const end = {
            ...settling({ claim: retrying(one) }, one, "ended", "failed", "ambiguous"),
            isRetry: true
          } as const
          const keyTag = isOfThisUse ? (one.details.keyTag ?? null) : KeyTag.make(fresh("tag"))
          const late = { ...one, details: { ...one.details, keyTag } }
          yield* world.store.record(
            attempt(late, "failed", { rowId: retrying(one).rowId, errorKind: "ambiguous", settle: end })
          )
          const { decision } = yield* world.store.begin(asking(one))
          assert(decision._tag === "Replay")
          assert.strictEqual(decision.result.status, isOfThisUse ? "failed" : "deferred")
        }
      })
    )

    it.effect("leave the end of their key to the one that holds it (S1)", () =>
      Effect.gen(function* () {
        const { store } = yield* Mails
        const one = mail()
        const call = asking(one)
        yield* store.begin(call)
        yield* store.record(attempt(one, "deferred", { settle: settling(call, one, "deferred", "deferred") }))
        yield* store.beginRetry(retrying(one))
        const end = {
          ...settling({ claim: retrying(one) }, one, "ended", "failed", "ambiguous"),
          isRetry: true
        } as const
        yield* store.record(
          attempt(one, "failed", { rowId: retrying(one).rowId, errorKind: "ambiguous", settle: end })
        )
        assert.strictEqual((yield* store.beginRetry(retrying(one)))._tag, "Busy")
      })
    )

    it.effect("are over where their row is there", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const ask = retrying(one)
        yield* world.store.record(attempt(one, "failed", { rowId: ask.rowId }))
        assert.deepStrictEqual(yield* world.store.beginRetry(ask), { _tag: "Recorded" })
      })
    )

    it.effect("are settled by an event of that use of the key, whichever provider it is of (S4)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const messageId = fresh("m")
        yield* world.store.record(attempt(one, "deferred"))
        yield* world.recordEvent(event(messageId, "delivered", { keyTag: tagOf(one.details) }))
        for (const provider of ["provider_b", "provider_a"] as const)
          assert.deepInclude(yield* world.store.beginRetry(retrying(one, provider)), {
            _tag: "Settled",
            evidence: { provider: "provider_a", providerMessageId: messageId }
          })
      })
    )
  })

  it.effect("a retry that comes a day late, and finds no claim, holds its key no longer (S5)", () =>
    Effect.gen(function* () {
      const world = yield* Mails
      const one = mail()
      const { at } = yield* world.store.begin({
        keyHash: mail().details.keyHash,
        addresses: [],
        claim: undefined
      })
      const late = { ...retrying(one), firstAttemptAt: at - IDEMPOTENCY_WINDOW_MS - LEASE_MS }
      const began = yield* world.store.beginRetry(late)
      assert.strictEqual(began._tag === "Go" && began.firstAttemptAt, late.firstAttemptAt)
      const settle = settling({ claim: late }, one, "ambiguous", "failed", "ambiguous")
      yield* world.store.record(attempt(one, "failed", { rowId: late.rowId, errorKind: "ambiguous", settle }))
      const next = yield* world.store.begin(asking(one))
      assert.deepInclude(next.decision, { _tag: "Claimed", sticky: undefined, late: false })
    })
  )

  it.effect("a retry that comes a day late leaves the key's present use alone (S2)", () =>
    Effect.gen(function* () {
      const world = yield* Mails
      const one = mail()
      const first = asking(one)
      const { at } = yield* world.store.begin(first)
      const deferral = settling(first, one, "deferred", "deferred")
      yield* world.store.record(attempt(one, "deferred", { settle: deferral }))
      yield* world.advance(IDEMPOTENCY_WINDOW_MS + 2 * LEASE_MS)
      const second = asking(one, { provider: "provider_b" })
      const { decision } = yield* world.store.begin(second)
      assert.deepInclude(decision, { _tag: "Claimed", sticky: undefined })
      assert(decision._tag === "Claimed")
      const today = { ...one, details: { ...one.details, keyTag: decision.tag ?? null } }
      const doubt = {
        ...settling(second, today, "ambiguous", "failed", "ambiguous"),
        result: { ...resultOf("failed", one.details.idempotencyKey), provider: "provider_b" as const }
      }
      yield* world.store.record(
        attempt(today, "failed", { provider: "provider_b", errorKind: "ambiguous", settle: doubt })
      )
      const present = (yield* world.store.begin(asking(one))).decision
      assert.strictEqual(present._tag, "Replay")
      const late = { ...retrying(one), firstAttemptAt: at - 2 * LEASE_MS - IDEMPOTENCY_WINDOW_MS }
      assert.strictEqual((yield* world.store.beginRetry(late))._tag, "Go")
      const settle = settling({ claim: late }, one, "ambiguous", "failed", "ambiguous")
      yield* world.store.record(attempt(one, "failed", { rowId: late.rowId, errorKind: "ambiguous", settle }))
      assert.deepStrictEqual((yield* world.store.begin(asking(one))).decision, present)
    })
  )

  describe("an acceptance after its row has ended otherwise", () => {
    /** A retry whose failure was written but did not reach its queue, and which was accepted when it came back. */
    const ends = (one: Mail, eventFirst: boolean) =>
      Effect.gen(function* () {
        const world = yield* Mails
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
          Effect.asVoid(world.recordEvent(event(messageId, "delivered", { keyTag: tagOf(one.details) })))
        ]
        yield* Effect.all(eventFirst ? steps.toReversed() : steps.slice(0, 1))
        return { messageId, retryId: ask.rowId }
      })

    it.effect("is proof for every later call and retry on the key (S4)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const { messageId, retryId } = yield* ends(one, false)
        const evidence = { provider: "provider_a", providerMessageId: messageId } as const
        const { keyHash } = one.details
        assert.deepStrictEqual(
          yield* world.store.findEvidence({ keyHash, tag: tagOf(one.details), ageMs: 0 }),
          evidence
        )
        assert.deepInclude(yield* world.store.beginRetry(retrying(one)), { _tag: "Settled", evidence })
        const began = yield* world.store.begin(asking(one))
        assert.deepInclude(began.decision, { _tag: "Claimed", sticky: "provider_a" })
        assert.deepStrictEqual(began.evidence, evidence)
        const again = { ...retrying(one), rowId: retryId }
        assert.deepStrictEqual(yield* world.store.beginRetry(again), { _tag: "Recorded" })
      })
    )

    it.effect(
      "has a row of its own, whether its event comes first or not, and leaves the other (L1, L2)",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
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
}
