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

import { withDeadline } from "../../application/deadline.ts"
import { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withBoundedAnswers } from "../aws/bounded-answers.ts"

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

/** One call with its time limit. */
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
          new StoreUnavailable({ operation, reason: `SQS: ${operation} took too long`, isRetryable: true })
        )
    }
  )

const receive =
  (sqs: SQSClient): QueueClient["receive"] =>
  (QueueUrl, { max, visibilitySeconds, waitSeconds }) => {
    const command = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: Math.min(max, MAX_BATCH),
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: visibilitySeconds
    })
    const limit = (waitSeconds + RECEIVE_MARGIN_SECONDS) * 1000
    return call("ReceiveMessage", (abortSignal) => sqs.send(command, { abortSignal }), limit).pipe(
      Effect.map(({ Messages }) => Messages ?? [])
    )
  }

const hide =
  (sqs: SQSClient): QueueClient["hide"] =>
  (QueueUrl, ReceiptHandle, VisibilityTimeout) => {
    const command = new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout })
    return Effect.asVoid(call("ChangeMessageVisibility", (abortSignal) => sqs.send(command, { abortSignal })))
  }

const showAll =
  (sqs: SQSClient): QueueClient["showAll"] =>
  (QueueUrl, receiptHandles) => {
    const Entries = receiptHandles.map((ReceiptHandle, index) => ({
      Id: String(index),
      ReceiptHandle,
      VisibilityTimeout: 0
    }))
    const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries })
    return Effect.asVoid(
      call("ChangeMessageVisibilityBatch", (abortSignal) => sqs.send(command, { abortSignal }))
    )
  }

const redrivePolicy =
  (sqs: SQSClient): QueueClient["redrivePolicy"] =>
  (QueueUrl) => {
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["RedrivePolicy"] })
    return call("GetQueueAttributes", (abortSignal) => sqs.send(command, { abortSignal })).pipe(
      Effect.map(({ Attributes }) => Attributes?.["RedrivePolicy"])
    )
  }

const noSuchQueue = new StoreUnavailable({
  operation: "GetQueueUrl",
  reason: "SQS: GetQueueUrl named no queue",
  isRetryable: false
})

const urlOf =
  (sqs: SQSClient): QueueClient["urlOf"] =>
  (QueueName, QueueOwnerAWSAccountId) => {
    const command = new GetQueueUrlCommand({ QueueName, QueueOwnerAWSAccountId })
    return call("GetQueueUrl", (abortSignal) => sqs.send(command, { abortSignal })).pipe(
      Effect.flatMap(({ QueueUrl }) =>
        QueueUrl === undefined ? Effect.fail(noSuchQueue) : Effect.succeed(QueueUrl)
      )
    )
  }

const openClient = ({ credentials, endpoint, region }: QueueClientOptions) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      withBoundedAnswers(
        new SQSClient({
          region,
          credentials,
          ignoreConfiguredEndpointUrls: true,
          ...(endpoint === undefined ? {} : { endpoint }),
          // Set here so that the machine's environment cannot override it.
          maxAttempts: MAX_ATTEMPTS,
          retryMode: "standard"
        })
      )
    ),
    (client) => Effect.sync(() => client.destroy())
  )

/** A client that is closed with the scope. */
export const makeQueueClient = (
  options: QueueClientOptions
): Effect.Effect<QueueClient, never, Scope.Scope> =>
  Effect.map(openClient(options), (sqs) => ({
    send: (QueueUrl, MessageBody, DelaySeconds) => {
      const command = new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds })
      return Effect.asVoid(call("SendMessage", (abortSignal) => sqs.send(command, { abortSignal })))
    },
    receive: receive(sqs),
    hide: hide(sqs),
    showAll: showAll(sqs),
    remove: (QueueUrl, ReceiptHandle) => {
      const command = new DeleteMessageCommand({ QueueUrl, ReceiptHandle })
      return Effect.asVoid(call("DeleteMessage", (abortSignal) => sqs.send(command, { abortSignal })))
    },
    redrivePolicy: redrivePolicy(sqs),
    urlOf: urlOf(sqs)
  }))
