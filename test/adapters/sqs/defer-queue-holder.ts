import { Effect } from "effect"

import { layer } from "../../../src/adapters/sqs/defer-queue.ts"
import { DeferQueue } from "../../../src/ports/defer-queue.ts"
import { sqsCredentials, sqsRegion } from "../../support/sqs.ts"

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

const { QUEUE_URL = "", ENDPOINT = "", VISIBILITY_SECONDS = "" } = process.env
await Effect.runPromise(
  Effect.provide(
    hold,
    layer({
      queueUrl: QUEUE_URL,
      endpoint: ENDPOINT,
      region: sqsRegion,
      credentials: sqsCredentials,
      visibilitySeconds: Number(VISIBILITY_SECONDS)
    })
  )
)
