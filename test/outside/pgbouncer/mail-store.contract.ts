import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch, Layer, Redacted } from "effect"
import { inject } from "vitest"

import { layerSingle, WriteSql } from "../../../src/adapters/postgres/client.ts"
import * as Deferrals from "../../../src/adapters/postgres/mail/deferrals.ts"
import { layer } from "../../../src/adapters/postgres/mail/mail-store.ts"
import { suite as deferrals } from "../../contracts/mail/deferrals.ts"
import { suite as mailStore } from "../../contracts/mail/mail-store/index.ts"
import { layerClients, layerDatabase } from "../../support/postgres/postgres.ts"
import { makePostgresWorld } from "../../support/worlds/mail-world.ts"
import { SERVER_CONNECTIONS } from "./start.ts"

/** As `DB_PREPARE=0` makes them: this pooler may keep no prepared statements. */
const pooled = layerClients({ prepare: false }).pipe(Layer.provideMerge(layerDatabase))

const services = Layer.mergeAll(layer, Deferrals.layer).pipe(Layer.provideMerge(pooled))

mailStore(
  "PostgreSQL behind PgBouncer",
  Effect.flatMap(Layer.build(Layer.fresh(services)), (context) => Effect.provide(makePostgresWorld, context))
)

deferrals("PostgreSQL behind PgBouncer", (body) =>
  Effect.flatMap(makePostgresWorld, body).pipe(Effect.provide(services), Effect.orDie)
)

describe("PgBouncer", () => {
  it.live(
    "is what these suites went through: its few connections serve many clients, each of which stays",
    () =>
      Effect.gen(function* () {
        const url = Redacted.make(inject("postgresUrl"))
        const clients = SERVER_CONNECTIONS * 2
        const asked = yield* Latch.make(false)
        let answered = 0
        const client = Effect.gen(function* () {
          const sql = yield* WriteSql
          const [row] = yield* sql`select pg_backend_pid() as pid, pg_sleep(0.01)::text`
          if (++answered === clients) yield* asked.open
          // Nobody leaves before everybody has been served.
          yield* asked.await
          return row?.["pid"]
        }).pipe(Effect.provide(Layer.fresh(layerSingle({ url, prepare: false }))))
        const pids = yield* Effect.all(
          Array.from({ length: clients }, () => client),
          {
            concurrency: "unbounded"
          }
        )
        assert.isAtMost(new Set(pids).size, SERVER_CONNECTIONS)
      })
  )
})
