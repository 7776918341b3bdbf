import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Client } from "pg"

import { countClaim, fillQueue } from "../../../bench/queue/claims.ts"
import { layerDatabase, TestDatabase } from "../../../support/postgres/postgres.ts"

const LIMIT = 32

/** Of one claim. Each row is found once to be taken and once to be changed; a page of each index is read for each row. */
const MOST_ROWS = 3 * LIMIT
const MOST_PAGES = 20 * LIMIT

/** What is found of a queue with so many requests that are due, and so many that are due later. */
const inQueue = <A>(due: number, later: number, find: (client: Client) => Promise<A>) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    return yield* Effect.promise(async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      try {
        await fillQueue(client, { due, later })
        return await find(client)
      } finally {
        await client.end()
      }
    })
  }).pipe(Effect.provide(layerDatabase))

const costOf = (due: number, later: number) => inQueue(due, later, (client) => countClaim(client, LIMIT))

/** Rows of the queue that this transaction has read so far. */
const READ = `select coalesce(idx_tup_fetch, 0) + seq_tup_read as n
  from pg_stat_xact_user_tables where relname = 'email_send_queue'`

const readOf = async (client: Client) => Number((await client.query<{ n: string }>(READ)).rows[0]?.n)

const FILL = `select count(enqueue_email(jsonb_build_object('to', 'a@x.test', 'subject', 's', 'text', 't',
  'category', 'transactional', 'source', 'test', 'idempotencyKey', 'k-' || n))) from generate_series(1, 1000) as n`

const ENQUEUE = "select id from enqueue_emails($1::jsonb, $2::text, $3::text[])"

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

it.live("a batch is queued without a look at what waits, whatever the statistics say (QUEUE-2)", () =>
  Effect.gen(function* () {
    const keys = ["batch.0", "batch.1", "batch.2"]
    const entries = keys.map((idempotencyKey) => ({
      request: {
        to: "a@x.test",
        subject: "s",
        text: "t",
        category: "transactional",
        source: "test",
        idempotencyKey
      },
      payload_hash: "payload"
    }))
    for (const batch of [
      [null, null],
      ["hash", keys]
    ] as const) {
      const read = yield* inQueue(0, 0, async (client) => {
        const ask = () => client.query(ENQUEUE, [JSON.stringify(entries), ...batch])
        // The session's plans are of a queue that holds nothing.
        for (let each = 0; each < 8; each++) {
          await client.query("begin")
          await ask()
          await client.query("rollback")
        }
        await client.query(FILL)
        await client.query("begin")
        const before = await readOf(client)
        assert.lengthOf((await ask()).rows, keys.length)
        return (await readOf(client)) - before
      })
      assert.isAtMost(read, 2 * keys.length, JSON.stringify(batch))
    }
  })
)
