import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const PACES = JSON.stringify([{ provider: "provider_a", rate: 0, least: 0, most: 0, primary: true }])

/**
 * How a statement commits on a connection of a role that does, or does not, wait for the disk. The setting counts at the commit, when a setting of the
 * function's own is over.
 */
const commitOf = (statement: string, role: "on" | "off") =>
  Effect.gen(function* () {
    const sql = yield* WriteSql
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(`set local synchronous_commit = ${role}`).unprepared
        yield* sql.unsafe(statement).unprepared
        const [row] = yield* sql<{
          readonly now: string
        }>`select current_setting('synchronous_commit') as now`
        return row?.now
      })
    )
  }).pipe(Effect.provide(layerPostgres))

it.live("claims and ends of queued mail wait for the disk, whatever the role's setting (Q1)", () =>
  Effect.gen(function* () {
    const held = {
      queue_id: "00000000-0000-4000-8000-000000000000",
      lease: "00000000-0000-4000-8000-000000000001"
    }
    for (const statement of [
      "select * from begin_queued_emails('[]')",
      `select * from begin_queued_retry('${JSON.stringify(held)}')`,
      "select * from end_queued_emails('[]', '[]')"
    ])
      assert.strictEqual(yield* commitOf(statement, "off"), "on", statement)
    // Its mail leaves after its claim alone, whose commit waits for this one, too.
    assert.strictEqual(
      yield* commitOf(`select * from take_queued_emails('${PACES}', 1, interval '12 seconds')`, "on"),
      "off"
    )
  })
)
