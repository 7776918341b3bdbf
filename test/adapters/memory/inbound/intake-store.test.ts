import { Effect, Layer } from "effect"

import * as Accounts from "../../../../src/adapters/memory/accounts/accounts.ts"
import { MemoryDocuments } from "../../../../src/adapters/memory/documents/state.ts"
import { layer } from "../../../../src/adapters/memory/inbound/intake-store.ts"
import { repliesOf } from "../../../../src/adapters/memory/inbound/replies.ts"
import { suite } from "../../../contracts/inbound/intake-store/index.ts"
import { IntakeWorld } from "../../../contracts/inbound/intake-store/world.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

const world = Layer.effect(
  IntakeWorld,
  Effect.map(MemoryDocuments, (db) =>
    IntakeWorld.of({
      mail: (id) => Effect.sync(() => db.mails.get(id)),
      replies: (mailId) => Effect.sync(() => repliesOf(db, mailId)),
      logged: (mailId) => Effect.sync(() => db.mailConversions.get(mailId))
    })
  )
)

suite("memory", Layer.mergeAll(world, layer(), Accounts.layer).pipe(Layer.provideMerge(memory)))
