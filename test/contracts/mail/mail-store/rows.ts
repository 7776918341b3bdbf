import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import type { LogRowId } from "../../../../src/domain/ids.ts"
import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  attempt,
  event,
  fresh,
  type Mail,
  mail,
  Mails,
  type MailTests,
  oneRow,
  retrying,
  rowId,
  rowsOf
} from "./mails.ts"

/** The rows of the log, whichever comes first: the call or the event. */
export const logRows = (it: MailTests): void => {
  describe("rows (L1)", () => {
    it.effect("hold what the library knows", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("hold why a send failed, and the same row recorded twice changes nothing", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("of 400 sends at once are each written, and answered to whom it belongs", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("that an event made first are completed, keep their id and are not set back (L2)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect(
      "of a deferral move with the event that proves acceptance, in both orders, to the same end (D1)",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const ends = []
          for (const eventFirst of [false, true]) {
            const one = mail()
            const messageId = fresh("m")
            const steps = [
              world.store.record(attempt(one, "deferred")),
              world.recordEvent(
                event(messageId, "delivered", {
                  keyTag: tagOf(one.details),
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
              keyTag: anyId(""),
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

    it.effect(
      "say how a deferral ended: by an acceptance before all, and not by rows of an earlier use (D1)",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const endOf = (one: Mail, row: { readonly rowId: LogRowId }) =>
            world.store.deferralEnd({ keyHash: one.details.keyHash, sendId: row.rowId })
          const one = mail()
          yield* world.store.record(attempt(one, "failed", { error: "of the day before" }))
          const first = attempt(one, "deferred")
          yield* world.store.record(first)
          yield* world.store.record(attempt(one, "deferred"))
          assert.strictEqual(yield* endOf(one, first), undefined)
          const last = attempt(one, "failed", { errorKind: "ambiguous", error: "gave up" })
          yield* world.store.record(last)
          assert.deepStrictEqual(yield* endOf(one, first), {
            sendId: last.rowId,
            outcome: "failed",
            provider: "provider_a",
            providerMessageId: null,
            failedOver: false,
            error: "gave up"
          })
          const messageId = fresh("m")
          yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
          yield* world.store.record(attempt(one, "suppressed"))
          assert.deepInclude(yield* endOf(one, first), { outcome: "sent", providerMessageId: messageId })

          const settled = mail()
          const deferral = attempt(settled, "deferred")
          yield* world.store.record(deferral)
          yield* world.recordEvent(event(messageId + "-2", "bounced", { keyTag: tagOf(settled.details) }))
          assert.deepInclude(yield* endOf(settled, deferral), {
            sendId: deferral.rowId,
            outcome: "sent",
            providerMessageId: messageId + "-2"
          })
        })
    )

    for (const outcome of ["sent", null] as const)
      it.effect(`of a deferral say that its use was accepted before it was written (${outcome}, D1)`, () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const one = mail()
          const providerMessageId = fresh("m")
          const deferral = attempt(one, "deferred")
          // Two calls that found no claim store, and the same tag.
          yield* outcome === "sent"
            ? world.store.record(attempt(one, "sent", { providerMessageId }))
            : world.recordEvent(event(providerMessageId, "opened", { keyTag: tagOf(one.details) }))
          if (outcome === null) yield* world.store.record(attempt(one, "deferred"))
          yield* world.store.record(deferral)
          const end = yield* world.store.deferralEnd({ keyHash: one.details.keyHash, sendId: deferral.rowId })
          assert.deepInclude(end, { outcome: "sent", providerMessageId })
        })
      )

    it.effect("say how a deferral ended whose own row was lost", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const last = attempt(one, "suppressed")
        yield* world.store.record(last)
        const end = yield* world.store.deferralEnd({ keyHash: one.details.keyHash, sendId: rowId() })
        assert.deepInclude(end, { sendId: last.rowId, outcome: "suppressed", error: "why" })
      })
    )

    it.effect("of a deferral that an event settles have their price, in both orders", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        for (const eventFirst of [false, true]) {
          const one = mail()
          const steps = [
            world.store.record(attempt(one, "deferred", { costUsd: 0.0004 })),
            world.recordEvent(event(fresh("m"), "delivered", { keyTag: tagOf(one.details) }))
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

    it.effect("of a deferral answer the proof that was there", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const messageId = fresh("m")
        yield* world.recordEvent(event(messageId, "sent", { keyTag: tagOf(one.details) }))
        const recorded = yield* world.store.record(attempt(one, "deferred"))
        assert.deepInclude(recorded, { status: "sent", providerMessageId: messageId })
      })
    )

    it.effect("of a retry are their own, where its event comes while it is under way, too (L1)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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
            world.recordEvent(event(messageId, "delivered", { keyTag: tagOf(one.details) }))
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

    it.effect("survive text that the database refuses", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail({ subject: "a\0b \ud800 c \ud83d\ude00", source: "api:\\u0000" })
        yield* world.store.record(attempt(one, "sent", { providerMessageId: fresh("m") }))
        const row = yield* oneRow(one)
        assert.match(row.subject ?? "", /^a.b . c \u{1f600}$/su)
        assert.strictEqual(row.source, "api:\\u0000")
      })
    )
  })
}
