import { assert, it } from "@effect/vitest"
import fc from "fast-check"

import { makePooledBytes } from "../../../src/runtime/compose/node-crypto.ts"

it("random bytes that are drawn together are as many as asked, and handed out once", () =>
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.integer({ min: 16, max: 80 }), fc.integer({ min: 4_000, max: 4_200 })), {
        minLength: 100,
        maxLength: 400
      }),
      (sizes) => {
        const bytesOf = makePooledBytes()
        const drawn = sizes.map((size) => bytesOf(size))
        assert.deepStrictEqual(
          drawn.map(({ length }) => length),
          sizes
        )
        // Every eight bytes of every draw: a part that came twice, or a place that was never filled, is one of them.
        const parts = drawn.flatMap((bytes) => Buffer.from(bytes).toString("hex").match(/.{16}/g) ?? [])
        assert.strictEqual(new Set(parts).size, parts.length)
      }
    )
  ))
