import { assert, it } from "@effect/vitest"
import fc from "fast-check"

import { encodePng, type Pixels, shrink } from "../../../../../src/reader/sources/pdf/content/png.ts"
import { decodePng } from "../../../../support/files/decode-png.ts"

const pixels = fc
  .tuple(
    fc.integer({ min: 1, max: 20 }),
    fc.integer({ min: 1, max: 20 }),
    fc.constantFrom(1 as const, 3 as const)
  )
  .chain(([width, height, channels]) =>
    fc
      .uint8Array({ minLength: width * height * channels, maxLength: width * height * channels })
      .map((data): Pixels => ({ width, height, channels, data }))
  )

it("what goes into a PNG comes out of it", () => {
  fc.assert(fc.property(pixels, (picture) => assert.deepStrictEqual(decodePng(encodePng(picture)), picture)))
})

it("a picture made smaller keeps to the limit and to its range of colours", () => {
  fc.assert(
    fc.property(pixels, fc.integer({ min: 20, max: 400 }), (picture, limit) => {
      const small = shrink(picture, limit)
      assert.isAtMost(small.width * small.height, limit)
      assert.strictEqual(small.data.length, small.width * small.height * small.channels)
      assert.isAtLeast(Math.min(...small.data), Math.min(...picture.data))
      assert.isAtMost(Math.max(...small.data), Math.max(...picture.data))
    })
  )
})
