import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import type { SendDetails } from "../../../../src/domain/mail/deferred-send.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  asking,
  attempt,
  event,
  fresh,
  mail,
  Mails,
  type MailTests,
  oneRow,
  resultOf,
  retrying,
  rowsOf,
  settling
} from "./mails.ts"

/** What every beginning learns of the addresses: who is suppressed, and who was erased. */
export const suppressions = (it: MailTests): void => {
  describe("begin without a claim", () => {
    it.effect("answers the suppressions of the addresses and nothing else", () =>
      Effect.gen(function* () {
        const world = yield* Mails
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

  describe("who unsubscribed", () => {
    it.effect("is named on every path: without a claim, a new one, an old one, a retry (MAIL-65)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail({ category: "marketing" })
        const email = one.details.to[0]!
        const ask = asking(one)
        yield* world.store.begin(ask)
        yield* world.store.record(attempt(one, "failed", { settle: settling(ask, one, "refused", "failed") }))
        yield* world.unsubscribe(email)
        const answers = Effect.gen(function* () {
          const retried = yield* world.store.beginRetry(retrying(mail({ to: [email] })))
          return [
            (yield* world.store.begin({ keyHash: anyId("k"), addresses: [email], claim: undefined }))
              .suppressions,
            (yield* world.store.begin({ ...asking(mail()), addresses: [email] })).suppressions,
            (yield* world.store.begin(asking(one))).suppressions,
            retried._tag === "Go" ? retried.suppressions : []
          ]
        })
        for (const found of yield* answers)
          assert.deepStrictEqual([...found], [{ email, reason: "unsubscribed" }])
      })
    )
  })

  describe("who left a list", () => {
    it.effect("is named with the list on every path, also after being erased (MAIL-67, P3)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const email = mail().details.to[0]!
        yield* world.leaveList(email, "weekly")
        yield* world.leaveList(email, "offers")
        const answers = Effect.gen(function* () {
          const retried = yield* world.store.beginRetry(retrying(mail({ to: [email] })))
          return [
            (yield* world.store.begin({ keyHash: anyId("k"), addresses: [email], claim: undefined }))
              .suppressions,
            (yield* world.store.begin({ ...asking(mail()), addresses: [email] })).suppressions,
            retried._tag === "Go" ? retried.suppressions : []
          ]
        })
        const left = ["weekly", "offers"].map((list) => ({ email, reason: "unsubscribed" as const, list }))
        for (const found of yield* answers) assert.sameDeepMembers([...found], left)
        yield* world.erase(email)
        const [found] = yield* answers
        assert.sameDeepMembers([...found!], left)
      })
    )
  })

  describe("an erased person", () => {
    const leaksOf = (text: string, email: string) => text.split(email).length - 1
    /** All that the store keeps of the mails, as one text; in memory a name is kept beside the mark that it is erased. */
    const kept = Effect.fnUntraced(function* (keyHash: string) {
      const world = yield* Mails
      const rows = (yield* world.rows).filter((row) => row.keyHash === keyHash)
      return { rows, text: JSON.stringify(rows).replaceAll(/erased:[^"]+/g, "erased") }
    })

    it.effect("is named to a retry of mail that was asked for before, whose row names nobody (MAIL-66)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail({ others: [`${fresh("cc")}@x.test`] })
        const [email, cc] = [one.details.to[0]!, one.details.others[0]!]
        const tried = {
          provider: "provider_a",
          outcome: "ambiguous",
          code: null,
          startedAt: 1,
          durationMs: 1
        } as const
        const attempts = [{ ...tried, reason: `550 ${email} is away` }]
        yield* world.store.record(attempt(one, "deferred", { attempts }))
        yield* world.erase(email)
        const asked = retrying(one)
        const began = yield* world.store.beginRetry({ ...asked, addresses: [email, cc] })
        assert.deepInclude(began, { _tag: "Go", suppressions: [{ email, reason: "erased" }] })
        const { owner, rowId } = asked
        const settle = {
          owner,
          state: "deferred",
          ambiguous: true,
          result: undefined,
          isRetry: true
        } as const
        yield* world.store.record(
          attempt(one, "failed", {
            rowId,
            attempts,
            error: `550 ${email} is away`,
            errorKind: "ambiguous",
            settle
          })
        )
        const { rows, text } = yield* kept(one.details.keyHash)
        assert.lengthOf(rows, 2)
        for (const row of rows) {
          assert.match(row.to[0]!, /^erased:/)
          assert.deepStrictEqual([row.others, row.subject], [[cc], null])
          assert.deepStrictEqual(
            row.attempts.map(({ reason }) => reason),
            [null]
          )
        }
        assert.strictEqual(rows[1]!.error, "the person was erased")
        assert.strictEqual(leaksOf(text, email), 0)
      })
    )

    it.effect("is not named to a retry of mail that was asked for afterwards", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        yield* world.store.record(attempt(one, "sent", { providerMessageId: fresh("m") }))
        yield* world.erase(one.details.to[0]!)
        const again = mail({ to: one.details.to })
        yield* world.store.record(attempt(again, "deferred"))
        const began = yield* world.store.beginRetry(retrying(again))
        assert.deepInclude(began, { _tag: "Go", suppressions: [] })
      })
    )

    it.effect("comes back neither by an error, nor by what events, alerts and kept answers say (P3)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const other = `${fresh("other")}@x.test`
        const one = mail({ to: [`${fresh("to")}@x.test`, other] })
        const email = one.details.to[0]!
        const ask = asking(one)
        yield* world.store.begin(ask)
        const settle = settling(ask, one, "accepted", "sent")
        const result = { ...resultOf("sent", one.details.idempotencyKey), suppressedRecipients: [email] }
        const message = fresh("m")
        yield* world.store.record(
          attempt(one, "sent", { providerMessageId: message, settle: { ...settle, result } })
        )
        const bounce = (address: string) =>
          event(message, "bounced", {
            bounceType: "Permanent",
            recipients: [address],
            suppress: [address],
            subject: `Dear ${email}`,
            reason: `550 ${email}`,
            raw: { to: email }
          })
        yield* world.recordEvent(bounce(other))
        yield* world.erase(email)
        yield* world.recordEvent({ ...bounce(email), occurredAt: Date.now() + 60_000 })
        const { rows, text } = yield* kept(one.details.keyHash)
        assert.strictEqual(rows[0]?.status, "bounced")
        assert.strictEqual(leaksOf(text, email), 0)
        assert.notInclude(JSON.stringify(yield* world.suppressions), email)
        const { suppressions: blocked } = yield* world.store.begin({
          keyHash: anyId("k"),
          addresses: [email],
          claim: undefined
        })
        assert.deepStrictEqual([...blocked], [{ email, reason: "hard_bounce" }])
        yield* world.advance(600_000)
        assert.notInclude(JSON.stringify(yield* world.claimDueAlert), email)
        const { decision } = yield* world.store.begin(asking(one))
        assert.strictEqual(decision._tag, "Replay")
        assert.strictEqual(leaksOf(JSON.stringify(decision).replaceAll(/erased:[^"]+/g, "erased"), email), 0)
      })
    )

    it.effect("takes keys and subjects that name the person along, and no other ones (P3)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const email = `${fresh("an_n")}@x.test`
        const named = anyId(`${fresh("welcome")}/${email.toUpperCase()}`)
        const logged = (details: Partial<SendDetails>) =>
          Effect.gen(function* () {
            const one = mail(details)
            yield* world.store.record(attempt(one, "sent", { providerMessageId: fresh("m") }))
            return one
          })
        const all = [
          yield* logged({ to: [email], idempotencyKey: named }),
          yield* logged({ to: [email] }),
          // Mail to others that is about the person, and mail that is not.
          yield* logged({ subject: `Bounced: <${email.toUpperCase()}>` }),
          yield* logged({ subject: "Bounced: somebody" }),
          yield* logged({ subject: `About ${email.replace("_", "1")}` })
        ] as const
        yield* world.erase(email)
        const rows = yield* Effect.forEach(all, oneRow)
        assert.deepStrictEqual(
          rows.map(({ idempotencyKey, subject }) => [idempotencyKey, subject]),
          [
            [null, null],
            [all[1].details.idempotencyKey, null],
            [all[2].details.idempotencyKey, null],
            [all[3].details.idempotencyKey, all[3].details.subject],
            [all[4].details.idempotencyKey, all[4].details.subject]
          ]
        )
        // Under the key the send is known all the same.
        assert.strictEqual((yield* world.store.begin(asking(all[0]))).evidence?.provider, "provider_a")
      })
    )

    it.effect("is not named by the key of a retry that ends after it (P3, MAIL-66)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const email = `${fresh("ann")}@x.test`
        const one = mail({
          to: [email, "other@x.test"],
          idempotencyKey: anyId(`${fresh("welcome")}/${email}`)
        })
        yield* world.store.record(attempt(one, "deferred"))
        const retry = retrying(one)
        assert.strictEqual((yield* world.store.beginRetry(retry))._tag, "Go")
        yield* world.erase(email)
        const settle = {
          owner: retry.owner,
          state: "accepted",
          ambiguous: true,
          result: resultOf("sent", one.details.idempotencyKey),
          isRetry: true
        } as const
        yield* world.store.record(
          attempt(one, "sent", { rowId: retry.rowId, providerMessageId: fresh("m"), settle })
        )
        assert.deepStrictEqual(
          (yield* rowsOf(one)).map(({ idempotencyKey }) => idempotencyKey),
          [null, null]
        )
      })
    )

    it.effect("takes no alert about somebody else with it whose mail left out the person (A1)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const leftOut = `${fresh("out")}@x.test`
        const message = fresh("m")
        const one = mail({ dropped: [leftOut] })
        yield* world.store.record(attempt(one, "sent", { providerMessageId: message }))
        yield* world.erase(one.details.to[0]!)
        const { alert, sendId } = yield* world.recordEvent(event(message, "bounced"))
        assert.isTrue(alert)
        yield* world.erase(leftOut)
        yield* world.advance(600_000)
        const due: Array<unknown> = []
        for (;;) {
          const next = yield* world.claimDueAlert
          if (next === undefined) break
          due.push(next)
        }
        assert.include(JSON.stringify(due), sendId)
      })
    )

    it.effect("is blocked on every path: without a claim, a new one, an old one, a retry (P3, S7)", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const email = one.details.to[0]!
        const ask = asking(one)
        yield* world.store.begin(ask)
        yield* world.store.record(attempt(one, "failed", { settle: settling(ask, one, "refused", "failed") }))
        yield* world.suppress({ email, reason: "complaint" })
        yield* world.suppress({ email, reason: "hard_bounce" })
        yield* world.erase(email)
        assert.notDeepInclude(yield* world.suppressions, { email, reason: "complaint" })
        const two = mail({ to: [email] })
        const retried = yield* world.store.beginRetry(retrying(two))
        const answers = [
          (yield* world.store.begin({ keyHash: anyId("k"), addresses: [email], claim: undefined }))
            .suppressions,
          (yield* world.store.begin({ ...asking(mail()), addresses: [email] })).suppressions,
          (yield* world.store.begin(asking(one))).suppressions,
          retried._tag === "Go" ? retried.suppressions.filter(({ reason }) => reason !== "erased") : []
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
}
