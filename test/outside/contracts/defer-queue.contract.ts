import { Context, Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"

import { layer } from "../../../src/adapters/sqs/defer-queue.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { suite } from "../../contracts/mail/defer-queue.ts"
import { killAfterFirstLine } from "../../support/processes/killed-process.ts"
import { type SqsEmulator, sqsAt, sqsCredentials, sqsRegion } from "../../support/vendors/sqs.ts"

const endpoint = process.env["OUTSIDE_SQS_ENDPOINT"] ?? ""
const scope = Scope.makeUnsafe()
let sqs: SqsEmulator
let serial = 0

beforeAll(async () => {
  sqs = await Effect.runPromise(Scope.provide(sqsAt(endpoint), scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const open = (queueUrl: string, visibilitySeconds: number) =>
  Layer.build(
    Layer.fresh(
      layer({ queueUrl, visibilitySeconds, endpoint, region: sqsRegion, credentials: sqsCredentials })
    )
  ).pipe(Effect.map(Context.get(DeferQueue)))

suite(
  "SQS of somebody else's server",
  ({ visibilitySeconds }) =>
    Effect.gen(function* () {
      const { url } = yield* sqs.createQueue(`outside-${++serial}`, 3)
      return {
        queue: yield* open(url, visibilitySeconds),
        second: yield* open(url, visibilitySeconds),
        inject: (body: string) => sqs.send(url, body),
        killHolder: killAfterFirstLine("test/adapters/sqs/message-holder.ts", {
          QUEUE_URL: url,
          ENDPOINT: endpoint,
          VISIBILITY_SECONDS: String(visibilitySeconds)
        })
      }
    }),
  { dedupes: false, virtualTime: false, knowsConsumers: false }
)
