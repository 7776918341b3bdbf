import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../../src/domain/mail/failover.ts"
import {
  asking,
  attempt,
  event,
  fresh,
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
