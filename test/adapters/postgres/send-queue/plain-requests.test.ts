import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { QUEUE_ORDER } from "../../../../src/domain/mail/queue.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const USUAL = {
  to: "Ann <ann@x.test>",
  from: "shop@x.test",
  subject: "Your order",
  text: "t",
  category: "transactional",
  source: "api:test",
  idempotencyKey: "order-1"
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    [],
    {},
    1,
    true,
    "",
    " ",
    "\n",
    "a\r",
    "x",
    " x",
    "ann@x.test",
    "ann@",
    "a@b, c@d"
  ),
  fc.constantFrom("k".repeat(255), "k".repeat(256), "k".repeat(257), "k".repeat(200), "k".repeat(201)),
  fc.string({ unit: "grapheme" })
)

const FIELDS = [
  ...Object.keys(USUAL),
  "html",
  "cc",
  "replyTo",
  "tags",
  "headers",
  "sendAt",
  "list",
  "unknown",
  "__proto__"
]

/** A usual request in which some fields are odd or absent. */
const requests = fc
  .tuple(
    fc.uniqueArray(fc.tuple(fc.constantFrom(...FIELDS), odd), { maxLength: 3, selector: ([name]) => name }),
    fc.subarray(Object.keys(USUAL), { maxLength: 2 })
  )
  .map(([changes, absent]) =>
    Object.fromEntries([
      ...Object.entries(USUAL).filter(([name]) => !absent.includes(name)),
      ...changes.map(([name, value]) => [name, value] as const)
    ])
  )

layer(layerPostgres)("requests of the usual kind", (it) => {
  const plainOnes = (all: ReadonlyArray<object>) =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      return yield* sql<{ readonly request: object; readonly fault: string | null }>`
        select x as request, queued_request_fault(x) as fault
        from jsonb_array_elements(${JSON.stringify(all)}::text::jsonb) as x where is_plain_request(x)`
    })

  it.effect("are those of each category, with and without a key", () =>
    Effect.gen(function* () {
      const { idempotencyKey: _, ...without } = USUAL
      const all = [...QUEUE_ORDER.map((category) => ({ ...USUAL, category })), without]
      assert.lengthOf(yield* plainOnes(all), all.length)
    })
  )

  it.effect("have no fault by the full check (QUEUE-1)", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<WriteSql>()
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 100 }), async (all) => {
            const plain = await Effect.runPromiseWith(context)(
              plainOnes(all.map((one) => JSON.parse(JSON.stringify(one).replaceAll("\\u0000", ""))))
            )
            assert.deepStrictEqual(
              plain.filter(({ fault }) => fault !== null),
              []
            )
          }),
          { numRuns: 50 }
        )
      )
    })
  )
})
