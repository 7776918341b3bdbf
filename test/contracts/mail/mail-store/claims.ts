import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import {
  asking,
  attempt,
  event,
  firstAttemptOf,
  lastAttemptOf,
  fresh,
  mail,
  Mails,
  type MailTests,
  resultOf,
  retrying,
  rowId,
  settling
} from "./mails.ts"

/** A key is claimed by one call; the others wait, or get its result. */
export const claims = (it: MailTests): void => {
  describe("claims (S9)", () => {
    it.effect("holds a new key, with its suppressions", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        yield* world.suppress({ email: one.details.to[0]!, reason: "manual" })
        const began = yield* world.store.begin(asking(one))
        assert.deepInclude(began.decision, { _tag: "Claimed", sticky: undefined, takeover: false })
        assert.deepStrictEqual(began.suppressions, [{ email: one.details.to[0]!, reason: "manual" }])
        assert.isUndefined(began.evidence)
      })
    )

    it.effect("answers its owner again when the first answer was lost", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const ask = asking(mail())
        const { at, ...first } = yield* world.store.begin(ask)
        const again = yield* world.store.begin(ask)
        const decision = { ...again.decision, lastAttemptAt: lastAttemptOf(first.decision) }
        assert.deepStrictEqual({ ...again, decision }, { ...first, at: again.at })
        assert.closeTo(again.at, at, 5_000)
      })
    )

    it.effect("32 at once: one claims, the others get IN_PROGRESS", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("refuses another payload, held or settled", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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
      it.effect(`repeats the result of a ${status} call`, () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const one = mail()
          const ask = asking(one)
          const { decision: first } = yield* world.store.begin(ask)
          yield* world.store.record(
            attempt(one, status, {
              providerMessageId: status === "sent" ? fresh("m") : null,
              settle: settling(ask, one, state, status)
            })
          )
          const again = yield* world.store.begin(asking(one))
          assert.deepStrictEqual(again.decision, {
            _tag: "Replay",
            result: resultOf(status, one.details.idempotencyKey),
            firstAttemptAt: firstAttemptOf(first),
            lastAttemptAt: lastAttemptOf(again.decision)
          })
        })
      )
    }

    for (const outcome of ["sent", "deferred"] as const) {
      it.effect(`repeats the result of a ${outcome} call as it was answered, where an event came first`, () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const one = mail()
          const ask = asking(one)
          yield* world.store.begin(ask)
          const providerMessageId = fresh("m")
          const keyTag = tagOf(one.details)
          yield* world.recordEvent({
            provider: "provider_a",
            providerMessageId,
            event: "delivered",
            keyTag
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

    /** A deferral of which two copies are out. */
    const twoCopies = Effect.gen(function* () {
      const world = yield* Mails
      const one = mail()
      const ask = asking(one)
      yield* world.store.begin(ask)
      const sendId = rowId()
      const settle = settling(ask, one, "deferred", "deferred")
      const result = { ...resultOf("deferred", one.details.idempotencyKey), sendId }
      yield* world.store.record(attempt(one, "deferred", { rowId: sendId, settle: { ...settle, result } }))
      const eventOf = (providerMessageId: string) =>
        world.recordEvent(event(providerMessageId, "delivered", { keyTag: tagOf(one.details) }))
      const end = world.store.deferralEnd({ keyHash: one.details.keyHash, sendId })
      return { world, one, eventOf, end, first: fresh("m"), second: fresh("m") }
    })

    it.effect("names the same copy to every call once it has named one (S9)", () =>
      Effect.gen(function* () {
        const { end, eventOf, first, one, second, world } = yield* twoCopies
        yield* eventOf(first)
        assert.deepInclude(yield* end, { outcome: "sent", providerMessageId: first })
        yield* eventOf(second)
        assert.deepInclude(yield* end, { outcome: "sent", providerMessageId: first })
        const again = yield* world.store.begin(asking(one))
        assert.strictEqual(again.decision._tag, "Replay")
        if (again.decision._tag === "Replay")
          assert.deepInclude(again.decision.result, { status: "sent", providerMessageId: first })
        assert.deepInclude(yield* world.store.beginRetry(retrying(one)), {
          _tag: "Settled",
          evidence: { provider: "provider_a", providerMessageId: first }
        })
      })
    )

    it.effect(
      "ends a deferral by an acceptance that a retry learned of without a claim of its own (S9)",
      () =>
        Effect.gen(function* () {
          const { end, eventOf, first, one, second, world } = yield* twoCopies
          yield* eventOf(first)
          const retry = retrying(one)
          assert.deepInclude(yield* world.store.beginRetry(retry), { _tag: "Settled" })
          const settle = settling({ claim: retry }, one, "accepted", "sent")
          const sent = resultOf("sent", one.details.idempotencyKey)
          const result = sent.status === "sent" ? { ...sent, providerMessageId: first } : sent
          const learned = { rowId: retry.rowId, providerMessageId: first, settle: { ...settle, result } }
          yield* world.store.record(attempt(one, "sent", learned))
          yield* eventOf(second)
          const again = yield* world.store.begin(asking(one))
          assert.strictEqual(again.decision._tag, "Replay")
          if (again.decision._tag === "Replay")
            assert.deepInclude(again.decision.result, { status: "sent", providerMessageId: first })
          assert.deepInclude(yield* end, { outcome: "sent", providerMessageId: first })
        })
    )

    it.effect("keeps what was reported of a deferral while its retry is under way (S9)", () =>
      Effect.gen(function* () {
        const { end, eventOf, first, one, second, world } = yield* twoCopies
        const retry = retrying(one)
        assert.deepInclude(yield* world.store.beginRetry(retry), { _tag: "Go", torn: false })
        yield* eventOf(first)
        assert.deepInclude(yield* end, { outcome: "sent", providerMessageId: first })
        const settle = settling({ claim: retry }, one, "accepted", "sent")
        yield* world.store.record(
          attempt(one, "sent", { rowId: retry.rowId, providerMessageId: second, settle })
        )
        const again = yield* world.store.begin(asking(one))
        assert.strictEqual(again.decision._tag, "Replay")
        if (again.decision._tag === "Replay")
          assert.deepInclude(again.decision.result, { status: "sent", providerMessageId: first })
        // The retry's lease is over.
        assert.deepInclude(yield* world.store.beginRetry(retrying(one)), { _tag: "Settled" })
      })
    )

    it.effect("names one copy to two calls that learn of a deferral's end at once (S9)", () =>
      Effect.gen(function* () {
        const { end, eventOf, first, second } = yield* twoCopies
        yield* eventOf(first)
        const ends = yield* Effect.all([end, eventOf(second), end, end], { concurrency: "unbounded" })
        const named = [ends[0], ends[2], ends[3]].map((one) => one?.providerMessageId)
        assert.strictEqual(new Set(named).size, 1)
      })
    )
  })
}
