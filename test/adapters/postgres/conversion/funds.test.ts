import { randomUUID } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { FundsWorld, suite } from "../../../contracts/accounts/funds.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { whileOpen } from "../../../support/postgres/while-open.ts"
import { clean, customer } from "./world.ts"

/** One value that a function of funds returns. */
const ask = (call: string, ...values: ReadonlyArray<string | number | null>) =>
  WriteSql.use((sql) =>
    Effect.map(
      sql.unsafe<{ readonly answer: unknown }>(`select ${call} as answer`, values),
      ([row]) => row?.answer
    )
  )

const place = (owner: string, job: string, pages: number) =>
  ask("place_hold($1::uuid, $2::uuid, $3::integer, interval '90 minutes')", owner, job, pages)
const settle = (job: string, pages: number | null = null) =>
  ask("settle_hold($1::uuid, $2::integer)", job, pages)
const release = (job: string) => ask("release_hold($1::uuid, 'cancelled')", job)
const refresh = (job: string) => ask("refresh_hold($1::uuid, interval '90 minutes')", job)
const widen = (job: string, pages: number) => ask("widen_hold($1::uuid, $2::integer)", job, pages)
const deduct = (owner: string, credits: number) =>
  ask("deduct_credits($1::uuid, $2::integer)", owner, credits)
const useFree = (owner: string, pages: number) => ask("use_free_pages($1::uuid, $2::integer)", owner, pages)

const expire = (job: string) =>
  WriteSql.use(
    (sql) => sql`update funds_holds set expires_at = now() - interval '1 second' where job_id = ${job}::uuid`
  )

const freeCustomer = Effect.fnUntraced(function* () {
  const owner = yield* customer(0)
  yield* WriteSql.use((sql) => sql`update customers set plan_type = 'free' where id = ${owner}::uuid`)
  return owner
})

/** Credits and free pages: left, set aside, charged. */
const stateOf = (owner: string) =>
  WriteSql.use((sql) =>
    Effect.map(
      sql<{ readonly state: ReadonlyArray<number> }>`select array[
        c.credits_remaining, c.lifetime_free_pages_used,
        (select count(*) from funds_holds h where h.customer_id = c.id and h.state = 'held'),
        (select coalesce(sum(x.credits), 0) from credit_charges x where x.customer_id = c.id),
        (select coalesce(sum(x.free_pages), 0) from credit_charges x where x.customer_id = c.id)
      ]::integer[] as state from customers c where c.id = ${owner}::uuid`,
      ([row]) => row?.state
    )
  )

const codeOf = (error: SqlError): unknown => {
  const { cause } = error.reason
  return typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
}

const world = Layer.effect(
  FundsWorld,
  Effect.map(Effect.context<WriteSql>(), (context) => {
    const here = <A>(call: Effect.Effect<unknown, SqlError, WriteSql>) =>
      Effect.map(Effect.provide(call, context), (answer) => answer as A)
    return FundsWorld.of({
      place: (owner, job, pages) => here(place(owner, job, pages)),
      settle: (job, pages) => Effect.orDie(here(settle(job, pages))),
      release: (job) => Effect.orDie(here(release(job))),
      refresh: (job) => Effect.orDie(here(refresh(job))),
      widen: (job, pages) => Effect.orDie(here(widen(job, pages))),
      stateOf: (owner) => Effect.orDie(here(stateOf(owner)))
    })
  })
)

suite("PostgreSQL", Layer.provideMerge(world, postgres))

