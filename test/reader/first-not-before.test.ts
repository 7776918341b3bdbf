import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { firstNotBefore } from "../../src/reader/model/lists.ts"

describe("the first item that is not before", () => {
  it("is where a look at each would find it, else the end", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 })),
        fc.integer({ min: 0, max: 10 }),
        (numbers, limit) => {
          const sorted = numbers.toSorted((a, b) => a - b)
          const found = sorted.findIndex((one) => one >= limit)
          expect(firstNotBefore(sorted, (one) => one < limit)).toBe(found === -1 ? sorted.length : found)
        }
      )
    )
  })
})
