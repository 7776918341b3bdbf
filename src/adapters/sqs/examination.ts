import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from "@aws-sdk/client-sqs"
import { type Duration, Effect, Option, Schema } from "effect"

import type { QueueFacts } from "../../domain/doctor/queue.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { RedrivePolicy } from "./dead-letters.ts"
import type { QueueClientOptions } from "./queue-client.ts"

const decodePolicy = Schema.decodeUnknownOption(Schema.fromJsonString(RedrivePolicy))

const numberOf = (text: string | undefined): number | undefined => {
  const number = Number(text ?? Number.NaN)
  return Number.isFinite(number) ? number : undefined
}

const wordsOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return "the SDK threw no error"
  const message = cause.message.split(/[\r\n]|The Canonical String/, 1)[0]!
  return failureText(message === "" ? cause.name : `${cause.name}: ${message}`)
}

/** A consumer's long poll takes a message that is due before this is over. */
const LOOK_AGAIN_AFTER = "3 seconds"

/** Asks for the queue's attributes and its dead-letter queue's. Receives and sends nothing. */
export const examineQueue = (
  options: QueueClientOptions & { readonly queueUrl: string; readonly lookAgainAfter?: Duration.Input }
): Effect.Effect<QueueFacts> =>
  Effect.scoped(
    Effect.gen(function* () {
      const sqs = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new SQSClient({
              region: options.region,
              credentials: options.credentials,
              ignoreConfiguredEndpointUrls: true,
              ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
              maxAttempts: 2
            })
        ),
        (client) => Effect.sync(() => client.destroy())
      )
      const attributes = (QueueUrl: string) =>
        Effect.tryPromise({
          try: (abortSignal) =>
            sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }), { abortSignal }),
          catch: wordsOf
        }).pipe(Effect.map(({ Attributes }): Readonly<Record<string, string>> => Attributes ?? {}))

      /** What can be seen of the dead-letter queue; these credentials may not be allowed to. */
      const dead = (arn: string) =>
        Effect.gen(function* () {
          // arn:aws:sqs:REGION:ACCOUNT:NAME
          const [, , , , account = "", name = ""] = arn.split(":")
          const { QueueUrl = "" } = yield* Effect.tryPromise({
            try: (abortSignal) =>
              sqs.send(new GetQueueUrlCommand({ QueueName: name, QueueOwnerAWSAccountId: account }), {
                abortSignal
              }),
            catch: wordsOf
          })
          return yield* attributes(QueueUrl)
        }).pipe(Effect.catch(() => Effect.succeed<Readonly<Record<string, string>>>({})))

      const own = yield* attributes(options.queueUrl)
      const visible = numberOf(own["ApproximateNumberOfMessages"]) ?? 0
      const later =
        visible === 0
          ? own
          : yield* Effect.delay(attributes(options.queueUrl), options.lookAgainAfter ?? LOOK_AGAIN_AFTER)
      const policy = Option.getOrUndefined(decodePolicy(own["RedrivePolicy"]))
      const letters = policy === undefined ? {} : yield* dead(policy.deadLetterTargetArn)
      return {
        _tag: "Sqs" as const,
        redrive:
          policy === undefined
            ? undefined
            : {
                maxReceives: policy.maxReceiveCount,
                deadLetterQueue: policy.deadLetterTargetArn.split(":").at(-1) ?? "",
                deadLetters: numberOf(letters["ApproximateNumberOfMessages"])
              },
        visibilitySeconds: numberOf(own["VisibilityTimeout"]),
        retentionSeconds: numberOf(own["MessageRetentionPeriod"]),
        deadLetterRetentionSeconds: numberOf(letters["MessageRetentionPeriod"]),
        due: Math.min(visible, numberOf(later["ApproximateNumberOfMessages"]) ?? 0)
      }
    })
  ).pipe(Effect.catch((why) => Effect.succeed<QueueFacts>({ _tag: "Unreachable", why })))
