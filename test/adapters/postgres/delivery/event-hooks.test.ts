import { Duration, Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/delivery/event-hooks.ts"
import { suite } from "../../../contracts/delivery/event-hooks.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

suite("PostgreSQL", Layer.fresh(layer.pipe(Layer.provideMerge(layerPostgres))), {
  tell: (type, subject) =>
    WriteSql.use((sql) => sql`select tell_hooks(${type}, ${subject}, now(), '{}')`).pipe(Effect.orDie),
  advance: (time) =>
    WriteSql.use((sql) => {
      const by = sql.literal(`interval '${Duration.toMillis(Duration.fromInputUnsafe(time))} milliseconds'`)
      return Effect.andThen(
        sql`update event_hook_deliveries set next_at = next_at - ${by}, created_at = created_at - ${by}, ended_at = ended_at - ${by}`,
        sql`update event_hooks set failing_since = failing_since - ${by}, failed_at = failed_at - ${by},
          received_at = received_at - ${by}, old_secret_until = old_secret_until - ${by}`
      )
    }).pipe(Effect.orDie)
})
