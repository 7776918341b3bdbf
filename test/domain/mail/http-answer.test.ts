import fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { FailureKind } from "../../../src/domain/mail/failover.ts"
import { kindOfStatus } from "../../../src/domain/mail/http-answer.ts"

const kinds = fc.constantFrom<FailureKind>("rejected", "unavailable", "ambiguous")

describe("the status of an answer", () => {
  it("S3: is proof of nothing outside of 4xx, but for the provider's own 503", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 100, max: 399 }), fc.integer({ min: 500, max: 999 })),
        fc.boolean(),
        kinds,
        (status, isOwn503, kind) => {
          const found = kindOfStatus(status, { isOwn503, refusal: () => kind })
          assert.strictEqual(found, status === 503 && isOwn503 ? "unavailable" : "ambiguous")
        }
      )
    )
  })

  it("is what the provider's words say in 4xx, but for what concerns the caller, the rate or a gateway's patience", () => {
    const own = new Map<number, FailureKind>([
      [401, "unavailable"],
      [403, "unavailable"],
      [408, "ambiguous"],
      [425, "unavailable"],
      [429, "unavailable"]
    ])
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 499 }), fc.boolean(), kinds, (status, isOwn503, kind) => {
        const found = kindOfStatus(status, { isOwn503, refusal: () => kind })
        assert.strictEqual(found, own.get(status) ?? kind)
      })
    )
  })
})
