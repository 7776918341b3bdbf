import { Effect } from "effect"

import { layer } from "../../../src/adapters/sqs/defer-queue.ts"
import { sqsCredentials, sqsRegion } from "../../support/vendors/sqs.ts"
import { holdMessage } from "../../support/worlds/hold-message.ts"

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
