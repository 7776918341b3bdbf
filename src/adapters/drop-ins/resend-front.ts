import { Effect, Layer, Result } from "effect"

import { Enqueue } from "../../application/send-queue/enqueue.ts"
import { SenderAccess, type SenderTooFast } from "../../application/send-queue/sender-access.ts"
import { ringBell } from "../../application/work-bell.ts"
import { isUuid, QueueId } from "../../domain/ids.ts"
import { MAX_KEY_LENGTH } from "../../domain/mail/message.ts"
import { defaultCategory, type SenderToken } from "../../domain/mail/sender-token.ts"
import { EmailLogQuery } from "../../ports/delivery/email-log-query.ts"
import { SendQueue } from "../../ports/mail/send-queue.ts"
import {
  VendorApi,
  type VendorAnswer,
  type VendorRefusal,
  type VendorRequest
} from "../../ports/mail/vendor-api.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { failure, notTaken, type ResendAnswer, type ResendError, success } from "./resend-answers.ts"
import { MAX_BATCH, readBatch } from "./resend-batch.ts"
import { findEmail, notFound } from "./resend-log.ts"
import { cancelledAs, missingTime, movedAs, queueBody, refusedAs } from "./resend-queue.ts"
import { type Read, requestOf, type ResendEmail, type Scheduled } from "./resend-request.ts"
import { emailOf } from "./resend-wire.ts"
import { batchAnswer } from "./resend.ts"

type Answer = ResendAnswer<unknown> & { readonly retryAfterSeconds?: number }

const answerOf = ({ data, error, retryAfterSeconds }: Answer): VendorAnswer =>
  error === null
    ? { status: 200, body: data }
    : {
        status: error.statusCode,
        body: {
          statusCode: error.statusCode,
          name: error.name,
          message: error.message
        } satisfies ResendError,
        ...(retryAfterSeconds === undefined
          ? {}
          : {
              headers: {
                "retry-after": String(retryAfterSeconds),
                "ratelimit-remaining": "0",
                "ratelimit-reset": String(retryAfterSeconds)
              }
            })
      }

const away = failure(
  "application_error",
  503,
  "Postlane's database does not answer now. Send again with the same idempotency key"
)

const REFUSALS = {
  "no token": failure(
    "missing_api_key",
    401,
    "Missing API key in the authorization header: give a sender token (postlane token create --right send)"
  ),
  "unknown token": failure("invalid_api_key", 403, "The sender token is unknown or revoked"),
  "no json": failure("validation_error", 400, "The body must be JSON"),
  "too large": failure("validation_error", 413, "The body is too large"),
  unavailable: away,
  failed: failure("application_error", 500, "Something failed inside; the log knows more")
} as const

const refuse = (refusal: VendorRefusal): VendorAnswer =>
  answerOf(
    refusal.why === "too fast"
      ? {
          ...failure("rate_limit_exceeded", 429, refusal.message),
          retryAfterSeconds: refusal.retryAfterSeconds
        }
      : REFUSALS[refusal.why]
  )

/** The key of a call; undefined where it names none. */
const keyOf = ({ headers }: VendorRequest): Result.Result<string | undefined, Answer> => {
  const key = headers["idempotency-key"]
  return key === undefined || (key !== "" && key.length <= MAX_KEY_LENGTH)
    ? Result.succeed(key)
    : Result.fail(
        failure(
          "invalid_idempotency_key",
          400,
          `The idempotency key must have 1 to ${MAX_KEY_LENGTH} characters`
        )
      )
}

const readMail = (body: unknown, token: SenderToken, key: string | undefined): Read => {
  const email = emailOf(body)
  return Result.isFailure(email)
    ? { refused: email.failure }
    : requestOf(
        email.success as ResendEmail,
        { category: defaultCategory(token), source: `resend:${token.name}` },
        key
      )
}

const tooFast = ({ message, retryAfterSeconds }: SenderTooFast): Effect.Effect<Answer> =>
  Effect.succeed({ ...failure("rate_limit_exceeded", 429, message), retryAfterSeconds })

