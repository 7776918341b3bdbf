import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
  type SQSClientConfig
} from "@aws-sdk/client-sqs"
import { Effect, type Duration, type Scope } from "effect"

import { withDeadline } from "../../domain/deadline.ts"
import { StoreUnavailable } from "../../ports/store-unavailable.ts"

/** Time limit of a call that does not wait for messages, its repetitions included. */
const CALL_TIME_LIMIT: Duration.Input = "5 seconds"

/** On top of the seconds that a long poll may wait. */
const RECEIVE_MARGIN_SECONDS = 5

/** Attempts of the SDK on throttling, 5xx and connection errors. A repeated `SendMessage` may duplicate its message. */
const MAX_ATTEMPTS = 3

/** The most that one receive returns (vendor limit). */
export const MAX_BATCH = 10

export interface QueueClientOptions {
  readonly region: string
  /** Instead of the host of the queue's URL: emulators, private endpoints. */
  readonly endpoint?: string
  readonly credentials: NonNullable<SQSClientConfig["credentials"]>
}

/** The calls that the adapter makes, each with its time limit, failing with `StoreUnavailable`. */
export interface QueueClient {
  readonly send: (url: string, body: string, delaySeconds: number) => Effect.Effect<void, StoreUnavailable>
  readonly receive: (
    url: string,
    options: { readonly max: number; readonly waitSeconds: number; readonly visibilitySeconds: number }
  ) => Effect.Effect<ReadonlyArray<Message>, StoreUnavailable>
  readonly hide: (
    url: string,
    receiptHandle: string,
    seconds: number
  ) => Effect.Effect<void, StoreUnavailable>
  /** Shows up to {@link MAX_BATCH} messages again; one that is gone or taken is passed over. */
  readonly showAll: (
    url: string,
    receiptHandles: ReadonlyArray<string>
  ) => Effect.Effect<void, StoreUnavailable>
  readonly remove: (url: string, receiptHandle: string) => Effect.Effect<void, StoreUnavailable>
  /** The `RedrivePolicy` attribute, a JSON text. */
  readonly redrivePolicy: (url: string) => Effect.Effect<string | undefined, StoreUnavailable>
  readonly urlOf: (name: string, owner: string) => Effect.Effect<string, StoreUnavailable>
}

/** A client that is closed with the scope. */
export const makeQueueClient = (
  options: QueueClientOptions
): Effect.Effect<QueueClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sqs = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new SQSClient({
            region: options.region,
            credentials: options.credentials,
            ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
            // Set here so that the machine's environment cannot override it.
            maxAttempts: MAX_ATTEMPTS,
            retryMode: "standard"
          })
      ),
      (client) => Effect.sync(() => client.destroy())
    )

    const call = <A>(
      operation: string,
      run: (abortSignal: AbortSignal) => Promise<A>,
      duration: Duration.Input = CALL_TIME_LIMIT
    ): Effect.Effect<A, StoreUnavailable> =>
      withDeadline(
        Effect.tryPromise({
          try: run,
          catch: (cause) =>
            new StoreUnavailable({ operation, reason: `SQS: ${operation} failed`, isRetryable: true, cause })
        }),
        {
          duration,
          onTimeout: () =>
            Effect.fail(
              new StoreUnavailable({
                operation,
                reason: `SQS: ${operation} took too long`,
                isRetryable: true
              })
            )
        }
      )

    return {
      send: (QueueUrl, MessageBody, DelaySeconds) =>
        call("SendMessage", (abortSignal) =>
          sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds }), { abortSignal })
        ).pipe(Effect.asVoid),
      receive: (QueueUrl, { max, waitSeconds, visibilitySeconds }) =>
        call(
          "ReceiveMessage",
          (abortSignal) =>
            sqs.send(
              new ReceiveMessageCommand({
                QueueUrl,
                MaxNumberOfMessages: Math.min(max, MAX_BATCH),
                WaitTimeSeconds: waitSeconds,
                VisibilityTimeout: visibilitySeconds
              }),
              { abortSignal }
            ),
          (waitSeconds + RECEIVE_MARGIN_SECONDS) * 1000
        ).pipe(Effect.map(({ Messages }) => Messages ?? [])),
      hide: (QueueUrl, ReceiptHandle, VisibilityTimeout) =>
        call("ChangeMessageVisibility", (abortSignal) =>
          sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }), {
            abortSignal
          })
        ).pipe(Effect.asVoid),
      showAll: (QueueUrl, receiptHandles) =>
        call("ChangeMessageVisibilityBatch", (abortSignal) =>
          sqs.send(
            new ChangeMessageVisibilityBatchCommand({
              QueueUrl,
              Entries: receiptHandles.map((ReceiptHandle, index) => ({
                Id: String(index),
                ReceiptHandle,
                VisibilityTimeout: 0
              }))
            }),
            { abortSignal }
          )
        ).pipe(Effect.asVoid),
      remove: (QueueUrl, ReceiptHandle) =>
        call("DeleteMessage", (abortSignal) =>
          sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }), { abortSignal })
        ).pipe(Effect.asVoid),
      redrivePolicy: (QueueUrl) =>
        call("GetQueueAttributes", (abortSignal) =>
          sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["RedrivePolicy"] }), {
            abortSignal
          })
        ).pipe(Effect.map(({ Attributes }) => Attributes?.["RedrivePolicy"])),
      urlOf: (QueueName, QueueOwnerAWSAccountId) =>
        call("GetQueueUrl", (abortSignal) =>
          sqs.send(new GetQueueUrlCommand({ QueueName, QueueOwnerAWSAccountId }), { abortSignal })
        ).pipe(
          Effect.flatMap(({ QueueUrl }) =>
            QueueUrl === undefined
              ? Effect.fail(
                  new StoreUnavailable({
                    operation: "GetQueueUrl",
                    reason: "SQS: GetQueueUrl named no queue",
                    isRetryable: false
                  })
                )
              : Effect.succeed(QueueUrl)
          )
        )
    }
  })
