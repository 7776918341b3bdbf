import { assert, it } from "@effect/vitest"
import fc from "fast-check"

import {
  IDENTITY,
  mapBox,
  type Matrix,
  mapX,
  mapY,
  multiply,
  pageMatrix
} from "../../../../../src/reader/sources/pdf/content/geometry.ts"

const figure = fc.double({ min: -1_000, max: 1_000, noNaN: true })
const matrix = fc.record({ a: figure, b: figure, c: figure, d: figure, e: figure, f: figure })

it("a product maps as its factors do, one after the other", () => {
  fc.assert(
    fc.property(matrix, matrix, figure, figure, (inner: Matrix, outer: Matrix, x, y) => {
      const both = multiply(inner, outer)
      const [innerX, innerY] = [mapX(inner, x, y), mapY(inner, x, y)]
      // Products of up to 10^9 leave sums with that much of rounding.
      const near = (actual: number, expected: number) => assert.approximately(actual, expected, 1e-4)
      near(mapX(both, x, y), mapX(outer, innerX, innerY))
      near(mapY(both, x, y), mapY(outer, innerX, innerY))
      near(mapX(multiply(inner, IDENTITY), x, y), innerX)
    })
  )
})

it("a page fills its own frame from the top left corner, however it is turned", () => {
  fc.assert(
    fc.property(
      figure,
      figure,
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 0, max: 7 }),
      (x, y, width, height, rotation) => {
        const crop = { x0: x, y0: y, x1: x + width, y1: y + height }
        const shown = mapBox(pageMatrix(crop, rotation), crop.x0, crop.y0, crop.x1, crop.y1)
        const [across, down] = rotation % 2 === 0 ? [width, height] : [height, width]
        for (const [actual, expected] of [
          [shown.x0, 0],
          [shown.y0, 0],
          [shown.x1, across],
          [shown.y1, down]
        ] as const)
          assert.approximately(actual, expected, 1e-9)
      }
    )
  )
})

it("a box around a mapped box holds all its corners", () => {
  fc.assert(
    fc.property(matrix, figure, figure, figure, figure, (m: Matrix, x0, y0, x1, y1) => {
      const box = mapBox(m, x0, y0, x1, y1)
      for (const [x, y] of [
        [x0, y0],
        [x0, y1],
        [x1, y0],
        [x1, y1]
      ] as const) {
        assert.isTrue(mapX(m, x, y) >= box.x0 - 1e-6 && mapX(m, x, y) <= box.x1 + 1e-6)
        assert.isTrue(mapY(m, x, y) >= box.y0 - 1e-6 && mapY(m, x, y) <= box.y1 + 1e-6)
      }
    })
  )
})
