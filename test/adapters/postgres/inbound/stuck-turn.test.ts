import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"

import * as Accounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/inbound/intake-store.ts"
import { IntakeStore } from "../../../../src/ports/inbound/intake-store.ts"
import { clean, customer } from "../../../contracts/conversion/documents-world.ts"
import { admit, claim, emailOf, identityOf, taken } from "../../../contracts/inbound/intake-store/world.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"

suiteLayer(Layer.merge(layer, Accounts.layer).pipe(Layer.provideMerge(postgres)), {
  excludeTestServices: true
})("a claim of a mail that is stuck", (it) => {
  it.effect("H3: holds up no other converter: that goes by the turn as it was", () =>
    Effect.gen(function* () {
      yield* clean
      const store = yield* IntakeStore
      const sql = yield* WriteSql
      const owner = yield* customer(10)
      const mail = yield* taken
      yield* store.identify(mail, identityOf(mail.id, emailOf(owner)), 100)
      assert.strictEqual(yield* admit(mail, owner, 1), "admitted")
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
      assert.strictEqual(claimed?.id, mail.id)
      const [turn] = yield* sql`select customer_id as owner from work_turns where kind = 'mail'`
      assert.notStrictEqual(turn?.["owner"], owner)
    })
  )
})
