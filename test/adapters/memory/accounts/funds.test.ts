import { Effect, Layer } from "effect"

import {
  placeHold,
  refreshHold,
  releaseHold,
  settleHold,
  widenHold
} from "../../../../src/adapters/memory/accounts/funds.ts"
import {
  type Documents,
  MemoryDocuments,
  transaction
} from "../../../../src/adapters/memory/documents/state.ts"
import { FundsWorld, suite } from "../../../contracts/accounts/funds.ts"
import { WINDOW } from "../../../contracts/conversion/documents-world.ts"
import { anyId } from "../../../support/any-id.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

const sum = (rows: ReadonlyArray<{ readonly credits: number; readonly freePages: number }>) => [
  rows.reduce((all, { credits }) => all + credits, 0),
  rows.reduce((all, { freePages }) => all + freePages, 0)
]

const world = Layer.effect(
  FundsWorld,
  Effect.map(MemoryDocuments, (documents) => {
    const run = <A>(body: (db: Documents) => A) => transaction(documents, body)
    return FundsWorld.of({
      place: (customerId, jobId, pages) =>
        run((db) => placeHold(db, { customerId: anyId(customerId), jobId: anyId(jobId), pages }, WINDOW)),
      settle: (jobId, pages) => Effect.orDie(run((db) => settleHold(db, anyId(jobId), pages))),
      release: (jobId) => Effect.orDie(run((db) => releaseHold(db, anyId(jobId), "cancelled"))),
      refresh: (jobId) => Effect.orDie(run((db) => refreshHold(db, anyId(jobId), WINDOW))),
      widen: (jobId, pages) => Effect.orDie(run((db) => widenHold(db, anyId(jobId), pages))),
      stateOf: (customerId) =>
        Effect.orDie(
          run((db) => {
            const customer = db.customers.get(customerId)
            const holds = db.holds.where((hold) => hold.customerId === customerId && hold.state === "held")
            const charges = db.charges.where((charge) => charge.customerId === customerId)
            return [customer?.credits ?? 0, customer?.freePagesUsed ?? 0, holds.length, ...sum(charges)]
          })
        )
    })
  })
)

suite("memory", Layer.provideMerge(world, memory))
