import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { ReadSql, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layer } from "../../../src/adapters/postgres/leadership.ts"
import { suite } from "../../contracts/mail/lease-store.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { type Child, runChild } from "../../support/processes/child.ts"

suite(
  "PostgreSQL",
  Layer.fresh(layer.pipe(Layer.provideMerge(layerPostgres))),
  WriteSql.use((sql) => sql`update leases set expires_at = clock_timestamp()`)
)

const TTL_MS = 3_000

describe("leadership of several processes on PostgreSQL", () => {
  const postgres = ManagedRuntime.make(layerPostgres)
  const children: Array<Child> = []

  const query = <A extends object>(text: string) =>
    postgres.runPromise(WriteSql.use((sql) => sql.unsafe<A>(text)))

  const start = async (holder: string) => {
    const { url } = await postgres.runPromise(TestDatabase)
    const env = { DATABASE_URL: url, TTL_MS: String(TTL_MS), HOLDER: holder }
    const child = runChild("test/adapters/postgres/lease-holder.ts", [], env)
    children.push(child)
    return child
  }

  /** The first term that it leads in after `than`. */
  const leads = (child: Child, than = 0) =>
    child.line((line) => {
      const term = Number(/^leads (\d+)$/.exec(line)?.[1] ?? 0)
      return term > than ? term : undefined
    })

  beforeAll(() =>
    query("create table lease_test_writes (id bigserial primary key, holder text, term bigint)")
  )
  afterAll(async () => {
    await Promise.all(children.map(({ destroy }) => destroy()))
    await postgres.dispose()
  })

  it("passes on from a frozen, a killed and a stopped holder; what a stale one writes matches nothing", async () => {
    const first = await start("first")
    const firstTerm = await leads(first)
    const second = await start("second")
    first.signal("SIGSTOP")
    const secondTerm = await leads(second, firstTerm)
    first.signal("SIGCONT")

    second.signal("SIGKILL")
    const thirdTerm = await leads(first, secondTerm)

    const third = await start("third")
    first.signal("SIGTERM")
    await first.ended
    await leads(third, thirdTerm)

    const terms = await query<{ term: string; holders: number }>(
      "select term, count(distinct holder)::int as holders from lease_test_writes group by term"
    )
    assert.isAtLeast(terms.length, 2)
    for (const { holders } of terms) assert.strictEqual(holders, 1)
    const outOfOrder = await query(
      "select id from (select id, term, max(term) over (order by id) as newest from lease_test_writes) x where term < newest"
    )
    assert.deepStrictEqual(outOfOrder, [])
  })

  it("lets a guarded write hold the lease until it is committed, and refuses a past term", async () => {
    await Promise.all(children.map(({ destroy }) => destroy()))
    await postgres.runPromise(
      WriteSql.use((sql) =>
        Effect.gen(function* () {
          // Not the transaction's connection.
          const aside = yield* ReadSql
          yield* sql`update leases set expires_at = clock_timestamp()`
          const held = (term: number) =>
            sql<{ held: boolean }>`select lease_is_held('leader', ${term}::bigint) as held`
          const [row] = yield* sql<{ term: number }>`select take_lease('leader', 'a', 60000)::int as term`
          const term = row!.term
          assert.deepStrictEqual(yield* held(term), [{ held: true }])
          assert.deepStrictEqual(yield* held(term - 1), [{ held: false }])
          const order: Array<string> = []
          const writing = sql.withTransaction(
            Effect.gen(function* () {
              yield* held(term)
              yield* Effect.forkDetach(
                aside`update leases set expires_at = '-infinity'`.pipe(
                  Effect.andThen(aside`select take_lease('leader', 'b', 60000)`),
                  Effect.tap(() => Effect.sync(() => order.push("taken")))
                ),
                { startImmediately: true }
              )
              let waiting = 0
              while (waiting === 0) {
                const rows = yield* sql<{ waiting: number }>`
                  select count(*)::int as waiting from pg_locks
                  where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`
                waiting = rows[0]!.waiting
              }
              order.push("written")
            })
          )
          yield* writing
          while (order.length < 2) yield* Effect.sleep("10 millis")
          assert.deepStrictEqual(order, ["written", "taken"])
          assert.deepStrictEqual(yield* held(term), [{ held: false }])
        })
      )
    )
  })
})
