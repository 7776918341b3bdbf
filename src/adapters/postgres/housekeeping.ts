import { Effect } from "effect"

import { drain } from "../../domain/drain.ts"
import { WriteSql } from "./client.ts"

/** Keys deleted by one statement: few, so that its locks are held briefly. */
const KEYS_AT_ONCE = 10_000

/** Deletes keys after 24 hours, and expired links and sessions. Several processes may do it at once. */
export const keepHouse = Effect.gen(function* () {
  const sql = yield* WriteSql
  const purgeKeys = Effect.map(sql`select purge_email_claims(${KEYS_AT_ONCE}::integer) as count`, ([row]) =>
    Number(row?.["count"])
  )
  yield* drain(KEYS_AT_ONCE, purgeKeys)
  yield* sql`select purge_access()`
})
