import { Effect, Layer, Redacted } from "effect"

import { layer as layerClients } from "../../../src/adapters/postgres/client.ts"
import { layer, QueueName } from "../../../src/adapters/postgres/defer-queue.ts"
import { DeferQueue } from "../../../src/ports/defer-queue.ts"

/** Receives one message, says so, and never finishes it. */
const hold = Effect.gen(function* () {
  const queue = yield* DeferQueue
  yield* queue.consume(
    () =>
      Effect.andThen(
        Effect.sync(() => process.stdout.write("held\n")),
        Effect.never
      ),
    {
      concurrency: 1
    }
  )
})

const { QUEUE_NAME = "", DATABASE_URL = "", VISIBILITY_SECONDS = "" } = process.env
await Effect.runPromise(
  Effect.provide(
    hold,
    layer({ name: QueueName.make(QUEUE_NAME), visibilitySeconds: Number(VISIBILITY_SECONDS) }).pipe(
      Layer.provide(layerClients({ url: Redacted.make(DATABASE_URL) }))
    )
  )
)
