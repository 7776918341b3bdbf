import { Effect, Result, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"

import { Enqueue } from "../../../../application/send-queue/enqueue.ts"
import { SenderAccess } from "../../../../application/send-queue/sender-access.ts"
import { QueueId } from "../../../../domain/ids.ts"
import { MAX_BATCH, QueueState } from "../../../../domain/mail/queue.ts"
import { QueueableRequest } from "../../../../domain/mail/read-request.ts"
import { SendResult } from "../../../../domain/mail/send-result.ts"
import { strictDecoder } from "../../../../domain/request-body.ts"
import { type Queued, type QueueRefused, SendQueue } from "../../../../ports/mail/send-queue.ts"
import { apiOf, builtWith, isUuid } from "../../server/endpoint.ts"
import { readLargeJson } from "../../server/json-body.ts"
import {
  InvalidRequest,
  invalidRequest,
  problem,
  problemResponse,
  problemSchema,
  Unavailable,
  unavailable
} from "../../server/problem.ts"
import {
  CurrentSender,
  makeCaller,
  makeGoesOut,
  MaySend,
  NoProvider,
  senderRefusals,
  SendsMail
} from "../../server/sender.ts"
import { sendRefusals } from "./send-refusals.ts"

/** Largest body of a batch, bytes. */
const MAX_BATCH_BODY = 60 * 1024 * 1024

/** The 202 of a queued mail. */
export const QueuedAnswer = Schema.Struct({
  ok: Schema.Literal(true),
  status: QueueState.annotate({
    description:
      "Of a queued mail `queued`; another state where the key belongs to an earlier request, which it is of."
  }),
  queueId: Schema.String,
  sendAt: Schema.String,
  idempotencyKey: Schema.String
})
  .annotate({ identifier: "QueuedAnswer" })
  .pipe(HttpApiSchema.status(202))

const iso = (at: number): string => new Date(at).toISOString()

/** What a queued mail is answered with. */
export const queuedAnswer = ({ id, idempotencyKey, sendAt, state }: Queued) =>
  HttpServerResponse.jsonUnsafe(
    { ok: true, status: state, queueId: id, sendAt: iso(sendAt), idempotencyKey },
    { status: 202 }
  )

export const queueAway = unavailable("the send queue does not answer", "The send queue does not answer now")

/** What the database says of the place of a request among others, which is left out where it is alone. */
const placed = (text: string, isAlone: boolean): string => (isAlone ? text.replace(/^emails\.0\./, "") : text)

/** What the queue refuses a request for. */
export const queueRefusals = (isAlone: boolean) => ({
  QueueRefused: ({ issue, message, why }: QueueRefused) => {
    switch (why) {
      case "invalid":
        return Effect.fail(invalidRequest([{ ...issue, path: placed(issue.path, isAlone) }]))
      case "too large":
        return Effect.fail(problem("PAYLOAD_TOO_LARGE", placed(message, isAlone)))
      case "conflict":
        return Effect.fail(problem("IDEMPOTENCY_CONFLICT", message.replace(/^IDEMPOTENCY_CONFLICT: /, "")))
      case "in progress":
        return Effect.fail(problem("IDEMPOTENCY_IN_PROGRESS", "A transaction that queues this key is open"))
    }
  },
  StoreUnavailable: queueAway
})

/** The state of a queued mail. */
const QueuedMailState = Schema.Struct({
  queueId: Schema.String,
  state: QueueState,
  idempotencyKey: Schema.String,
  sendAt: Schema.String,
  attempts: Schema.Int,
  nextAttemptAt: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String).annotate({ description: "Why the last attempt was not accepted." }),
  result: Schema.NullOr(SendResult).annotate({
    description: "As the relay answers a mail that is sent at once; null before its end."
  })
}).annotate({ identifier: "QueuedMail" })

const params = { queueId: Schema.String }
export const QueueMailNotFound = problemSchema("NOT_FOUND", {})
export const NotQueued = problemSchema("NOT_QUEUED", { state: QueueState })
export const QueueCancelled = Schema.Struct({ queueId: Schema.String, state: Schema.Literal("cancelled") })

