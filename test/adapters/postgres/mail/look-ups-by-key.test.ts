import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { toJsonText } from "../../../../src/adapters/postgres/values.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const KEYED = 3_000

const hash = (n: number) => `k-${n}`

const entry = (n: number) => ({
  key_hash: hash(n),
  addresses: ["a@x.test"],
  payload_hash: "hash",
  provider: "provider_a",
  owner: `owner-${n}`,
  lease_ms: 60_000
})

/** Rows of the log that the database has read so far in this transaction. */
const READ = `select coalesce(idx_tup_fetch, 0) + seq_tup_read as n
  from pg_stat_xact_user_tables where relname = 'email_log'`

layer(layerPostgres)("begin_email_sends looks up by key alone", (it) => {
  for (const [what, keys] of [
    ["new keys", [KEYED + 1, KEYED + 2, KEYED + 3]],
    ["keys that only rows know, and new ones", [1, 2, KEYED + 1]]
  ] as const) {
    it.effect(`whatever the statistics say: ${what}`, () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const run = (statement: string) => sql.unsafe(statement).unprepared
        const read = Effect.map(sql.unsafe<{ readonly n: string }>(READ).unprepared, ([row]) =>
          Number(row?.n)
        )
        const reads = sql.withTransaction(
          Effect.gen(function* () {
            // As the planner knows it, no row of the log has a key.
            yield* run("insert into email_log (status) select 'sent' from generate_series(1, 1000)")
            yield* run("analyze email_log, email_send_claims")
            yield* run(
              `insert into email_log (status, provider, provider_message_id, key_hash)
                select 'sent', 'provider_a', 'm-' || n, 'k-' || n from generate_series(1, ${KEYED}) as n`
            )
            const before = yield* read
            const claimed = yield* sql.unsafe("select decision from begin_email_sends($1::jsonb)", [
              toJsonText(keys.map(entry))
            ])
            assert.deepStrictEqual(
              claimed,
              keys.map(() => ({ decision: "Claimed" }))
            )
            // Rolled back: nothing of it is in the way of the next.
            return yield* Effect.fail((yield* read) - before)
          })
        )
        const found = yield* Effect.flip(reads)
        assert.isAtMost(typeof found === "number" ? found : Infinity, 4 * keys.length, String(found))
      })
    )
  }
})
