import { Effect, Schema } from "effect"

import { drain } from "../../application/drain.ts"
import { WriteSql } from "./client.ts"
import { statements } from "./statement.ts"

/** Keys deleted by one statement: few, so that its locks are held briefly. */
const KEYS_AT_ONCE = 10_000

/** A purge of many rows may take longer than what somebody waits for. */
const { answer, done } = statements({ repeatable: true, within: "1 minute" })

/** Rows of lost mails that one statement goes through. */
const ROWS_AT_ONCE = 1_000

/**
 * Deletes keys of mails and of calls after 24 hours, requests of the send queue 30 days after their end, expired links and sessions, and allowances that are whole again; suppresses by events of mails with
 * a lost row. Several processes may do it at once.
 */
export const runHousekeeping = Effect.gen(function* () {
  const sql = yield* WriteSql
  const purgeKeys = sql`select purge_email_claims(${KEYS_AT_ONCE}::integer)::integer as answer`
  yield* drain(KEYS_AT_ONCE, answer("purgeKeys", Schema.Int, purgeKeys))
  const suppressLost = sql`select suppress_lost_email_rows(${ROWS_AT_ONCE}::integer) as answer`
  yield* drain(ROWS_AT_ONCE, answer("suppressLost", Schema.Int, suppressLost))
  yield* done("purgeQueue", sql`select purge_email_queue()`)
  yield* done("purgeAccess", sql`select purge_access()`)
  yield* done(
    "purgeRequestKeys",
    sql`delete from request_keys where created_at < (select clock_timestamp()) - interval '24 hours'
      and held_until < clock_timestamp()`
  )
  yield* done("purgeAllowances", sql`delete from allowances where free_at < clock_timestamp()`)
})