suiteLayer(layerPostgres)("funds on PostgreSQL", (it) => {
  it.effect("F1: a free customer has ten pages in a lifetime, however many ask at once", () =>
    Effect.gen(function* () {
      yield* clean
      const owner = yield* freeCustomer()
      const held = randomUUID()
      assert.isFalse(yield* place(owner, randomUUID(), 11))
      assert.isTrue(yield* place(owner, held, 3))
      const codes = yield* Effect.forEach(
        Array.from({ length: 20 }, () => 1),
        (pages) => Effect.match(useFree(owner, pages), { onFailure: codeOf, onSuccess: () => "ok" }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(codes.filter((code) => code === "ok").length, 7)
      assert.strictEqual(codes.filter((code) => code === "PL402").length, 13)
      assert.strictEqual(yield* settle(held), "settled")
      assert.deepStrictEqual(yield* stateOf(owner), [0, 10, 0, 0, 3])
      assert.strictEqual(codeOf(yield* Effect.flip(deduct(owner, 1))), "PL402")
    })
  )

  it.effect("F1: credits that are set aside cannot be deducted, however many ask at once", () =>
    Effect.gen(function* () {
      yield* clean
      const owner = yield* customer(10)
      yield* place(owner, randomUUID(), 4)
      const codes = yield* Effect.forEach(
        Array.from({ length: 10 }, () => 2),
        (credits) => Effect.match(deduct(owner, credits), { onFailure: codeOf, onSuccess: () => "ok" }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(codes.filter((code) => code === "ok").length, 3)
      assert.strictEqual(codes.filter((code) => code === "PL402").length, 7)
      assert.strictEqual((yield* stateOf(owner))?.[0], 4)
    })
  )

  it.effect("F1: two at the same moment wait for each other, whatever they do with the funds", () =>
    Effect.gen(function* () {
      const answered = (call: Effect.Effect<unknown, SqlError, WriteSql>) =>
        Effect.match(call, { onFailure: codeOf, onSuccess: (answer) => answer })
      const firsts = [(owner: string) => place(owner, randomUUID(), 6), (owner: string) => deduct(owner, 6)]
      for (const first of firsts) {
        yield* clean
        const owner = yield* customer(10)
        const lapsed = randomUUID()
        yield* place(owner, lapsed, 6)
        yield* expire(lapsed)
        const seconds = [
          [place(owner, randomUUID(), 6), false],
          [deduct(owner, 6), "PL402"],
          [refresh(lapsed), false],
          [settle(lapsed), "insufficient"]
        ] as const
        for (const [second, expected] of seconds) {
          const undo = yield* stateOf(owner)
          assert.deepStrictEqual(yield* whileOpen(first(owner), answered(second)), expected)
          yield* WriteSql.use(
            (sql) => sql`update customers set credits_remaining = ${undo?.[0] ?? 0} where id = ${owner}::uuid`
          )
          yield* WriteSql.use((sql) => sql`delete from funds_holds where job_id <> ${lapsed}::uuid`)
        }
      }
    })
  )

  it.effect("F1: free pages used, a hold that grows and one that ends wait for who is at the funds", () =>
    Effect.gen(function* () {
      yield* clean
      const free = yield* freeCustomer()
      const use = Effect.match(useFree(free, 6), { onFailure: codeOf, onSuccess: () => "ok" })
      assert.strictEqual(yield* whileOpen(useFree(free, 6), use), "PL402")

      const grown = randomUUID()
      const owner = yield* customer(10)
      yield* place(owner, grown, 4)
      assert.isFalse(yield* whileOpen(place(owner, randomUUID(), 6), widen(grown, 5)))

      // Who settles while it is released finds it released, and charges nothing.
      assert.strictEqual(yield* whileOpen(release(grown), settle(grown)), "released")
      assert.deepStrictEqual(yield* stateOf(owner), [10, 0, 1, 0, 0])
    })
  )

  it.effect("F1: a hold is paid for as the plan has it, else as it was set aside, and no other way", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const lapsed = Effect.fnUntraced(function* (owner: string) {
        const job = randomUUID()
        yield* place(owner, job, 4)
        yield* expire(job)
        return job
      })
      // Both would do: the present plan goes first.
      const owner = yield* customer(10)
      const both = yield* lapsed(owner)
      yield* sql`update customers set plan_type = 'free' where id = ${owner}::uuid`
      assert.strictEqual(yield* settle(both), "settled")
      assert.deepStrictEqual(yield* stateOf(owner), [10, 4, 0, 0, 4])

      // Neither the plan nor the hold has anything to do with credits.
      const free = yield* freeCustomer()
      const used = yield* lapsed(free)
      yield* sql`update customers set credits_remaining = 10, lifetime_free_pages_used = 9 where id = ${free}::uuid`
      assert.strictEqual(yield* settle(used), "insufficient")

      // Nothing is set aside any more that could grow, whatever there is.
      const released = randomUUID()
      const poor = yield* customer(4)
      yield* place(poor, released, 4)
      yield* release(released)
      assert.isTrue(yield* widen(released, 9))
    })
  )

  it.effect("hostile amounts and strangers change nothing", () =>
    Effect.gen(function* () {
      yield* clean
      const owner = yield* customer(10)
      for (const amount of [-1, -2_147_483_648]) {
        assert.strictEqual(codeOf(yield* Effect.flip(deduct(owner, amount))), "22023")
        assert.strictEqual(codeOf(yield* Effect.flip(useFree(owner, amount))), "22023")
        assert.isDefined(codeOf(yield* Effect.flip(place(owner, randomUUID(), amount))))
      }
      assert.strictEqual(codeOf(yield* Effect.flip(deduct(owner, 2_147_483_647))), "PL402")
      assert.isFalse(yield* place(owner, randomUUID(), 2_147_483_647))
      assert.isFalse(yield* place(randomUUID(), randomUUID(), 1))
      assert.strictEqual(codeOf(yield* Effect.flip(deduct(randomUUID(), 1))), "PL402")
      assert.deepStrictEqual(yield* stateOf(owner), [10, 0, 0, 0, 0])
    })
  )
})
