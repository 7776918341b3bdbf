import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { anyId } from "../../../support/any-id.ts"
import { asking, attempt, mail, Mails, type MailTests, retrying, settling } from "./mails.ts"

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

  describe("an erased person", () => {
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
        const retried = yield* world.store.beginRetry(retrying(one))
        const answers = [
          (yield* world.store.begin({ keyHash: anyId("k"), addresses: [email], claim: undefined }))
            .suppressions,
          (yield* world.store.begin({ ...asking(mail()), addresses: [email] })).suppressions,
          (yield* world.store.begin(asking(one))).suppressions,
          retried._tag === "Go" ? retried.suppressions : []
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
