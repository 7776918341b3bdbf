import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import type { EventEntry } from "../../../../src/adapters/memory/mail/tables.ts"
import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../../src/domain/mail/failover.ts"
import {
  asking,
  attempt,
  event,
  firstAttemptOf,
  fresh,
  lastAttemptOf,
  LEASE_MS,
  type Mail,
  mail,
  Mails,
  type MailTests,
  retrying,
  rowsOf,
  settling
} from "./mails.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** What a row says of its key, how long, and of which use of it. */
export const uses = (it: MailTests): void => {
  describe("rows of a key that no claim binds (S4, S5)", () => {
    it.effect("prove an acceptance for 24 hours, and no longer", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const [held, free] = [mail(), mail()]
        const providerMessageId = fresh("m")
        yield* world.store.record(attempt(held, "sent", { providerMessageId }))
        yield* world.store.record(attempt(free, "sent", { providerMessageId: fresh("m") }))
        yield* world.advance(IDEMPOTENCY_WINDOW_MS - 2 * MINUTE_MS)
        const known = yield* world.store.begin(asking(held, { provider: "provider_b" }))
        assert.deepInclude(known.decision, {
          _tag: "Claimed",
          sticky: "provider_a",
          tag: tagOf(held.details)
        })
        assert.deepStrictEqual(known.evidence, { provider: "provider_a", providerMessageId })
        yield* world.advance(3 * MINUTE_MS)
        const anew = yield* world.store.begin(asking(free, { provider: "provider_b" }))
        assert.deepInclude(anew.decision, { _tag: "Claimed", sticky: undefined })
        assert.isUndefined(anew.evidence)
      })
    )

    it.effect("count for what they prove before they count for how new they are", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const doubt = (provider: "provider_a" | "provider_b") => attempt(one, "deferred", { provider })
        yield* world.store.record(doubt("provider_a"))
        yield* world.store.record(
          attempt(one, "sent", { provider: "provider_b", providerMessageId: fresh("m") })
        )
        yield* world.store.record(doubt("provider_a"))
        const proven = yield* world.store.begin(asking(one))
        assert.deepInclude(proven.decision, { _tag: "Claimed", sticky: "provider_b" })
        const other = mail()
        for (const provider of ["provider_a", "provider_b"] as const)
          yield* world.store.record(attempt(other, "deferred", { provider }))
        assert.deepInclude((yield* world.store.begin(asking(other))).decision, { sticky: "provider_b" })
      })
    )

    it.effect("leave it open for 24 hours where an attempt was deferred or left no answer", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const asked = { provider: "provider_a", outcome: "ambiguous", reason: "timeout", code: null } as const
        const doubt = {
          errorKind: "ambiguous",
          attempts: [{ ...asked, startedAt: 1_700_000_000_000, durationMs: 1 }]
        } as const
        const ends = [(one: Mail) => attempt(one, "deferred"), (one: Mail) => attempt(one, "failed", doubt)]
        for (const end of ends) {
          const [held, free] = [mail(), mail()]
          for (const one of [held, free]) yield* world.store.record(end(one))
          yield* world.advance(IDEMPOTENCY_WINDOW_MS - 2 * MINUTE_MS)
          const known = yield* world.store.begin(asking(held, { provider: "provider_b" }))
          assert.deepInclude(known.decision, { _tag: "Claimed", sticky: "provider_a", takeover: true })
          yield* world.advance(3 * MINUTE_MS)
          const anew = yield* world.store.begin(asking(free, { provider: "provider_b" }))
          assert.deepInclude(anew.decision, { _tag: "Claimed", sticky: undefined, takeover: false })
        }
      })
    )
  })

  describe("an event of a key that nothing else knows: the store was restored, or away at the send (MAIL-44)", () => {
    const told = (one: Mail, kind: string, more: Partial<EventEntry> = {}) =>
      Effect.gen(function* () {
        const world = yield* Mails
        const providerMessageId = fresh("m")
        yield* world.recordEvent({
          provider: "provider_b",
          providerMessageId,
          event: kind,
          keyTag: tagOf(one.details),
          ...more
        })
        return { provider: "provider_b", providerMessageId } as const
      })
    /** How long ago the provider accepted it, by its own clock. */
    const ago = (ms: number) =>
      Mails.use(({ store }) =>
        Effect.map(store.begin(asking(mail())), ({ at }) => ({ occurredAt: Math.round(at) - ms }))
      )

    it.effect("proves that a mail of the last 24 hours was accepted", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const proof = yield* told(one, "sent", yield* ago(HOUR_MS))
        const begun = yield* world.store.begin(asking(one))
        assert.deepInclude(begun.decision, {
          _tag: "Claimed",
          sticky: "provider_b",
          late: false,
          tag: tagOf(one.details)
        })
        assert.deepStrictEqual(begun.evidence, proof)
        const last = lastAttemptOf(begun.decision)
        assert.strictEqual(last, firstAttemptOf(begun.decision))
        assert.approximately(begun.at - last, HOUR_MS, MINUTE_MS)
      })
    )

    it.effect(
      "proves nothing of a use of more than 24 hours later, nor does one that does not say when it left",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const old = yield* ago(IDEMPOTENCY_WINDOW_MS)
          const recent = yield* ago(HOUR_MS)
          const unproven: ReadonlyArray<readonly [kind: string, more: Partial<EventEntry>]> = [
            ["sent", old],
            ["delivered", recent],
            ["complained", recent],
            ["sent", { ...recent, listed: true }]
          ]
          for (const [kind, more] of unproven) {
            const one = mail()
            yield* told(one, kind, more)
            const begun = yield* world.store.begin(asking(one))
            assert.deepInclude(begun.decision, { _tag: "Claimed", sticky: undefined }, kind)
            assert.isUndefined(begun.evidence)
          }
        })
    )

    it.effect("says nothing of another key, and less than what the calling process knows", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        yield* told(mail(), "sent", yield* ago(HOUR_MS))
        assert.deepInclude((yield* world.store.begin(asking(one))).decision, { sticky: undefined })
        const other = mail()
        yield* told(other, "sent", yield* ago(HOUR_MS))
        const known = {
          provider: "provider_a",
          tag: tagOf(other.details),
          ageMs: MINUTE_MS,
          lastAgeMs: MINUTE_MS,
          isSettled: false
        } as const
        assert.deepInclude((yield* world.store.begin(asking(other, { known }))).decision, {
          sticky: "provider_a"
        })
      })
    )

    it.effect("leaves the other calls of the same moment to their own keys", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const all = Array.from({ length: 8 }, () => mail())
        for (const one of all.slice(0, 2)) yield* told(one, "sent", yield* ago(HOUR_MS))
        const begun = yield* Effect.forEach(all, (one) => world.store.begin(asking(one)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          begun.map(({ evidence }) => evidence !== undefined),
          all.map((_, index) => index < 2)
        )
      })
    )
  })

  describe("an event", () => {
    it.effect("is not of an older use of its key, though that one is still deferred (S4, D1)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const older = mail()
        yield* world.store.record(attempt(older, "deferred"))
        yield* world.advance(IDEMPOTENCY_WINDOW_MS + MINUTE_MS)
        const ask = asking(older)
        const { decision } = yield* world.store.begin(ask)
        const keyTag = decision._tag === "Claimed" ? (decision.tag ?? null) : null
        assert.isNotNull(keyTag)
        assert.notStrictEqual(keyTag, tagOf(older.details))
        const today: Mail = { details: { ...older.details, keyTag } }
        const doubt = settling(ask, today, "ambiguous", "failed", "ambiguous")
        yield* world.store.record(attempt(today, "failed", { errorKind: "ambiguous", settle: doubt }))
        const messageId = fresh("m")
        yield* world.recordEvent(event(messageId, "delivered", { keyTag }))
        const rows = yield* rowsOf(today)
        assert.deepInclude(rows[0], { status: "deferred", providerMessageId: null })
        assert.deepInclude(
          rows.find(({ providerMessageId }) => providerMessageId === messageId),
          { status: "delivered", outcome: null, keyTag }
        )
        // The older use's own event finds it.
        const late = fresh("m")
        yield* world.recordEvent(event(late, "delivered", { keyTag: tagOf(older.details) }))
        assert.deepInclude((yield* rowsOf(older))[0], { status: "delivered", providerMessageId: late })
      })
    )
  })

  describe("a claim that has passed on (S3)", () => {
    it.effect("stays its holder's when a retry before it says how it ended", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        yield* world.store.record(attempt(one, "deferred"))
        const [slow, holder] = [retrying(one), retrying(one)]
        const ended = (ask: typeof slow) => {
          const settle = { owner: ask.owner, state: "deferred", ambiguous: true, result: undefined } as const
          return world.store.record(attempt(one, "deferred", { rowId: ask.rowId, settle }))
        }
        assert.strictEqual((yield* world.store.beginRetry(slow))._tag, "Go")
        yield* world.advance(LEASE_MS + 1)
        assert.strictEqual((yield* world.store.beginRetry(holder))._tag, "Go")
        yield* ended(slow)
        assert.strictEqual((yield* world.store.beginRetry(retrying(one)))._tag, "Busy")
        yield* ended(holder)
        assert.strictEqual((yield* world.store.beginRetry(retrying(one)))._tag, "Go")
      })
    )
  })
}
