import { Context, Effect, Layer, Result } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import type { FieldIssue } from "../../domain/field-issues.ts"
import { makeMessage, payloadOf, type SendRequest } from "../../domain/mail/message.ts"
import { MAX_BATCH } from "../../domain/mail/queue.ts"
import { decodeQueueRequest } from "../../domain/mail/read-request.ts"
import { InvalidRequest } from "../../domain/mail/send-result.ts"
import { isBulk, linkingOf, linkIssues } from "../../domain/mail/suppression/one-click.ts"
import { type QueueEntry, type Queued, type QueueRefused, SendQueue } from "../../ports/mail/send-queue.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { MailerConfig } from "../mail/sending.ts"
import { ringBell } from "../work-bell.ts"

/** The caller of the queue. */
interface Caller<E> {
  /** Whether the caller may send these mails: asked once all of them are readable, and before any is written. */
  readonly allow: (mails: ReadonlyArray<SendRequest>) => Effect.Effect<void, E>
  /** The id of the caller's sender token. */
  readonly sender: string | undefined
  /** Of mails that are one batch under one key: the keys that the mails of any batch under it may have. */
  readonly batchKeys?: ReadonlyArray<string> | undefined
}

export const ANYBODY: Caller<never> = { allow: () => Effect.void, sender: undefined }

/** Queues mail (QUEUE-2): a request is checked in full before anything is written, and a batch is queued as a whole or not at all. */
export class Enqueue extends Context.Service<
  Enqueue,
  {
    /** The body of one request. */
    readonly one: <E = never>(
      body: unknown,
      caller?: Caller<E>
    ) => Effect.Effect<Queued, InvalidRequest | QueueRefused | StoreUnavailable | E>
    /** The bodies of a batch; issues name the place of their request. */
    readonly all: <E = never>(
      bodies: ReadonlyArray<unknown>,
      caller?: Caller<E>
    ) => Effect.Effect<ReadonlyArray<Queued>, InvalidRequest | QueueRefused | StoreUnavailable | E>
  }
>()("postlane/application/Enqueue") {}

/** A request that was checked. */
interface Readable {
  readonly mail: SendRequest
  readonly request: object
  readonly payload: string
}

const encoder = new TextEncoder()

/** What is wrong with the requests of a batch, by the place of each. */
const placedIssues = (entries: ReadonlyArray<Result.Result<Readable, ReadonlyArray<FieldIssue>>>) =>
  entries.flatMap((entry, index) =>
    Result.isFailure(entry)
      ? entry.failure.map(({ message, path }) => ({
          path: path === "" ? `emails.${index}` : `emails.${index}.${path}`,
          message
        }))
      : []
  )

export const layer: Layer.Layer<Enqueue, never, SendQueue | MailerConfig | Digest> = Layer.effect(
  Enqueue,
  Effect.gen(function* () {
    const queue = yield* SendQueue
    const { defaults } = yield* MailerConfig
    const digest = yield* Digest

    const read = (body: unknown): Result.Result<Readable, ReadonlyArray<FieldIssue>> =>
      Result.flatMap(decodeQueueRequest(body), ({ mail, sendAt }) =>
        Result.flatMap(makeMessage(mail, defaults), (message) => {
          // Whether a link can be made shows when it is sent, in another process perhaps.
          const issues = isBulk(message) ? linkIssues(message, linkingOf(message, true)) : []
          if (issues.length > 0) return Result.fail(issues)
          return Result.succeed({
            mail,
            request: sendAt === undefined ? mail : { ...mail, sendAt },
            payload: payloadOf(message)
          })
        })
      )

    const hexOf = (text: string) => digest.digestHex(sha256, encoder.encode(text))

    const hashed =
      (sender: string | undefined) =>
      ({ payload, request }: Readable): Effect.Effect<QueueEntry> =>
        Effect.map(hexOf(payload), (payloadHash) => ({
          request,
          payloadHash,
          sender
        }))

    const put = Effect.fnUntraced(function* <E>(
      entries: ReadonlyArray<Readable>,
      { allow, batchKeys, sender }: Caller<E>
    ) {
      yield* allow(entries.map(({ mail }) => mail))
      const hashes = yield* Effect.forEach(entries, hashed(sender))
      const queued = yield* queue.enqueue(
        hashes,
        batchKeys && {
          keys: batchKeys,
          hash: yield* hexOf(hashes.map(({ payloadHash }) => payloadHash).join())
        }
      )
      yield* ringBell("queue")
      return queued
    })

    return Enqueue.of({
      one: Effect.fnUntraced(function* <E>(body: unknown, caller: Caller<E> = ANYBODY) {
        const entry = read(body)
        if (Result.isFailure(entry)) return yield* new InvalidRequest({ issues: entry.failure })
        const [queued] = yield* put([entry.success], caller)
        return queued === undefined ? yield* Effect.die("the queue answered no request") : queued
      }),
      all: Effect.fnUntraced(function* <E>(bodies: ReadonlyArray<unknown>, caller: Caller<E> = ANYBODY) {
        if (bodies.length === 0 || bodies.length > MAX_BATCH)
          return yield* new InvalidRequest({
            issues: [{ path: "emails", message: `must have 1 to ${MAX_BATCH} requests` }]
          })
        const entries = bodies.map(read)
        const issues = placedIssues(entries)
        if (issues.length > 0) return yield* new InvalidRequest({ issues })
        return yield* put(
          entries.flatMap((entry) => (Result.isSuccess(entry) ? [entry.success] : [])),
          caller
        )
      })
    })
  })
)
