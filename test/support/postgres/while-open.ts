import { Effect, Fiber, Latch } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"

/**
 * Runs `second` while the transaction of `first` is open; that commits once `second` waits for it, or is done. `last` is in that
 * transaction, too: a deadlock where `second` has locked what it needs.
 */
export const whileOpen = Effect.fnUntraced(function* <A, E, R, B, E2, R2, E3 = never, R3 = never>(
  first: Effect.Effect<A, E, R>,
  second: Effect.Effect<B, E2, R2>,
  last: Effect.Effect<unknown, E3, R3> = Effect.void
) {
  const sql = yield* WriteSql
  const open = yield* Latch.make(false)
  const other = yield* Effect.forkChild(Effect.andThen(open.await, second))
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* first
      yield* open.open
      while (other.pollUnsafe() === undefined) {
        yield* sql`select pg_stat_clear_snapshot()`
        const [row] = yield* sql<{ readonly waiting: boolean }>`select exists (
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        ) as waiting`
        if (row?.waiting === true) break
      }
      yield* last
    })
  )
  return yield* Fiber.join(other)
})
