import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import fc from "fast-check"

import type { SendDetails } from "../../../src/domain/mail/deferred-send.ts"
import {
  deferred,
  endedSince,
  failed,
  IdempotencyConflict,
  InvalidRequest,
  SendResult,
  SendStatus,
  sent,
  suppressed
} from "../../../src/domain/mail/send-result.ts"
import { anyId } from "../../support/any-id.ts"
import { refusal, result, waiting } from "./any-claim.ts"

const DETAILS: SendDetails = {
  category: "transactional",
  source: "api:test",
  from: "shop@x.test",
  to: ["ann@x.test"],
  others: [],
  subject: "Hello",
  idempotencyKey: anyId("k"),
  keyHash: anyId("hash")
}
const decode = Schema.decodeUnknownOption(SendResult)

describe("the result of a send", () => {
  it("S5: is ok of what was accepted or waits for a retry, and of nothing else", () => {
    for (const one of [result, waiting, refusal("failed"), refusal("suppressed")]) {
      assert.isTrue(Option.isSome(decode(one)), one.status)
      assert.isTrue(Option.isNone(decode({ ...one, ok: !one.ok })), one.status)
    }
    assert.isTrue(Option.isNone(decode({ ...result, status: "delivered" })))
    assert.deepStrictEqual(SendStatus.literals.toSorted(), ["deferred", "failed", "sent", "suppressed"])
  })

  it("S5: is made so for each way in which a send ends", () => {
    const send = { rowId: anyId("s"), details: DETAILS }
    const tried = { provider: "provider_a", failedOver: false } as const
    const made = [
      sent(send, tried, "m"),
      deferred(send, tried),
      suppressed(send, tried, "e"),
      failed(send, tried, "unavailable", "e")
    ]
    assert.deepStrictEqual(
      made.map(({ ok, status }) => [status, ok]),
      [
        ["sent", true],
        ["deferred", true],
        ["suppressed", false],
        ["failed", false]
      ]
    )
    for (const one of made) assert.isTrue(Option.isSome(decode(one)), one.status)
  })

  it("S2: of a deferral that ended without an acceptance is never certain, and of one with it names the copy", () => {
    const end = fc.record({
      sendId: fc.constant(anyId("row")),
      outcome: fc.constantFrom("sent" as const, "suppressed" as const, "failed" as const),
      provider: fc.constantFrom("provider_b" as const, null),
      providerMessageId: fc.constantFrom("m2", null),
      failedOver: fc.boolean(),
      error: fc.constantFrom("why", null)
    })
    fc.assert(
      fc.property(end, (given) => {
        const ended = endedSince(waiting, given)
        assert.deepInclude(ended, {
          sendId: given.sendId,
          failedOver: given.failedOver,
          provider: given.provider ?? "provider_a",
          idempotencyKey: waiting.idempotencyKey
        })
        if (given.outcome === "sent")
          return assert.deepInclude(ended, {
            ok: true,
            status: "sent",
            providerMessageId: given.providerMessageId
          })
        assert.deepInclude(ended, { ok: false, status: "failed", kind: "ambiguous", providerMessageId: null })
        if (ended.ok) return
        if (given.error === null) assert.isNotEmpty(ended.error)
        else assert.strictEqual(ended.error, given.error)
      })
    )
  })

  it("S7: names whom it left out, and nobody where it left out nobody", () => {
    const tried = { provider: "provider_a", failedOver: false } as const
    const of = (details: SendDetails) => sent({ rowId: anyId("s"), details }, tried, "m").suppressedRecipients
    assert.deepStrictEqual(of({ ...DETAILS, dropped: ["ann@x.test"] }), ["ann@x.test"])
    assert.deepStrictEqual(of(DETAILS), [])
  })

  it("says of a refused request each field with what is wrong of it", () => {
    const issues = [
      { path: "to", message: "is missing" },
      { path: "", message: "no body" }
    ]
    assert.strictEqual(new InvalidRequest({ issues }).message, "to: is missing; no body")
    assert.include(new IdempotencyConflict({ idempotencyKey: "k" }).message, "24 hours")
  })
})
