import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { retryAfterMs } from "../../../src/domain/mail/retry-after.ts"

const DATE = "Mon, 30 Nov 2026 10:00:00 GMT"

describe("what a provider asks for", () => {
  it("is seconds, or a date that counts from the answer's own", () => {
    fc.assert(
      fc.property(fc.nat(86_400), fc.integer({ min: 0, max: 4e9 }), (seconds, at) => {
        const answered = new Date(at * 1000).toUTCString()
        assert.strictEqual(retryAfterMs(String(seconds), answered), seconds * 1000)
        const date = new Date((at + seconds) * 1000).toUTCString()
        assert.strictEqual(retryAfterMs(date, answered), seconds * 1000)
        assert.strictEqual(retryAfterMs(answered, date), 0, "a date that is over")
      })
    )
    assert.strictEqual(retryAfterMs(" 1.5 ", undefined), 1_500)
    assert.strictEqual(retryAfterMs("Monday, 30-Nov-26 10:00:07 GMT", DATE), 7_000)
    assert.strictEqual(retryAfterMs("Mon Nov 30 10:00:07 2026 GMT", DATE), 7_000)
  })

  it("is a day at most, and nothing where it is neither, or no date stands beside it", () => {
    assert.strictEqual(retryAfterMs("999999999", DATE), 86_400_000)
    assert.strictEqual(retryAfterMs("Mon, 30 Nov 2099 10:00:00 GMT", DATE), 86_400_000)
    for (const none of [undefined, null, 7, "", "soon", "-1", "1e9", "99999999999", "2026-11-30", "Mon, x"])
      assert.isUndefined(retryAfterMs(none, DATE), String(none))
    for (const date of [undefined, null, "", "2026-11-30", "Tue, x"])
      assert.isUndefined(retryAfterMs(DATE, date), String(date))
  })

  it("never throws, and is never negative", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (value, date) => {
        const wait = retryAfterMs(value, date)
        assert.isTrue(wait === undefined || wait >= 0)
      })
    )
  })
})
