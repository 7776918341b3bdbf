import { Effect, Layer, Redacted } from "effect"
import { layerWebCrypto } from "effect/crypto/SecureRandom"

import { layer as layerClients, WriteSql } from "../../../src/adapters/postgres/client.ts"
import * as Leases from "../../../src/adapters/postgres/leadership.ts"
import { Leadership } from "../../../src/ports/leadership.ts"
import { layer as layerLeadership } from "../../../src/runtime/process/leadership.ts"
import { Supervisors } from "../../../src/runtime/process/supervisor.ts"

const { DATABASE_URL = "", TTL_MS = "", HOLDER = "" } = process.env

/** Writes as fast as it can while it leads, each write guarded by its term, and tells of each. */
const work = Effect.gen(function* () {
  const { term, whileLeading } = yield* Leadership
  const sql = yield* WriteSql
  const writes = Effect.gen(function* () {
    const mine = (yield* term) ?? 0
    process.stdout.write(`leads ${mine}\n`)
    while (true) {
      const written = yield* sql`
        insert into lease_test_writes (holder, term) select ${HOLDER}, ${mine}::bigint
        where lease_is_held('leader', ${mine}::bigint) returning id`
      if (written.length === 0) process.stdout.write(`refused ${mine}\n`)
      yield* Effect.sleep("10 millis")
    }
  })
  while (true) {
    yield* whileLeading(writes)
    yield* Effect.sleep("10 millis")
  }
})

const shutDown = Effect.callback<void>((resume) => void process.once("SIGTERM", () => resume(Effect.void)))

await Effect.runPromise(
  Effect.raceFirst(work, shutDown).pipe(
    Effect.provide(
      layerLeadership({ ttlMs: Number(TTL_MS) }).pipe(
        Layer.provide(Leases.layer),
        Layer.provideMerge(layerClients({ url: Redacted.make(DATABASE_URL) })),
        Layer.provide([layerWebCrypto, Supervisors.layer])
      )
    )
  )
)
