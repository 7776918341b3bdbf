import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import { attempt, event, fresh, type Mail, mail, Mails, type MailTests, oneRow } from "./mails.ts"

/** What an event changes: status, suppressions, alerts. */
export const events = (it: MailTests): void => {
  describe("events", () => {
    it.effect("of mail that was sent outside the library make a row of category unknown (MAIL-7)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const messageId = fresh("m")
        const recorded = yield* world.recordEvent(event(messageId, "scheduled", { recipients: ["o@x.test"] }))
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

    it.effect(
      "move status forward only, never out of a terminal one; the last event is the latest (L2, EVENT-11)",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
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

    it.effect("that come again change nothing, a lifted suppression included (L3)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("alert once under 32 at once, and again after the claim was released (A1)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("answer what kind of mail they are about: the row's words, else the event's own", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail({ category: "marketing", source: "api:promo" })
        const messageId = fresh("m")
        yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
        const known = yield* world.recordEvent(event(messageId, "bounced", { category: "alert" }))
        assert.deepInclude(known, { alert: true, category: "marketing", source: "api:promo" })
        const other = yield* world.recordEvent(event(fresh("m"), "bounced", { category: "alert" }))
        assert.deepInclude(other, { alert: true, category: "alert", source: undefined })
      })
    )

    it.effect("of outreach never alert, and backfill keeps the claim (A1, EVENT-24)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("suppress a single recipient, a named one, and nobody else (P1)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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
        const known = new Set([single, several, transient, named, poll].flatMap(({ details }) => details.to))
        known.add("not-this-one@x.test")
        const found = (yield* world.suppressions).filter(({ email }) => known.has(email))
        assert.sameDeepMembers(found, [
          { email: single.details.to[0]!, reason: "hard_bounce" },
          { email: named.details.to[1]!, reason: "hard_bounce" },
          { email: poll.details.to[0]!, reason: "complaint" }
        ])
      })
    )

    it.effect(
      "that named no recipient suppress once the row says who it is, and only a single one (L1, P1)",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
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

    it.effect("suppress nobody where the attempt that was accepted may have had another recipient (P1)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const bcc = `${fresh("bcc")}@x.test`
        const both = mail({ others: [bcc] })
        const dropped: Mail = { details: { ...both.details, others: [], dropped: [bcc] } }
        // The second try left one out; then it was run again, with both, and accepted.
        const again = attempt(dropped, "deferred")
        yield* world.store.record(again)
        const messageId = fresh("m")
        yield* world.store.record(attempt(both, "sent", { rowId: again.rowId, providerMessageId: messageId }))
        const row = yield* oneRow(both)
        assert.deepInclude(row, {
          to: both.details.to,
          others: [bcc],
          dropped: [],
          recipientCount: 2,
          outcome: "sent"
        })
        yield* world.recordEvent(event(messageId, "complained"))
        // An event that comes before the acceptance is recorded moves the newest try, which had one recipient.
        const early = mail({ others: [bcc] })
        const short: Mail = { details: { ...early.details, others: [], dropped: [bcc] } }
        yield* world.store.record(attempt(early, "deferred"))
        yield* world.store.record(attempt(short, "deferred"))
        yield* world.recordEvent(event(fresh("m"), "complained", { keyTag: tagOf(early.details) }))
        const alone = mail()
        yield* world.store.record(attempt(alone, "deferred"))
        yield* world.recordEvent(event(fresh("m"), "complained", { keyTag: tagOf(alone.details) }))
        const found = yield* world.suppressions
        for (const one of [both, early])
          assert.notDeepInclude(found, { email: one.details.to[0]!, reason: "complaint" })
        assert.deepInclude(found, { email: alone.details.to[0]!, reason: "complaint" })
      })
    )

    it.effect(
      "EVENT-16: a temporary bounce is the error of what was not delivered, and moves and alerts nothing",
      () =>
        Effect.gen(function* () {
          const world = yield* Mails
          const reason = "Transient/MailboxFull: 452"
          const ended = Effect.fnUntraced(function* (
            to: ReadonlyArray<string>,
            ...kinds: ReadonlyArray<string>
          ) {
            const one = mail({ to })
            const messageId = fresh("m")
            yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
            for (const [at, kind] of kinds.entries()) {
              const more = {
                occurredAt: 1_700_000_000_000 + at,
                ...(kind === "bounce_transient" ? { reason } : {})
              }
              const recorded = yield* world.recordEvent(event(messageId, kind, more))
              assert.isFalse(recorded.alert && kind === "bounce_transient")
            }
            const { alertedAt, error, status, suppressionMarks } = yield* oneRow(one)
            return { alertedAt, error, status, suppressionMarks }
          })
          const calm = { alertedAt: null, suppressionMarks: [] }
          const one = [`${fresh("one")}@x.test`]
          const two = [...one, `${fresh("two")}@x.test`]
          assert.deepStrictEqual(yield* ended(one, "bounce_transient"), {
            ...calm,
            status: "sent",
            error: reason
          })
          assert.deepStrictEqual(yield* ended(one, "delivery_delayed", "bounce_transient"), {
            ...calm,
            status: "delivery_delayed",
            error: reason
          })
          // A Delivery came before, or is heard of later: an automatic reply.
          for (const kinds of [
            ["delivered", "bounce_transient"],
            ["bounce_transient", "delivered"]
          ])
            assert.deepStrictEqual(yield* ended(one, ...kinds), { ...calm, status: "delivered", error: null })
          // One of two got it.
          for (const kinds of [
            ["delivered", "bounce_transient"],
            ["bounce_transient", "delivered"]
          ])
            assert.deepStrictEqual(yield* ended(two, ...kinds), {
              ...calm,
              status: "delivered",
              error: reason
            })
          const failed = yield* ended(one, "bounce_transient", "bounced")
          assert.deepInclude(failed, { status: "bounced", error: null })
          assert.isNotNull(failed.alertedAt)
        })
    )

    it.effect("leave an erased recipient erased where its retry comes again (MAIL-60)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const first = attempt(one, "deferred")
        yield* world.store.record(first)
        yield* world.erase(one.details.to[0]!)
        yield* world.store.record(attempt(one, "sent", { rowId: first.rowId, providerMessageId: fresh("m") }))
        const { outcome, to } = yield* oneRow(one)
        assert.strictEqual(outcome, "sent")
        assert.match(to[0] ?? "", /^erased:/)
      })
    )
  })
}
