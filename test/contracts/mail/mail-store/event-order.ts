import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import { anyId } from "../../../support/any-id.ts"
import { attempt, event, fresh, type Mail, mail, Mails, type MailTests, oneRow } from "./mails.ts"

/** Events before their rows, from two sources, and as proof of a send. */
export const eventOrder = (it: MailTests): void => {
  describe("an event that comes before its row", () => {
    const early = (one: Mail, messageId: string, kind: string) =>
      event(messageId, kind, {
        bounceType: "Permanent",
        keyTag: tagOf(one.details),
        // What a webhook names: the To recipients alone.
        recipients: [...one.details.to]
      })

    it.effect("suppresses nobody until the row names all recipients, and only a single one (P1)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

    it.effect("suppresses whom it names, at once", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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
    const accounts = {
      bounced: { reason: "Permanent/General: no such user", bounceType: "Permanent", status: "bounced" },
      bounce_transient: { reason: "Transient/MailboxFull: 452", status: "sent" }
    } as const
    it.effect.each(["bounced", "bounce_transient"] as const)(
      "end in the richest account of a %s, whichever comes first (L3)",
      (kind) =>
        Effect.gen(function* () {
          const world = yield* Mails
          const { status, ...account } = accounts[kind]
          const ends = []
          for (const pollFirst of [true, false]) {
            const one = mail()
            const messageId = fresh("m")
            yield* world.store.record(attempt(one, "sent", { providerMessageId: messageId }))
            const pushed = event(messageId, kind, {
              ...account,
              occurredAt: 1_700_000_000_000,
              raw: { type: `email.${kind}` }
            })
            // The provider's list names no reason.
            const listed = event(messageId, kind, {
              occurredAt: 1_700_000_600_000,
              raw: { last_event: kind },
              listed: true
            })
            const steps = [world.recordEvent(listed), world.recordEvent(pushed), world.recordEvent(listed)]
            yield* Effect.all(pollFirst ? steps.slice(0, 2) : steps.slice(1))
            const { error, lastEvent, lastEventAt, raw, status: ended } = yield* oneRow(one)
            ends.push({ error, lastEvent, lastEventAt, raw, status: ended })
          }
          assert.deepStrictEqual(ends[1], ends[0])
          assert.deepStrictEqual(ends[0], {
            error: account.reason,
            lastEvent: kind,
            lastEventAt: 1_700_000_000_000,
            raw: { type: `email.${kind}` },
            status
          })
        })
    )
  })

  describe("evidence", () => {
    it.effect("is the newest message id of that use of the key, with or without a row (EVENT-13)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const keyTag = tagOf(one.details)
        const ask = { keyHash: one.details.keyHash, tag: keyTag, ageMs: 0 }
        assert.isUndefined(yield* world.store.findEvidence(ask))
        const [first, second] = [fresh("m"), fresh("m")]
        yield* world.recordEvent(event(first, "sent", { keyTag }))
        assert.deepStrictEqual(yield* world.store.findEvidence(ask), {
          provider: "provider_a",
          providerMessageId: first
        })
        yield* world.recordEvent(event(second, "sent", { keyTag }))
        assert.deepInclude(yield* world.store.findEvidence(ask), { providerMessageId: second })
        const otherUse = { ...ask, tag: anyId(fresh("tag")) }
        assert.isUndefined(yield* world.store.findEvidence(otherUse))
      })
    )
  })
}
