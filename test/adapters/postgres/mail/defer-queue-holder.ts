import { Effect, Layer, Redacted } from "effect"

import { layer as layerClients } from "../../../../src/adapters/postgres/client.ts"
import { layer, QueueName } from "../../../../src/adapters/postgres/mail/defer-queue.ts"
import { holdMessage } from "../../../support/worlds/hold-message.ts"

const { QUEUE_NAME = "", DATABASE_URL = "", VISIBILITY_SECONDS = "" } = process.env
await Effect.runPromise(
  Effect.provide(
    holdMessage,
    layer({ name: QueueName.make(QUEUE_NAME), visibilitySeconds: Number(VISIBILITY_SECONDS) }).pipe(
      Layer.provide(layerClients({ url: Redacted.make(DATABASE_URL) }))
    )
  )
)
