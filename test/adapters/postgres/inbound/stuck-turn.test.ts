import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"

import * as Accounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/inbound/intake-store.ts"
import { clean, customer } from "../../../contracts/conversion/documents-world.ts"
import { admitted, claim } from "../../../contracts/inbound/intake-store/world.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"

suiteLayer(Layer.merge(layer, Accounts.layer).pipe(Layer.provideMerge(postgres)), {
  excludeTestServices: true
})("a claim of a mail that is stuck", (it) => {
  it.effect("H3: holds up no other converter: that goes by the turn as it was", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const [first, next] = [yield* customer(10), yield* customer(10)].toSorted()
      yield* admitted(first!, 1)
      const [waiting] = yield* admitted(next!, 1)
      const turn = sql`select customer_id as owner from work_turns where kind = 'mail'`
      yield* sql`update work_turns set customer_id = case kind when 'mail' then ${first!}::uuid else ${next!}::uuid end`
      const isStuck = yield* Latch.make(false)
      const other = yield* Effect.forkChild(Effect.andThen(isStuck.await, claim("converting")))
      // A session that has the turn, and whose end nobody sees.
      const claimed = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select from work_turns where kind = 'mail' for no key update`
          yield* isStuck.open
          return yield* Fiber.join(other)
        })
      )
      assert.strictEqual(claimed?.id, waiting)
      assert.deepStrictEqual(yield* turn, [{ owner: first }])
    })
  )
})
