import { Effect, Layer } from "effect"

import { WriteSql } from "../../adapters/postgres/client.ts"
import { drain } from "../../domain/drain.ts"
import { type Supervisors, superviseTicks } from "./supervisor.ts"

const INTERVAL = "10 minutes"

/** Keys that one statement forgets: its locks are held for a moment only. */
const KEYS_AT_ONCE = 10_000

/** Forgets keys whose 24 hours are over, and links and sessions that ended. Several processes may do it at once. */
export const keepHouse = Effect.gen(function* () {
  const sql = yield* WriteSql
  const forgetKeys = Effect.map(sql`select purge_email_claims(${KEYS_AT_ONCE}::integer) as count`, ([row]) =>
    Number(row?.["count"])
  )
  yield* drain(KEYS_AT_ONCE, forgetKeys)
  yield* sql`select purge_access()`
})

export const layer: Layer.Layer<never, never, WriteSql | Supervisors> = Layer.effectDiscard(
  superviseTicks("housekeeping", INTERVAL, keepHouse)
)
