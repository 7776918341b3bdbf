import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as Accounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { Accounts as AccountsPort } from "../../../../src/ports/accounts/accounts.ts"
import { suite } from "../../../contracts/accounts/accounts.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

/** A customer of the free plan who has used 4 pages of it. */
const customer = (email: string, name: string | null = null) =>
  WriteSql.use((sql) =>
    Effect.map(
      sql<{ readonly id: string }>`insert into customers (email, name, lifetime_free_pages_used)
        values (${email}, ${name}, 4) returning id`,
      (rows) => rows[0]!.id
    )
  )

suite("PostgreSQL", Layer.provideMerge(Accounts.layer, postgres))

suiteLayer(Accounts.layer.pipe(Layer.provideMerge(layerPostgres)))("funds of an account", (it) => {
  it.effect("an account tells what can be spent, whichever way its funds move", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountsPort
      const sql = yield* WriteSql
      const spendable = (id: string) =>
        Effect.map(
          sql<{
            readonly credits: number
            readonly free_pages: number
          }>`select credits, free_pages from available_funds(${id}::uuid)`,
          (rows) => rows[0]!
        )
      const free = yield* customer("free@funds.test")
      const paid = yield* customer("paid@funds.test", "Ann")
      yield* sql`update customers set plan_type = 'paid', credits_remaining = 100 where id = ${paid}::uuid`
      const fundsOf = (id: string) => Effect.map(accounts.funds(anyId(id)), (account) => account!)
      assert.deepStrictEqual(yield* fundsOf(free), {
        id: anyId(free),
        email: "free@funds.test",
        name: null,
        planType: "free",
        creditsRemaining: null,
        freePagesLeft: 6,
        heldCredits: 0
      })
      assert.deepStrictEqual(yield* fundsOf(paid), {
        id: anyId(paid),
        email: "paid@funds.test",
        name: "Ann",
        planType: "paid",
        creditsRemaining: 100,
        freePagesLeft: null,
        heldCredits: 0
      })
      const figures = Effect.gen(function* () {
        const [one, other] = [yield* fundsOf(free), yield* fundsOf(paid)]
        assert.strictEqual(one.freePagesLeft, (yield* spendable(free)).free_pages)
        assert.strictEqual(other.creditsRemaining, (yield* spendable(paid)).credits)
        return [one.freePagesLeft, one.heldCredits, other.creditsRemaining, other.heldCredits]
      })
      const [small, large, lapsed] = [anyId(), anyId(), anyId()]
      yield* sql`select place_hold(${free}::uuid, ${small}::uuid, 2, interval '90 minutes')`
      yield* sql`select place_hold(${paid}::uuid, ${large}::uuid, 30, interval '90 minutes')`
      assert.deepStrictEqual(yield* figures, [4, 2, 70, 30])
      // A hold that has lapsed sets nothing aside.
      yield* sql`select place_hold(${paid}::uuid, ${lapsed}::uuid, 50, interval '90 minutes')`
      assert.deepStrictEqual(yield* figures, [4, 2, 20, 80])
      yield* sql`update funds_holds set expires_at = now() - interval '1 second' where job_id = ${lapsed}::uuid`
      assert.deepStrictEqual(yield* figures, [4, 2, 70, 30])
      yield* sql`select settle_hold(${small}::uuid, 1), release_hold(${large}::uuid, 'cancelled')`
      assert.deepStrictEqual(yield* figures, [5, 0, 100, 0])
      // More held than there is, by a hand in the database: nothing is left, never less than nothing.
      yield* sql`select place_hold(${paid}::uuid, ${anyId()}::uuid, 30, interval '90 minutes')`
      yield* sql`update customers set credits_remaining = 10 where id = ${paid}::uuid`
      const { creditsRemaining, heldCredits } = yield* fundsOf(paid)
      assert.deepStrictEqual([creditsRemaining, heldCredits], [0, 30])
      assert.isDefined(yield* accounts.close(anyId(paid)))
      assert.isUndefined(yield* accounts.funds(anyId(paid)))
      assert.isUndefined(yield* accounts.funds(anyId()))
    })
  )
})
