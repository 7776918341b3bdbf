import { Effect, Layer } from "effect"

import { WriteSql } from "../adapters/postgres/client.ts"
import { type Supervisors, superviseTicks } from "./supervisor.ts"

const INTERVAL = "10 minutes"

/** Forgets keys whose 24 hours are over, and links and sessions that ended. Several processes may do it at once. */
export const layer: Layer.Layer<never, never, WriteSql | Supervisors> = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* WriteSql
    yield* superviseTicks(
      "housekeeping",
      INTERVAL,
      Effect.andThen(sql`select purge_email_claims()`, sql`select purge_access()`)
    )
  })
)
