import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
  SQSClient
} from "@aws-sdk/client-sqs"
import { Effect, type Scope } from "effect"
import { buildApp } from "fauxqs"

/** The SDK's settings for the emulator, which checks no signature. */
export const sqsCredentials = { accessKeyId: "test", secretAccessKey: "test" }
export const sqsRegion = "us-east-1"

export interface SqsEmulator {
  readonly endpoint: string
  /** A new queue; with `maxReceiveCount`, one that has a dead-letter queue. */
  readonly createQueue: (
    name: string,
    maxReceiveCount?: number
  ) => Effect.Effect<{ readonly url: string; readonly deadLetterUrl: string | undefined }>
  readonly send: (url: string, body: string) => Effect.Effect<void>
  /** Messages that are visible, delayed and in flight. */
  readonly count: (url: string) => Effect.Effect<number>
}

/** An SQS emulator on 127.0.0.1, any port, for as long as the scope is open. */
export const startSqs: Effect.Effect<SqsEmulator, never, Scope.Scope> = Effect.gen(function* () {
  const app = yield* Effect.acquireRelease(
    Effect.sync(() => buildApp({ logger: false })),
    (server) =>
      Effect.sync(() => {
        // Its long polls go on for up to 20 s after their clients have gone: nobody waits for them.
        server.server.closeAllConnections()
        void server.close()
      })
  )
  return yield* sqsAt(yield* Effect.promise(() => app.listen({ port: 0, host: "127.0.0.1" })))
})

/** An emulator that runs already. */
export const sqsAt = Effect.fnUntraced(function* (
  endpoint: string
): Effect.fn.Return<SqsEmulator, never, Scope.Scope> {
  const client = yield* Effect.acquireRelease(
    Effect.sync(() => new SQSClient({ endpoint, region: sqsRegion, credentials: sqsCredentials })),
    (sqs) => Effect.sync(() => sqs.destroy())
  )

  const attributes = (QueueUrl: string) =>
    Effect.promise(() =>
      client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }))
    ).pipe(Effect.map(({ Attributes }): Record<string, string> => Attributes ?? {}))

  const create = (QueueName: string, Attributes: Record<string, string>) =>
    Effect.promise(() => client.send(new CreateQueueCommand({ QueueName, Attributes }))).pipe(
      Effect.map(({ QueueUrl }) => QueueUrl ?? "")
    )

  return {
    endpoint,
    createQueue: (name, maxReceiveCount) =>
      Effect.gen(function* () {
        if (maxReceiveCount === undefined) return { url: yield* create(name, {}), deadLetterUrl: undefined }
        // 14 days: a dead letter keeps its age.
        const deadLetterUrl = yield* create(`${name}-dead`, { MessageRetentionPeriod: "1209600" })
        const { QueueArn: deadLetterTargetArn } = yield* attributes(deadLetterUrl)
        const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount })
        return { url: yield* create(name, { RedrivePolicy }), deadLetterUrl }
      }),
    send: (QueueUrl, MessageBody) =>
      Effect.promise(() => client.send(new SendMessageCommand({ QueueUrl, MessageBody }))).pipe(
        Effect.asVoid
      ),
    count: (url) =>
      Effect.map(
        attributes(url),
        (all) =>
          Number(all["ApproximateNumberOfMessages"]) +
          Number(all["ApproximateNumberOfMessagesNotVisible"]) +
          Number(all["ApproximateNumberOfMessagesDelayed"])
      )
  }
})
