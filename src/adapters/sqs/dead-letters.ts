import type { Message } from "@aws-sdk/client-sqs"
import { Array as Arr, Effect, Option, Schema } from "effect"

import { decodeDeferredSend } from "../../domain/mail/deferred-send.ts"
import type { DeadLetter, DeferQueue } from "../../ports/mail/defer-queue.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { MAX_BATCH, type QueueClient } from "./queue-client.ts"

/** How long dead letters stay hidden from other readers while one reads them. */
const BROWSE_VISIBILITY_SECONDS = 30

/** Long enough to query all of the vendor's servers; a read without waiting queries only some of them. */
const BROWSE_WAIT_SECONDS = 1

/** How many dead letters are looked through for the one that is wanted. */
const SEARCH_LIMIT = 1_000

/** Where a queue's dead letters go, and after how many receives. */
export const RedrivePolicy = Schema.Struct({
  deadLetterTargetArn: Schema.String,
  // The vendor accepts and returns a number or its text.
  maxReceiveCount: Schema.Union([Schema.Number, Schema.NumberFromString])
})
export type RedrivePolicy = typeof RedrivePolicy.Type

const decodePolicy = Schema.decodeUnknownOption(Schema.fromJsonString(RedrivePolicy))

/** The queue's policy, or none where it has none that can be read. */
export const readPolicy = (
  client: QueueClient,
  queueUrl: string
): Effect.Effect<Option.Option<RedrivePolicy>, StoreUnavailable> =>
  Effect.map(client.redrivePolicy(queueUrl), decodePolicy)

/** The queue of the dead letters, where there is one. */
const findTarget = Effect.fnUntraced(function* (client: QueueClient, queueUrl: string) {
  const policy = yield* readPolicy(client, queueUrl)
  if (Option.isNone(policy)) return undefined
  // arn:aws:sqs:REGION:ACCOUNT:NAME
  const [, , , , account = "", name = ""] = policy.value.deadLetterTargetArn.split(":")
  return { url: yield* client.urlOf(name, account), receives: policy.value.maxReceiveCount }
})

const release = (client: QueueClient, url: string, messages: Iterable<Message>) =>
  Effect.forEach(
    Arr.chunksOf(
      Array.from(messages, (message) => message.ReceiptHandle).filter((handle) => handle !== undefined),
      MAX_BATCH
    ),
    (handles) => client.showAll(url, handles),
    { discard: true }
  ).pipe(
    Effect.catch((cause) =>
      Effect.logWarning("dead letters stay hidden until their visibility time is over", cause)
    )
  )

/** Receives until there is enough or no more, passes that on, and releases what was received. */
const browse = <A>(
  client: QueueClient,
  url: string,
  enough: (seen: ReadonlyMap<string, Message>) => boolean,
  use: (seen: ReadonlyMap<string, Message>) => Effect.Effect<A, StoreUnavailable>
): Effect.Effect<A, StoreUnavailable> =>
  Effect.suspend(() => {
    const seen = new Map<string, Message>()
    return Effect.gen(function* () {
      while (!enough(seen)) {
        const batch = yield* client.receive(url, {
          max: MAX_BATCH,
          waitSeconds: BROWSE_WAIT_SECONDS,
          visibilitySeconds: BROWSE_VISIBILITY_SECONDS
        })
        if (batch.length === 0) break
        for (const message of batch) if (message.MessageId !== undefined) seen.set(message.MessageId, message)
      }
      return yield* use(seen)
    }).pipe(Effect.ensuring(Effect.suspend(() => release(client, url, seen.values()))))
  })

/**
 * The dead letters of a queue. SQS has no way to look at messages without receiving them: a listing hides them for up to 30
 * seconds from other readers (who then see fewer), and releases them when it ends. It is an unordered sample: SQS knows neither
 * when nor why a message died.
 */
export const makeDeadLetters = (
  client: QueueClient,
  queueUrl: string
): Pick<DeferQueue["Service"], "deadLetters" | "redrive" | "removeUnreadable"> => {
  const find = findTarget(client, queueUrl)
  /** Receives the dead letter and passes its parts on; false when the id is unknown. */
  const withLetter = (
    id: string,
    use: (url: string, body: string, receipt: string) => Effect.Effect<boolean, StoreUnavailable>
  ) =>
    Effect.gen(function* () {
      const target = yield* find
      if (target === undefined) return false
      return yield* browse(
        client,
        target.url,
        (seen) => seen.has(id) || seen.size >= SEARCH_LIMIT,
        (seen) => {
          const { Body, ReceiptHandle } = seen.get(id) ?? {}
          return Body === undefined || ReceiptHandle === undefined
            ? Effect.succeed(false)
            : use(target.url, Body, ReceiptHandle)
        }
      )
    })
  return {
    deadLetters: Effect.fnUntraced(function* ({ limit }) {
      const target = yield* find
      if (target === undefined) return []
      return yield* browse(
        client,
        target.url,
        (seen) => seen.size >= limit,
        (seen) =>
          Effect.succeed(
            Array.from(seen, ([id, { Body = "" }]): DeadLetter => ({
              id,
              diedAt: null,
              // Reading a dead letter counts as a receive: the message's own count is too high.
              receives: target.receives,
              reason: null,
              message: Option.getOrNull(decodeDeferredSend(Body))
            })).slice(0, limit)
          )
      )
    }),
    /** Sends the message again, then deletes the dead one: a crash in between leaves both, never neither. */
    redrive: Effect.fn("SqsDeferQueue.redrive")((id) =>
      withLetter(id, (url, body, receipt) =>
        Effect.as(Effect.andThen(client.send(queueUrl, body, 0), client.remove(url, receipt)), true)
      )
    ),
    removeUnreadable: Effect.fn("SqsDeferQueue.removeUnreadable")((id) =>
      withLetter(id, (url, body, receipt) =>
        Option.isSome(decodeDeferredSend(body))
          ? Effect.succeed(false)
          : Effect.as(client.remove(url, receipt), true)
      )
    )
  }
}
