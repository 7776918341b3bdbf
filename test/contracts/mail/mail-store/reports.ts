import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { tagOf } from "../../../../src/domain/mail/deferred-send.ts"
import { anyId } from "../../../support/any-id.ts"
import { asking, attempt, event, fresh, type Mail, mail, Mails, type MailTests } from "./mails.ts"

const reported = ({ details }: Mail, messageId: string) => {
  const keyTag = tagOf(details)
  assert.isDefined(keyTag)
  return { messageId, keyTag: keyTag ?? anyId("") }
}

/** What a delivery report finds (RETURN-3, RETURN-5). */
export const reports = (it: MailTests): void => {
  describe("the mail of a delivery report", () => {
    it.effect("is the row of its Message-ID with this very tag; of the addresses, its recipients count", () =>
      Effect.gen(function* () {
        const { mailOfReport, store } = yield* Mails
        const one = mail({ others: ["cc@x.test"] })
        const [messageId, other] = [fresh("m"), fresh("m")]
        yield* store.record(attempt(one, "sent", { provider: "smtp", providerMessageId: messageId }))
        yield* store.record(attempt(mail(), "sent", { provider: "smtp", providerMessageId: other }))
        const [to = ""] = one.details.to
        const found = yield* mailOfReport(reported(one, messageId), [to, "cc@x.test", to, "stranger@x.test"])
        assert.deepStrictEqual(found?.recipients?.toSorted(), ["cc@x.test", to])
        assert.deepStrictEqual(yield* mailOfReport(reported(one, messageId), ["stranger@x.test"]), {
          recipients: []
        })
        // A sent row is found by its Message-ID alone, and the tag has to be its own.
        assert.isUndefined(yield* mailOfReport(reported(one, other), [to]))
        assert.isUndefined(yield* mailOfReport(reported(mail(), messageId), [to]))
      })
    )

    it.effect("is a deferred one whose answer was lost", () =>
      Effect.gen(function* () {
        const { mailOfReport, store } = yield* Mails
        const one = mail()
        yield* store.record(attempt(one, "deferred", { provider: "smtp" }))
        const found = yield* mailOfReport(reported(one, fresh("m")), one.details.to)
        assert.deepStrictEqual(found, { recipients: one.details.to })
      })
    )

    it.effect("is not written yet where there is a claim alone, or a row that an event made", () =>
      Effect.gen(function* () {
        const { mailOfReport, recordEvent, store } = yield* Mails
        const one = mail()
        const messageId = fresh("m")
        assert.isUndefined(yield* mailOfReport(reported(one, messageId), one.details.to))
        yield* store.begin(asking(one, { provider: "smtp" }))
        assert.deepStrictEqual(yield* mailOfReport(reported(one, messageId), one.details.to), {
          recipients: undefined
        })
        yield* recordEvent({ ...event(messageId, "sent", { keyTag: tagOf(one.details) }), provider: "smtp" })
        assert.deepStrictEqual(yield* mailOfReport(reported(one, messageId), one.details.to), {
          recipients: undefined
        })
      })
    )

    it.effect("keeps an erased person as a recipient, without bringing the address back (P3)", () =>
      Effect.gen(function* () {
        const { erase, mailOfReport, recordEvent, rows, store } = yield* Mails
        const one = mail()
        const messageId = fresh("m")
        const [to = ""] = one.details.to
        yield* store.record(attempt(one, "sent", { provider: "smtp", providerMessageId: messageId }))
        yield* erase(to)
        assert.deepStrictEqual(yield* mailOfReport(reported(one, messageId), [to]), { recipients: [to] })
        yield* recordEvent({
          ...event(messageId, "bounced", { keyTag: tagOf(one.details), recipients: [to], suppress: [to] }),
          provider: "smtp"
        })
        const row = (yield* rows).find(({ providerMessageId }) => providerMessageId === messageId)
        assert.strictEqual(row?.status, "bounced")
        assert.notInclude(JSON.stringify(row), JSON.stringify(to))
      })
    )
  })
}
