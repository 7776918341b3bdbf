import { Effect, Layer } from "effect"

import * as DeliveryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import * as PollLog from "../../../src/adapters/memory/delivery/event-poll.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { suite } from "../../contracts/delivery/poll-log.ts"

suite(
  "memory",
  Layer.unwrap(
    Effect.sync(() => {
      const database = makeMailDatabase()
      return Layer.fresh(Layer.merge(PollLog.layer(database), DeliveryLog.layer(database)))
    })
  )
)
