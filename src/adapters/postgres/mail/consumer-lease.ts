import { Effect, Schedule, Schema, type Scope } from "effect"
import type { SqlClient } from "effect/sql"

import { withDeadline } from "../../../application/deadline.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { statements } from "../statement.ts"

/** How long a consumer counts as living after its last sign, milliseconds. */
const LIVES_MS = 30_000

/** How often a consumer shows that it lives. */
const SHOWN_EVERY = "10 seconds"

/** A second consumer takes over the lease of a dead one with its next sign; until then the queue is not without one. */
const TAKEN_OVER_WITHIN_SECONDS = 15

/** How long a stopping consumer may take to say so. */
const SAID_WITHIN = "2 seconds"

const ask = statements({ within: "5 seconds" })

const leaseOf = (queue: string): string => `retry:${queue}`

/** Whether a consumer of the queue lives, by the database's clock. */
export const hasConsumer = (
  sql: SqlClient.SqlClient,
  queue: string
): Effect.Effect<boolean, StoreUnavailable> =>
  ask.answer(
    "hasConsumer",
    Schema.Boolean,
    sql`select exists (
      select from leases where name = ${leaseOf(queue)}
      and expires_at > clock_timestamp() - ${TAKEN_OVER_WITHIN_SECONDS}::int * interval '1 second'
    ) as answer`
  )

/**
 * Shows that a consumer of the queue lives, for as long as the scope is open. Of several one holds the lease. A sign that cannot be
 * written is left out: the consumer's watchdog says that the database is away.
 */
export const showConsumer = (
  sql: SqlClient.SqlClient,
  queue: string,
  holder: string
): Effect.Effect<void, never, Scope.Scope> => {
  const sign = ask.done("showConsumer", sql`select take_lease(${leaseOf(queue)}, ${holder}, ${LIVES_MS})`)
  const end = ask.done("hideConsumer", sql`select release_lease(${leaseOf(queue)}, ${holder})`)
  const quietly = (call: Effect.Effect<unknown, StoreUnavailable>) =>
    call.pipe(Effect.catch((error) => Effect.logDebug("the lease of the retry queue's consumer", error)))
  return Effect.acquireRelease(Effect.void, () =>
    withDeadline(quietly(end), { duration: SAID_WITHIN, onTimeout: () => Effect.void })
  ).pipe(
    Effect.andThen(quietly(sign)),
    Effect.andThen(
      Effect.forkScoped(Effect.repeat(Effect.delay(quietly(sign), SHOWN_EVERY), Schedule.forever))
    ),
    Effect.asVoid
  )
}
