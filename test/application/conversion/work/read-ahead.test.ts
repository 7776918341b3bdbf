import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"

import { makeReadAhead } from "../../../../src/application/conversion/work/read-ahead.ts"

describe("reading ahead", () => {
  it("keeps no more than it may, and gives every page all the same", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 0, max: 40 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        async (sizes, batch, maxKept, asked) => {
          const pageOf = (index: number) => ({ index, size: sizes[index] ?? 0 })
          const indexes = sizes.map((_, index) => index)
          await Effect.runPromise(
            Effect.scoped(
              Effect.gen(function* () {
                const pages = yield* makeReadAhead({
                  range: { first: 0, end: sizes.length },
                  read: ({ end, first }) =>
                    Stream.fromIterable(indexes.slice(first, end).map(pageOf)).pipe(Stream.rechunk(batch)),
                  alone: (index) => Effect.succeed(pageOf(index)),
                  sizeOf: ({ size }) => size,
                  maxKept
                })
                for (const index of [...indexes, ...asked.map((n) => n % sizes.length)]) {
                  assert.deepStrictEqual(yield* pages.of(index), pageOf(index))
                  const kept = indexes.flatMap((one) => pages.kept(one) ?? [])
                  const held = kept.reduce((sum, { size }) => sum + size, 0)
                  // One page is kept in any case, however large.
                  assert.isTrue(held <= maxKept || kept.length === 1, `${held} of ${maxKept}`)
                }
              })
            )
          )
        }
      ),
      { numRuns: 100 }
    ))
})