/** Sending, on the queue. */
const makeSending = Effect.gen(function* () {
  const enqueue = yield* Enqueue
  const access = yield* SenderAccess
  const put = (token: SenderToken, mails: ReadonlyArray<Scheduled>, batchKeys?: ReadonlyArray<string>) =>
    mails.length === 0
      ? Effect.succeed([])
      : enqueue.all(mails.map(queueBody), {
          allow: (requests) =>
            Effect.andThen(access.allow(token, requests), access.take(token, requests.length)),
          sender: token.id,
          batchKeys
        })
  const answered = (
    work: ReturnType<typeof put>,
    isAlone: boolean,
    shown: (queued: Effect.Success<ReturnType<typeof put>>) => unknown
  ) =>
    work.pipe(
      Effect.map((queued): Answer => success(shown(queued))),
      Effect.catchTags({
        InvalidRequest: (refused) => Effect.succeed<Answer>(refusedAs(refused, isAlone)),
        QueueRefused: (refused) => Effect.succeed<Answer>(refusedAs(refused, isAlone)),
        SenderNotAllowed: ({ issues }) =>
          Effect.succeed<Answer>(
            failure(
              "validation_error",
              403,
              issues.map(({ message, path }) => `${path}: ${message}`).join("; ")
            )
          ),
        SenderTooFast: tooFast,
        StoreUnavailable: () => Effect.succeed<Answer>(away)
      })
    )
  return {
    one: (request: VendorRequest, token: SenderToken): Effect.Effect<Answer> => {
      const key = keyOf(request)
      if (Result.isFailure(key)) return Effect.succeed(key.failure)
      const read = readMail(request.body, token, key.success)
      if ("refused" in read) return Effect.succeed(read.refused)
      return answered(put(token, [read]), true, ([queued]) => ({ id: queued?.id }))
    },
    batch: (request: VendorRequest, token: SenderToken): Effect.Effect<Answer> => {
      const key = keyOf(request)
      if (Result.isFailure(key)) return Effect.succeed(key.failure)
      const { body } = request
      if (!Array.isArray(body) || body.length === 0 || body.length > MAX_BATCH)
        return Effect.succeed(
          failure("validation_error", 422, `a batch is a list of 1 to ${MAX_BATCH} mails`)
        )
      const { keys, reads } = readBatch(body, key.success, (one, own) => readMail(one, token, own))
      const permissive = request.headers["x-batch-validation"] === "permissive"
      const refused = reads.find((read) => "refused" in read)
      if (refused !== undefined && !permissive) return Effect.succeed(refused.refused)
      const mails = reads.flatMap((read) => ("refused" in read ? [] : [read]))
      return answered(put(token, mails, keys), mails.length === 1, (queued) =>
        batchAnswer(reads, queued, permissive)
      )
    }
  }
})

/** The mail's id, which is in the path: Python and Go repeat it in the body by the first name, Ruby by the second. */
const IDS: ReadonlySet<string> = new Set(["id", "email_id"])

/** The new time of an update; `refused` where it names none, or more. */
const timeOf = (body: unknown): Result.Result<string, Answer> => {
  const { scheduled_at: at, ...more }: Readonly<Record<string, unknown>> =
    typeof body === "object" && body !== null ? { ...body } : {}
  const other = Object.keys(more).find((name) => more[name] !== null && !IDS.has(name))
  if (other !== undefined) return Result.fail(notTaken(`${other}: only scheduled_at can be changed`))
  return typeof at === "string" ? Result.succeed(at) : Result.fail(missingTime)
}

