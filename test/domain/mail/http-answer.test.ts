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
      ),
      {
        examples: [
          [503, false, "rejected"],
          [503, true, "rejected"],
          [399, false, "rejected"],
          [500, false, "rejected"]
        ]
      }
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
    for (let status = 400; status < 500; status++)
      for (const kind of ["rejected", "unavailable", "ambiguous"] as const)
        for (const isOwn503 of [true, false])
          assert.strictEqual(
            kindOfStatus(status, { isOwn503, refusal: () => kind }),
            own.get(status) ?? kind,
            `${status} ${kind}`
          )
  })
})
