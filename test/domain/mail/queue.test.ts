import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { mayGoBack, QUEUE_ORDER, QueueState, refusedWaitMs } from "../../../src/domain/mail/queue.ts"
import { Category } from "../../../src/domain/mail/suppression/policy.ts"

const refused = {
  refusals: 1,
  ageMs: 0,
  maxAgeMs: 86_400_000,
  expiresInMs: undefined,
  retryAfterMs: undefined,
  random: 0.5
}
const BETWEEN_MS = 1_000

describe("the send queue", () => {
  it("QUEUE-4: has a place for each category, sign-in links first and marketing last", () => {
    assert.deepStrictEqual(QUEUE_ORDER, ["auth", "alert", "transactional", "notification", "marketing"])
    assert.deepStrictEqual(QUEUE_ORDER.toSorted(), Category.literals.toSorted())
  })

  it("knows a request that waits, is being sent or is withdrawn, and each result of a send", () => {
    const results = ["sent", "deferred", "suppressed", "failed"]
    assert.deepStrictEqual(
      QueueState.literals.toSorted(),
      [...results, "queued", "sending", "cancelled"].toSorted()
    )
  })

  it("QUEUE-10: a refused request waits 5 s, doubling to 15 min, a quarter more or less", () => {
    const waits = [1, 2, 3, 7, 8, 9, 1000].map((refusals) => refusedWaitMs({ ...refused, refusals }))
    assert.deepStrictEqual(waits, [5_000, 10_000, 20_000, 320_000, 640_000, 900_000, 900_000])
    assert.strictEqual(refusedWaitMs({ ...refused, random: 0 }), 3_750)
    assert.strictEqual(refusedWaitMs({ ...refused, random: 1 }), 6_250)
    assert.strictEqual(refusedWaitMs({ ...refused, refusals: 99, random: 1 }), 1_125_000)
  })

  it("QUEUE-10: as long as the provider says, but its last attempt begins within its age and before the mail expires", () => {
    const span = fc.integer({ min: -5_000, max: 100_000 })
    const maybe = fc.option(
      span.filter((each) => each >= 0),
      { nil: undefined }
    )
    fc.assert(
      fc.property(
        span,
        fc.option(span, { nil: undefined }),
        maybe,
        fc.nat(20),
        (left, expiresInMs, asked, times) => {
          const wait = refusedWaitMs({
            ...refused,
            refusals: times + 1,
            ageMs: refused.maxAgeMs - left,
            expiresInMs,
            retryAfterMs: asked
          })
          const until = expiresInMs === undefined ? left : Math.min(left, expiresInMs)
          if (until <= BETWEEN_MS) return assert.isUndefined(wait)
          const wished = asked ?? Math.min(900_000, 5_000 * 2 ** times)
          assert.strictEqual(wait, Math.min(wished, until - BETWEEN_MS))
        }
      )
    )
  })

  it("QUEUE-10: a request whose time is over to the second waits no more", () => {
    assert.isUndefined(refusedWaitMs({ ...refused, maxAgeMs: BETWEEN_MS }))
    assert.strictEqual(refusedWaitMs({ ...refused, maxAgeMs: BETWEEN_MS + 1 }), 1)
  })

  it("QUEUE-10: goes back on proof for its whole key alone", () => {
    for (const status of ["sent", "deferred", "suppressed", "failed"] as const)
      for (const kind of ["unavailable", "rejected", "ambiguous", null] as const)
        for (const isFree of [true, false])
          assert.strictEqual(
            mayGoBack(status, kind, isFree),
            isFree && status === "failed" && kind === "unavailable",
            `${status} ${kind} ${isFree}`
          )
  })
})