/** The queue for callers: batches, and what became of a mail. */
export class QueueGroup extends HttpApiGroup.make("queue")
  .add(
    HttpApiEndpoint.post("enqueueBatch", "/api/send-email/batch", {
      payload: Schema.Struct({
        emails: Schema.Array(QueueableRequest).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_BATCH))
      }),
      success: Schema.Struct({
        ok: Schema.Literal(true),
        status: Schema.Literal("queued"),
        emails: Schema.Array(
          Schema.Struct({ queueId: Schema.String, idempotencyKey: Schema.String, status: QueueState })
        )
      })
        .annotate({ identifier: "QueuedBatch" })
        .pipe(HttpApiSchema.status(202)),
      error: [
        InvalidRequest,
        problemSchema("IDEMPOTENCY_CONFLICT", {}),
        problemSchema("IDEMPOTENCY_IN_PROGRESS", {}),
        problemSchema("PAYLOAD_TOO_LARGE", {}),
        problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
        NoProvider,
        Unavailable,
        problemSchema("INTERNAL", {}),
        problemSchema("SHUTTING_DOWN", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Queues up to 500 mails, all or none",
        description:
          "Each is sent at the pace that the provider takes. A key that belongs to an earlier request returns that one, with its status."
      })
    )
  )
  .add(
    HttpApiEndpoint.get("readQueued", "/api/queued-emails/:queueId", {
      params,
      success: QueuedMailState,
      error: [QueueMailNotFound, Unavailable]
    }).annotate(OpenApi.Summary, "Where a queued mail stands")
  )
  .add(
    HttpApiEndpoint.delete("cancelQueued", "/api/queued-emails/:queueId", {
      params,
      success: QueueCancelled,
      error: [QueueMailNotFound, NotQueued, Unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Cancels a mail that waits in the queue",
        description: "409 `NOT_QUEUED` once it is being sent or has ended: nothing was changed then."
      })
    )
  )
  .middleware(MaySend) {}

/** The requests of a batch, each of unknown shape. */
const decodeBatch = strictDecoder(Schema.Struct({ emails: Schema.Array(Schema.Unknown) }))

const noMail = Effect.fail(problem("NOT_FOUND", "The queue has no such mail"))

/** A mail that its caller may know of: a program with a token sees what it has queued itself. */
const ownMail = Effect.fnUntraced(function* (queue: SendQueue["Service"], queueId: string) {
  const { token } = yield* CurrentSender
  const found = isUuid(queueId) ? yield* queue.find(QueueId.make(queueId)) : undefined
  return found === undefined || (token !== undefined && found.sender !== token.id) ? yield* noMail : found
})

/** Cancels what waits; `actor`: the admin who does it. */
export const cancelQueued = Effect.fnUntraced(function* (
  queue: SendQueue["Service"],
  queueId: string,
  actor?: string
) {
  const state = isUuid(queueId)
    ? yield* queue.cancel(QueueId.make(queueId), actor).pipe(Effect.catch(queueAway))
    : undefined
  if (state === undefined) return yield* noMail
  if (state === "cancelled") return { queueId, state }
  return yield* Effect.fail({
    ...problem("NOT_QUEUED", `The mail cannot be cancelled any more: it is ${state}`),
    state
  })
})

/** The batch route is raw, as the relay is: its body is large, and decoded by the rule of the library. */
export const queueHandlers = HttpApiBuilder.group(
  apiOf(QueueGroup),
  "queue",
  Effect.fnUntraced(function* (handlers) {
    const enqueue = yield* Enqueue
    const queue = yield* SendQueue
    const caller = yield* makeCaller
    const goesOut = yield* makeGoesOut

    const batch = Effect.fnUntraced(function* ({
      request
    }: {
      readonly request: HttpServerRequest.HttpServerRequest
    }) {
      yield* goesOut
      const body = decodeBatch(yield* readLargeJson(request, MAX_BATCH_BODY))
      if (Result.isFailure(body)) return yield* Effect.fail(invalidRequest(body.failure))
      const sender = yield* CurrentSender
      const queued = yield* enqueue.all(body.success.emails, caller(sender))
      return HttpServerResponse.jsonUnsafe(
        {
          ok: true,
          status: "queued",
          emails: queued.map(({ id, idempotencyKey, state }) => ({
            queueId: id,
            idempotencyKey,
            status: state
          }))
        },
        { status: 202 }
      )
    })

    return handlers
      .handleRaw("enqueueBatch", (given) =>
        batch(given).pipe(
          Effect.catchTags({
            InvalidRequest: sendRefusals.InvalidRequest,
            ...queueRefusals(false),
            ...senderRefusals
          }),
          Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
        )
      )
      .handle("readQueued", ({ params: { queueId } }) =>
        Effect.gen(function* () {
          const found = yield* ownMail(queue, queueId)
          const { createdAt: _createdAt, id, mail: _mail, nextAttemptAt, sendAt, sender: _, ...rest } = found
          return {
            queueId: id,
            ...rest,
            sendAt: iso(sendAt),
            nextAttemptAt: nextAttemptAt === null ? null : iso(nextAttemptAt)
          }
        }).pipe(Effect.catchTag("StoreUnavailable", queueAway))
      )
      .handle("cancelQueued", ({ params: { queueId } }) =>
        Effect.andThen(
          Effect.catchTag(ownMail(queue, queueId), "StoreUnavailable", queueAway),
          cancelQueued(queue, queueId)
        )
      )
  })
).pipe((handlers) => builtWith(handlers, Enqueue, SendQueue, SenderAccess, MaySend, SendsMail))
