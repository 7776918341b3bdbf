import { Effect, Result } from "effect"

import { ANYBODY } from "../../application/send-queue/enqueue.ts"
import { isUuid, QueueId } from "../../domain/ids.ts"
import type { QueueState } from "../../domain/mail/queue.ts"
import type { InvalidRequest } from "../../domain/mail/send-result.ts"
import type { Queued, QueueRefused } from "../../ports/mail/send-queue.ts"
import { failure, notTaken, type ResendAnswer, type ResendFailure, success } from "./resend-answers.ts"
import { notFound } from "./resend-log.ts"
import { renamed, type Scheduled } from "./resend-request.ts"
import { type Env, storesAway, type UseStores } from "./resend-stores.ts"

/** What the queue says of a request, in the words of Resend's call. */
const inTheirWords = (path: string, isAlone: boolean): string =>
  (isAlone ? path.replace(/^emails\.0\./, "") : path).replace(/(^|\.)sendAt$/, "$1scheduledAt")

/** Why a request was not queued, as Resend's error. */
export const refusedAs = (refused: QueueRefused | InvalidRequest, isAlone: boolean): ResendFailure => {
  if (refused._tag === "InvalidRequest") return failure("validation_error", 422, refused.message)
  const { issue, message, why } = refused
  switch (why) {
    case "conflict":
      return failure("invalid_idempotent_request", 409, message)
    case "in progress":
      return failure("concurrent_idempotent_requests", 409, "A transaction that queues this key is open")
    case "invalid":
    case "too large": {
      const path = inTheirWords(issue.path, isAlone)
      return failure("validation_error", 422, path === "" ? issue.message : `${path}: ${issue.message}`)
    }
  }
}

/** The body of a request of the queue. */
export const queueBody = ({ request, sendAt }: Scheduled): object =>
  sendAt === undefined ? request : { ...request, sendAt }

/** The mails of a call in the queue, all or none; undefined where no database is configured. */
export const enqueueAll = async (
  useStores: UseStores,
  env: Env,
  mails: ReadonlyArray<Scheduled>,
  batchKeys?: ReadonlyArray<string>
): Promise<ResendAnswer<ReadonlyArray<Queued>> | undefined> => {
  const bodies = mails.map(queueBody)
  const used = await useStores(env, ({ enqueue }) =>
    (bodies.length === 0 ? Effect.succeed([]) : enqueue.all(bodies, { ...ANYBODY, batchKeys })).pipe(
      Effect.map(success),
      Effect.catchTags({
        InvalidRequest: (refused) => Effect.succeed(refusedAs(refused, bodies.length === 1)),
        QueueRefused: (refused) => Effect.succeed(refusedAs(refused, bodies.length === 1))
      })
    )
  )
  if (Result.isSuccess(used)) return used.success
  return used.failure.isConfigured ? storesAway(used.failure) : undefined
}

export const noQueue = notTaken(
  "scheduledAt needs the send queue: set DB_URL and DB_SECRET_KEY, or call at the time, from a job"
)

/** A mail that waits in the queue, or waited there. */
export interface QueuedEmail {
  readonly object: "email"
  readonly id: string
}

/** The refusal of an update without a time. */
export const missingTime = failure("missing_required_field", 422, "Missing `scheduled_at` field.")

/** What became of a request that was to be cancelled. */
export const cancelledAs = (id: string, state: QueueState | undefined): ResendAnswer<QueuedEmail> => {
  if (state === undefined) return notFound()
  return state === "cancelled"
    ? success({ object: "email", id })
    : failure("validation_error", 422, `The mail cannot be cancelled any more: it is ${state}`)
}

/** What became of a request that was to be moved to another time. */
export const movedAs = (id: string, state: QueueState | undefined): ResendAnswer<QueuedEmail> => {
  if (state === undefined) return notFound()
  return state === "queued"
    ? success({ object: "email", id })
    : failure("validation_error", 422, `The mail cannot be changed any more: it is ${state}`)
}

/** `emails.cancel`: of a mail that waits in the queue. */
export const cancelQueued = async (useStores: UseStores, env: Env, id: string) => {
  if (!isUuid(id)) return notFound()
  const used = await useStores(env, ({ queue }) => queue.cancel(QueueId.make(id)))
  return Result.isFailure(used) ? storesAway(used.failure) : cancelledAs(id, used.success)
}

/** The options of `emails.update`. */
export interface ResendUpdate {
  readonly id: string
  /** ISO 8601 with its time zone, at most 30 days ahead. */
  readonly scheduledAt: string
}

/** `emails.update`: the time of a mail that waits in the queue. */
export const updateQueued = async (
  useStores: UseStores,
  env: Env,
  update: ResendUpdate
): Promise<ResendAnswer<QueuedEmail>> => {
  const named = renamed(update, ["id", "scheduledAt"])
  if (Result.isFailure(named)) return notTaken(named.failure)
  const { id, scheduledAt }: Partial<ResendUpdate> = named.success
  if (typeof id !== "string" || !isUuid(id)) return notFound()
  if (typeof scheduledAt !== "string") return missingTime
  const used = await useStores(env, ({ queue }) =>
    queue.reschedule(QueueId.make(id), scheduledAt).pipe(
      Effect.map((state) => movedAs(id, state)),
      Effect.catchTag("QueueRefused", (refused) => Effect.succeed(refusedAs(refused, true)))
    )
  )
  return Result.isFailure(used) ? storesAway(used.failure) : used.success
}
