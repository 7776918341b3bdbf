import { Effect, Layer } from "effect"

import { WriteSql } from "../../adapters/postgres/client.ts"
import { drain } from "../../domain/drain.ts"
import { type Supervisors, superviseTicks } from "./supervisor.ts"

const INTERVAL = "10 minutes"

/** Keys deleted by one statement: few, so that its locks are held briefly. */
const KEYS_AT_ONCE = 10_000

/** Deletes keys after 24 hours, and expired links and sessions. Several processes may do it at once. */
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
