import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Client } from "pg"

import { countClaim, fillQueue } from "../../../bench/queue/claims.ts"
import { layerDatabase, TestDatabase } from "../../../support/postgres/postgres.ts"

const LIMIT = 32

/** Of one claim. Each row is found once to be taken and once to be changed; a page of each index is read for each row. */
const MOST_ROWS = 3 * LIMIT
const MOST_PAGES = 20 * LIMIT

/** What a claim reads of a queue with so many requests that are due, and so many that are due later. */
const costOf = (due: number, later: number) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    return yield* Effect.promise(async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      try {
        await fillQueue(client, { due, later })
        return await countClaim(client, LIMIT)
      } finally {
        await client.end()
      }
    })
  }).pipe(Effect.provide(layerDatabase))

it.live("a claim reads what it takes, however much waits or is due later (QUEUE-4)", () =>
  Effect.gen(function* () {
    const few = yield* costOf(100, 0)
    assert.isAtMost(few.rows, MOST_ROWS)
    assert.isAtMost(few.pages, MOST_PAGES)
    for (const [due, later] of [
      [10_000, 0],
      [100, 10_000]
    ] as const) {
      const many = yield* costOf(due, later)
      const told = JSON.stringify({ due, later, many, few })
      assert.isAtMost(many.rows, MOST_ROWS, told)
      assert.isAtMost(many.pages, MOST_PAGES, told)
    }
  })
)