/** Mails that were sent or queued. */
const makeMails = Effect.gen(function* () {
  const queue = yield* SendQueue
  const log = yield* EmailLogQuery
  /** A token's own mail alone: all that comes here is in the queue. */
  const own = <E>(
    id: string,
    token: SenderToken,
    work: (id: QueueId) => Effect.Effect<Answer, E>
  ): Effect.Effect<Answer, E | StoreUnavailable> => {
    if (!isUuid(id)) return Effect.succeed<Answer>(notFound())
    const queueId = QueueId.make(id)
    return Effect.flatMap(queue.find(queueId), (found): Effect.Effect<Answer, E> =>
      found?.sender === token.id ? work(queueId) : Effect.succeed<Answer>(notFound())
    )
  }
  const storeAway = () => Effect.succeed<Answer>(away)
  return {
    get: (id: string, token: SenderToken): Effect.Effect<Answer> =>
      own(id, token, () =>
        Effect.map(findEmail({ log, queue }, id), (found): Answer =>
          found === undefined ? notFound() : success(found)
        )
      ).pipe(Effect.catch(storeAway)),
    cancel: (id: string, token: SenderToken): Effect.Effect<Answer> =>
      own(id, token, (queueId) =>
        Effect.map(queue.cancel(queueId), (state): Answer => cancelledAs(id, state))
      ).pipe(Effect.catch(storeAway)),
    update: (id: string, body: unknown, token: SenderToken): Effect.Effect<Answer> => {
      const at = timeOf(body)
      if (Result.isFailure(at)) return Effect.succeed(at.failure)
      const moved = (queueId: QueueId) =>
        queue.reschedule(queueId, at.success).pipe(
          Effect.tap(() => ringBell("queue")),
          Effect.map((state): Answer => movedAs(id, state))
        )
      return own(id, token, moved).pipe(
        Effect.catchTags({
          QueueRefused: (refused) => Effect.succeed<Answer>(refusedAs(refused, true)),
          StoreUnavailable: storeAway
        })
      )
    }
  }
})

/** Parts of Resend that Postlane lacks, or has elsewhere. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["domains", "domains are set up at the providers: see postlane doctor"],
  ["api-keys", "sender tokens are made with postlane token create --right send"],
  ["webhooks", "events are sent by event hooks: see /api/admin/event-hooks"],
  ["audiences", "Postlane keeps no contacts"],
  ["contacts", "Postlane keeps no contacts"],
  ["segments", "Postlane keeps no contacts"],
  ["broadcasts", "send a batch, of category marketing"],
  ["templates", "render the mail first, and pass html"],
  ["topics", "topics are kept by Resend"]
])

const lacking = ({ method, path: [first = "", ...rest] }: VendorRequest): Answer => {
  const known = ELSEWHERE.get(first)
  if (known !== undefined) return failure("not_found", 404, `Not there at Postlane: ${known}`)
  if (first === "emails" && rest.length <= 2)
    return failure(
      "method_not_allowed",
      405,
      `Postlane takes no ${method} here: it sends, reads, cancels and reschedules mails`
    )
  return failure("not_found", 404, "Postlane has no such route of Resend's API")
}

/** Resend's API, on the send queue. Its vendor's own SDKs use it by a base URL. */
export const layer: Layer.Layer<VendorApi, never, EmailLogQuery | Enqueue | SendQueue | SenderAccess> =
  Layer.effect(
    VendorApi,
    Effect.gen(function* () {
      const sending = yield* makeSending
      const mails = yield* makeMails
      const answer = (request: VendorRequest, token: SenderToken): Effect.Effect<Answer> => {
        const { body, method, path } = request
        const [first, second, third, ...more] = path
        if (first !== "emails" || more.length > 0) return Effect.succeed(lacking(request))
        if (method === "POST" && second === undefined) return sending.one(request, token)
        if (method === "POST" && second === "batch" && third === undefined)
          return sending.batch(request, token)
        if (second === undefined) return Effect.succeed(lacking(request))
        if (method === "POST" && third === "cancel") return mails.cancel(second, token)
        if (third !== undefined) return Effect.succeed(lacking(request))
        if (method === "GET") return mails.get(second, token)
        return method === "PATCH" ? mails.update(second, body, token) : Effect.succeed(lacking(request))
      }
      return VendorApi.of({
        refuse,
        answer: (request, token) => Effect.map(answer(request, token), answerOf)
      })
    })
  )
