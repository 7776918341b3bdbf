import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import type { Attempt } from "../../../../src/domain/mail/logged-attempt.ts"
import { attempt, event, fresh, mail, Mails, type MailTests, oneRow } from "./mails.ts"

/** The attempts that the log keeps with a row. */
export const keptAttempts = (it: MailTests): void => {
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
    it.effect("are written with their rows, several in one call, and once each", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("a row keeps the span of its send, also where an event had made it", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const [plain, early, untraced] = [mail({ traceparent: "one" }), mail({ traceparent: "two" }), mail()]
        const messageId = fresh("m")
        yield* world.recordEvent(event(messageId, "delivered", { keyTag: tagOf(early.details) }))
        yield* world.store.record(attempt(plain, "sent", { providerMessageId: fresh("m") }))
        yield* world.store.record(attempt(early, "sent", { providerMessageId: messageId }))
        yield* world.store.record(attempt(untraced, "sent", { providerMessageId: fresh("m") }))
        const rows = yield* Effect.forEach([plain, early, untraced], oneRow)
        assert.deepStrictEqual(
          rows.map(({ traceparent }) => traceparent),
          ["one", "two", null]
        )
      })
    )

    it.effect("go to the row that an event had made", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const messageId = fresh("m")
        yield* world.recordEvent(event(messageId, "delivered", { keyTag: tagOf(one.details) }))
        const entry = attempt(one, "sent", { providerMessageId: messageId, attempts: [accepted] })
        yield* world.store.record(entry)
        const row = yield* oneRow(one)
        assert.notStrictEqual(row.id, entry.rowId)
        assert.deepStrictEqual(row.attempts, [accepted])
      })
    )

    it.effect("of a retry that came back are added to those of its row", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const entry = attempt(one, "deferred", { attempts: [lost] })
        yield* world.store.record(entry)
        const again = attempt(one, "sent", { providerMessageId: fresh("m"), attempts: [accepted] })
        yield* Effect.replicateEffect(world.store.record({ ...again, rowId: entry.rowId }), 2)
        assert.deepStrictEqual((yield* oneRow(one)).attempts, [lost, accepted])
      })
    )
  })
}
