import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"

import * as Allowances from "../../../../src/adapters/postgres/accounts/shared-allowances.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { keepHouse } from "../../../../src/adapters/postgres/housekeeping.ts"
import { SharedAllowances } from "../../../../src/ports/shared-allowances.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const shared = Effect.map(SharedAllowances, (one) => one!)

/** Time passes for every key. */
const pass = (seconds: number) =>
  WriteSql.use((sql) => sql`update allowances set free_at = free_at - ${seconds} * interval '1 second'`)

suiteLayer(Layer.provideMerge(Allowances.layer, layerPostgres))("allowances on PostgreSQL", (it) => {
  it.effect("of many processes at once as many take as there is, whether or not the key is known", () =>
    Effect.gen(function* () {
      const { take } = yield* shared
      const allowance = { key: "race", limit: 7, window: "1 hour" } as const
      for (let round = 0; round < 2; round++) {
        const waits = yield* Effect.forEach(Array.from({ length: 40 }), () => take(allowance), {
          concurrency: "unbounded"
        })
        assert.lengthOf(
          waits.filter((wait) => wait === undefined),
          round === 0 ? 7 : 0
        )
      }
    })
  )

  it.effect("is used up, says when there will be enough, refills evenly; each key has its own", () =>
    Effect.gen(function* () {
      const { take } = yield* shared
      const of = (key: string, amount?: number) =>
        take({ key, limit: 3, window: "1 minute", ...(amount === undefined ? {} : { amount }) })
      for (let n = 0; n < 3; n++) assert.isUndefined(yield* of("a"))
      const wait = Duration.toSeconds((yield* of("a"))!)
      assert.isTrue(wait > 15 && wait <= 20, `${wait}`)
      assert.isUndefined(yield* of("b"))
      yield* pass(20)
      assert.isUndefined(yield* of("a"))
      assert.isDefined(yield* of("a"))
      yield* pass(600)
      assert.isUndefined(yield* of("a", 3))
      assert.isDefined(yield* of("a"))
      assert.strictEqual(Duration.toSeconds((yield* of("new", 4))!), 60)
      assert.isUndefined(yield* of("new", 2))
      assert.isDefined(yield* of("new", 2))
      assert.isUndefined(yield* of("new", 1))
    })
  )

  it.effect("no key is kept in words, and what is whole again is forgotten", () =>
    Effect.gen(function* () {
      const [{ take }, sql] = [yield* shared, yield* WriteSql]
      yield* take({ key: "sign-in links bob@example.com", limit: 1, window: "1 minute" })
      const rows = yield* sql<{ readonly key: string }>`select key from allowances`
      assert.isTrue(rows.length > 0 && rows.every(({ key }) => !key.includes("bob")))
      yield* pass(100_000)
      yield* keepHouse
      assert.deepStrictEqual(yield* sql`select key from allowances`, [])
    })
  )
})
