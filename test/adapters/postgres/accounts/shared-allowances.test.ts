import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as Allowances from "../../../../src/adapters/postgres/accounts/shared-allowances.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { runHousekeeping } from "../../../../src/adapters/postgres/housekeeping.ts"
import { shared, suite } from "../../../contracts/accounts/shared-allowances.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

/** Time passes for every key. */
const pass = (seconds: number) =>
  WriteSql.use((sql) => sql`update allowances set free_at = free_at - ${seconds} * interval '1 second'`)

const layer = Layer.provideMerge(Allowances.layer, layerPostgres)

suite("PostgreSQL", layer, pass)

suiteLayer(layer)("allowances on PostgreSQL, kept", (it) => {
  it.effect("no key is kept in words, and what is whole again is forgotten", () =>
    Effect.gen(function* () {
      const [{ take }, sql] = [yield* shared, yield* WriteSql]
      yield* take({ key: "sign-in links bob@example.com", limit: 1, window: "1 minute" })
      const rows = yield* sql<{ readonly key: string }>`select key from allowances`
      assert.isTrue(rows.length > 0 && rows.every(({ key }) => !key.includes("bob")))
      yield* pass(100_000)
      yield* runHousekeeping
      assert.deepStrictEqual(yield* sql`select key from allowances`, [])
    })
  )
})
