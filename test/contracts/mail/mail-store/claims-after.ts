import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../../src/domain/mail/failover.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  asking,
  attempt,
  event,
  fresh,
  lastAttemptOf,
  LEASE_MS,
  mail,
  Mails,
  type MailTests,
  resultOf,
  retrying,
  rowId,
  settling
} from "./mails.ts"

const HOUR_MS = 3_600_000

/** What the next call on a key may do once a call has been refused, has ended ambiguously or has died. */
export const claimsAfter = (it: MailTests): void => {
  describe("claims (S9)", () => {
    it.effect("does not treat a refusal as final where a call without a claim left rows (S2, S4)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("is not set free by a call that never heard of an earlier ambiguous attempt (S2)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const dead = asking(one, { leaseMs: 0 })
        yield* world.store.begin(dead)
        const deaf = asking(one)
        yield* world.store.begin(deaf)
        yield* world.store.record(
          attempt(one, "failed", { settle: settling(deaf, one, "refused", "failed") })
        )
        const again = yield* world.store.begin(asking(one, { provider: "provider_b" }))
        assert.strictEqual(again.decision._tag, "Replay")
        if (again.decision._tag !== "Replay") return
        // The end that it reports is not that certain (S2).
        assert.deepInclude(again.decision.result, { status: "failed", kind: "ambiguous", error: "why" })
      })
    )

    it.effect(
      "is asked for by nobody once a call that never heard of the doubt has asked the other provider (S2)",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const one = mail()
          yield* world.store.begin(asking(one, { leaseMs: 0 }))
          const deaf = asking(one)
          yield* world.store.begin(deaf)
          const elsewhere = { claim: { ...deaf.claim, provider: "provider_b" } } as const
          const settle = settling(elsewhere, one, "ambiguous", "failed")
          yield* world.store.record(attempt(one, "failed", { provider: "provider_b", settle }))
          const again = yield* world.store.begin(asking(one))
          assert.strictEqual(again.decision._tag, "Replay")
          const retry = yield* world.store.beginRetry(retrying(one, "provider_b"))
          assert.deepInclude(retry, { _tag: "Go", torn: true })
          // And a retry at its own provider would be the other one's second copy.
          assert.deepInclude(yield* world.store.beginRetry(retrying(one)), { _tag: "Go", torn: true })
        })
    )

    it.effect(
      "is asked for by nobody where a dead call and a send without a claim left it in doubt at two providers (S2)",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const one = mail()
          yield* world.store.begin(asking(one, { leaseMs: 0 }))
          yield* world.store.record(attempt(one, "deferred", { provider: "provider_b" }))
          const heir = yield* world.store.begin(asking(one, { leaseMs: 0 }))
          assert.deepInclude(heir.decision, { _tag: "Claimed", sticky: "provider_a", torn: true })
          for (const provider of ["provider_b", "provider_a"] as const)
            assert.deepInclude(yield* world.store.beginRetry(retrying(one, provider)), {
              _tag: "Go",
              torn: true
            })
          yield* world.advance(LEASE_MS + 1)
          const last = yield* world.store.begin(asking(one))
          assert.deepInclude(last.decision, { _tag: "Claimed", torn: true })
        })
    )

    it.effect(
      "is ended by a retry that finds it in doubt elsewhere, and says so once its own retry ends (S2)",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const one = mail()
          const ask = asking(one, { provider: "provider_b" })
          yield* world.store.begin(ask)
          yield* world.store.record(
            attempt(one, "deferred", {
              provider: "provider_b",
              settle: settling(ask, one, "deferred", "deferred")
            })
          )
          // Of a send without a claim, whose row could not be written.
          assert.deepInclude(yield* world.store.beginRetry(retrying(one)), { _tag: "Go", torn: true })
          const own = retrying(one, "provider_b")
          assert.deepInclude(yield* world.store.beginRetry(own), { _tag: "Go", torn: true })
          const settle = settling({ claim: own }, one, "ambiguous", "failed", "ambiguous")
          const { rowId: id } = own
          yield* world.store.record(
            attempt(one, "failed", { rowId: id, provider: "provider_b", errorKind: "ambiguous", settle })
          )
          const again = yield* world.store.begin(asking(one))
          assert.strictEqual(again.decision._tag, "Replay")
          if (again.decision._tag === "Replay")
            assert.deepInclude(again.decision.result, { status: "failed", kind: "ambiguous" })
        })
    )

    it.effect("frees the key after a proven refusal", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const ask = asking(one)
        yield* world.store.begin(ask)
        yield* world.store.record(attempt(one, "failed", { settle: settling(ask, one, "refused", "failed") }))
        const again = yield* world.store.begin(asking(one, { payloadHash: "another payload" }))
        assert.deepInclude(again.decision, { _tag: "Claimed", sticky: undefined, takeover: false })
      })
    )

    it.effect("keeps a key whose next call died, and does not free it with that call's successor (S2)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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
        assert.strictEqual(after.decision._tag, "Replay")
        if (after.decision._tag === "Replay")
          assert.deepInclude(after.decision.result, { status: "failed", kind: "ambiguous" })
      })
    )

    it.effect("sticks to the provider after an ambiguous end, where that one dedupes", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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
          late: false,
          after: resultOf("failed", one.details.idempotencyKey, "ambiguous").sendId,
          tag: tagOf(one.details),
          firstAttemptAt: first.decision._tag === "Claimed" ? first.decision.firstAttemptAt : Number.NaN,
          lastAttemptAt: lastAttemptOf(again.decision)
        })
      })
    )

    it.effect("repeats an ambiguous end on a provider that does not dedupe, until evidence comes (S4)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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
          keyTag: tagOf(one.details)
        })
        const proven = yield* world.store.begin(asking(one, { provider: "provider_b" }))
        assert.deepInclude(proven.decision, { _tag: "Claimed", sticky: "provider_b" })
        assert.deepStrictEqual(proven.evidence, { provider: "provider_b", providerMessageId: messageId })
      })
    )

    it.effect("hands a dead process's key over after its lease, on the same provider, and not to two", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("leaves a claim that has passed on to another owner alone", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("begins anew where a process died before its request could leave (MAIL-43)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        yield* world.suppress({ email: one.details.to[0]!, reason: "complaint" })
        const died = yield* world.store.begin(asking(one))
        assert.isFalse(died.leaving)
        const heir = asking(one, { payloadHash: "another payload", provider: "provider_b" })
        yield* world.advance(LEASE_MS + 1)
        const anew = yield* world.store.begin(heir)
        assert.deepInclude(anew.decision, { _tag: "Claimed", sticky: undefined, takeover: false })
        const { keyHash } = one.details
        const leaves = { keyHash, owner: heir.claim.owner, provider: "provider_b" } as const
        assert.isTrue(yield* world.store.moveClaim(leaves))
        yield* world.advance(LEASE_MS + 1)
        const taken = yield* world.store.begin(asking(one, { payloadHash: "another payload" }))
        assert.deepInclude(taken.decision, { _tag: "Claimed", sticky: "provider_b", takeover: true })
      })
    )

    it.effect("holds a key for no longer where evidence settles it, and nobody is asked (S5)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const messageId = fresh("m")
        yield* world.store.begin(asking(one))
        yield* world.recordEvent(event(messageId, "delivered", { keyTag: tagOf(one.details) }))
        yield* world.advance(HOUR_MS)
        const heir = asking(one)
        const { decision, evidence } = yield* world.store.begin(heir)
        assert.strictEqual(evidence?.providerMessageId, messageId)
        const settle = settling(heir, one, "accepted", "sent")
        yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId, settle }))
        const again = yield* world.store.begin(asking(one))
        assert.strictEqual(again.decision._tag, "Replay")
        assert.closeTo(lastAttemptOf(again.decision), lastAttemptOf(decision), 1)
        yield* world.advance(IDEMPOTENCY_WINDOW_MS - HOUR_MS + LEASE_MS)
        const next = yield* world.store.begin(asking(one))
        assert.deepInclude(next.decision, { _tag: "Claimed", sticky: undefined, late: false })
        assert.isUndefined(next.evidence)
      })
    )

    it.effect("holds a key for no longer where the call only defers what a dead one left (S5)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const messageId = fresh("m")
        yield* world.store.begin(asking(one, { provider: "provider_b" }))
        yield* world.advance(HOUR_MS)
        const heir = asking(one, { provider: "provider_b" })
        const { decision } = yield* world.store.begin(heir)
        assert.deepInclude(decision, { _tag: "Claimed", sticky: "provider_b", takeover: true })
        // Proof comes before its retry is queued: nobody was asked since the first attempt.
        const settle = settling(heir, one, "accepted", "sent")
        yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId, settle }))
        const again = yield* world.store.begin(asking(one))
        assert.closeTo(lastAttemptOf(again.decision), lastAttemptOf(decision), 1)
      })
    )

    it.effect("holds a key for no longer where the process repeats what it knows (S5)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const tag = tagOf(one.details)
        const ages = { ageMs: 2 * HOUR_MS, lastAgeMs: HOUR_MS }
        const known = { provider: "provider_b", tag, ...ages, isSettled: true } as const
        const heir = asking(one, { known })
        const { decision } = yield* world.store.begin(heir)
        const settle = settling(heir, one, "accepted", "sent")
        yield* world.store.record(attempt(one, "sent", { providerMessageId: fresh("m"), settle }))
        const again = yield* world.store.begin(asking(one))
        assert.strictEqual(again.decision._tag, "Replay")
        assert.closeTo(lastAttemptOf(again.decision), lastAttemptOf(decision), 1)
      })
    )

    it.effect("takes the word of a process that knows more, and keeps it when that one dies (S2)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const tag = tagOf({ ...one.details, keyTag: anyId(fresh("tag")) })
        const known = {
          provider: "provider_b",
          tag,
          ageMs: 60 * 60_000,
          lastAgeMs: 60 * 60_000,
          isSettled: false
        } as const
        const told = yield* world.store.begin(asking(one, { known }))
        assert.deepInclude(told.decision, {
          _tag: "Claimed",
          sticky: "provider_b",
          takeover: true,
          tag,
          late: false
        })
        yield* world.advance(LEASE_MS + 1)
        const heir = yield* world.store.begin(asking(one))
        assert.deepInclude(heir.decision, { _tag: "Claimed", sticky: "provider_b", takeover: true, tag })
      })
    )

    it.effect("notes a fail-over", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("S5: what comes late of a use whose process died proves nothing of the use a day later", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const dead = yield* world.store.begin(asking(one))
        assert(dead.decision._tag === "Claimed")
        const deadTag = dead.decision.tag
        yield* world.advance(IDEMPOTENCY_WINDOW_MS + LEASE_MS + 1_000)
        yield* world.purgeClaims
        yield* world.recordEvent(event(fresh("m"), "opened", { keyTag: deadTag }))
        const ask = asking(one)
        const later = yield* world.store.begin(ask)
        assert(later.decision._tag === "Claimed")
        assert.notStrictEqual(later.decision.tag, deadTag)
        assert.deepInclude(later, { evidence: undefined })
        // That one's process dies, too: the call after it asks, and answers nothing by yesterday's mail.
        yield* world.advance(LEASE_MS + 1)
        assert.isUndefined((yield* world.store.begin(asking(one))).evidence)
      })
    )

    it.effect("forgets a key after 24 hours, and the proof of its earlier meaning with it", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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
        if (began.decision._tag !== "Claimed") return
        const { tag } = began.decision
        assert.notStrictEqual(tag, tagOf(one.details))
        const { keyHash } = one.details
        assert.isUndefined(yield* world.store.findEvidence({ keyHash, tag, ageMs: 0 }))
        yield* world.advance(IDEMPOTENCY_WINDOW_MS + LEASE_MS)
        const third = yield* world.store.begin(asking(one))
        assert.isTrue(third.decision._tag === "Claimed" && third.decision.tag !== tag)
      })
    )
  })
}
