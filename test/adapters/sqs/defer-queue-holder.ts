import { Effect } from "effect"

import { layer } from "../../../src/adapters/sqs/defer-queue.ts"
import { holdMessage } from "../../support/hold-message.ts"
import { sqsCredentials, sqsRegion } from "../../support/sqs.ts"

const { QUEUE_URL = "", ENDPOINT = "", VISIBILITY_SECONDS = "" } = process.env
await Effect.runPromise(
  Effect.provide(
    holdMessage,
    layer({
      queueUrl: QUEUE_URL,
      endpoint: ENDPOINT,
      region: sqsRegion,
      credentials: sqsCredentials,
      visibilitySeconds: Number(VISIBILITY_SECONDS)
    })
  )
)
