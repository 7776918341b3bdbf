import { Schema, Effect, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { Mailer } from "../../../../application/mail/mailer.ts"
import { Enqueue } from "../../../../application/send-queue/enqueue.ts"
import { SenderAccess } from "../../../../application/send-queue/sender-access.ts"
import { FailureKind } from "../../../../domain/mail/failover.ts"
import type { SendRequest } from "../../../../domain/mail/message.ts"
import { Provider, dedupes } from "../../../../domain/mail/provider.ts"
import { asksForQueue, decodeQueueRequest, QueueableRequest } from "../../../../domain/mail/read-request.ts"
import type { SendResult } from "../../../../domain/mail/send-result.ts"
import { ProxySecret } from "../../server/access.ts"
import { apiOf, builtWith } from "../../server/endpoint.ts"
import { readLargeJson } from "../../server/json-body.ts"
import {
  InvalidRequest,
  invalidRequest,
  problem,
  problemResponse,
  problemSchema,
  Unavailable
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
import { queuedAnswer, QueuedAnswer, queueRefusals } from "./queue.ts"
import { sendRefusals } from "./send-refusals.ts"

/** Largest body of a relay call, bytes: 40 MB of attachments in base64, and the rest of the message. */
export const MAX_RELAY_BODY = 60 * 1024 * 1024

const common = {
  sendId: Schema.String,
  provider: Schema.NullOr(Provider),
  failedOver: Schema.Boolean,
  idempotencyKey: Schema.String,
  suppressedRecipients: Schema.Array(Schema.String),
  oneClick: Schema.optionalKey(Schema.Boolean).annotate({
    description: "Of marketing and mail of a list: whether its reader can leave by one click (RFC 8058)."
  })
}

/** The 200 of the relay: the members of a send result with `ok: true` (MAIL-2, MAIL-80). */
const RelayAnswer = Schema.Struct({
  ok: Schema.Literal(true),
  status: Schema.Literals(["sent", "deferred"]),
  providerMessageId: Schema.NullOr(Schema.String),
  ...common
}).annotate({ identifier: "SendAnswer" })

/** The members of a send's result that its problems carry. */
const ended = { sendId: Schema.String, idempotencyKey: Schema.String }

export const EmailSuppressed = problemSchema("EMAIL_SUPPRESSED", {
  ...ended,
  suppressedRecipients: Schema.Array(Schema.String)
})
export const EmailFailed = problemSchema("EMAIL_FAILED", {
  ...ended,
  kind: FailureKind,
  provider: Schema.NullOr(Provider)
})
/** The key where a caller writes it as other mail APIs want it, in a header. */
const KEY_HEADER = "idempotency-key"

const answers = {
  payload: QueueableRequest,
  success: [RelayAnswer, QueuedAnswer],
  error: [
    InvalidRequest,
    problemSchema("IDEMPOTENCY_CONFLICT", {}),
    problemSchema("IDEMPOTENCY_IN_PROGRESS", {}),
    problemSchema("PAYLOAD_TOO_LARGE", {}),
    problemSchema("UNSUPPORTED_MEDIA_TYPE", {}),
    EmailSuppressed,
    EmailFailed,
    NoProvider,
    Unavailable,
    problemSchema("INTERNAL", {}),
    problemSchema("SHUTTING_DOWN", {})
  ]
} as const

const keyHeader = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The same as the member `idempotencyKey`. Where a request has both, they must be equal.",
  schema: { type: "string" }
}

const describe = OpenApi.annotations({
  summary: "Sends one mail",
  transform: (operation) => ({ ...operation, parameters: [keyHeader] }),
  description:
    "Suppression look-up, primary provider, fallback only after proof that the primary did not accept, one log row. " +
    "With `queue` or `sendAt` it is queued, and answered 202. " +
    "Safe to call again with the same `idempotencyKey` for 24 hours. `retryable` of `EMAIL_FAILED` is true for " +
    "`unavailable`, false for `rejected`, and true for `ambiguous` only where the caller named the key and the provider dedupes on it."
})

/** The relay (MAIL-80): one handler under two paths; a sender token opens the public one alone. */
export class RelayGroup extends HttpApiGroup.make("sending")
  .add(
    HttpApiEndpoint.post("internal", "/internal/send-email", answers)
      .annotateMerge(describe)
      .middleware(ProxySecret)
  )
  .add(
    HttpApiEndpoint.post("email", "/api/send-email", answers).annotateMerge(describe).middleware(MaySend)
  ) {}

/**
 * Whether the same call may succeed later and cannot double-send. After an ambiguous failure that holds only where the
 * caller named the key (or the next call gets another) and the provider dedupes on it (MAIL-41).
 */
const retryable = (request: SendRequest, result: SendResult & { readonly status: "failed" }): boolean => {
  switch (result.kind) {
    case "rejected":
      return false
    case "unavailable":
      return true
    case "ambiguous":
      return request.idempotencyKey !== undefined && result.provider !== null && dedupes(result.provider)
  }
}

const answer = Effect.fnUntraced(function* (request: SendRequest, result: SendResult) {
  if (result.status === "suppressed") return yield* Effect.fail(suppressedProblem(result))
  if (result.status === "failed") {
    return yield* Effect.fail(failedProblem(result, retryable(request, result)))
  }
  return HttpServerResponse.jsonUnsafe(result)
})

export const suppressedProblem = (result: SendResult & { readonly status: "suppressed" }) => ({
  ...problem("EMAIL_SUPPRESSED", result.error),
  sendId: result.sendId,
  idempotencyKey: result.idempotencyKey,
  suppressedRecipients: result.suppressedRecipients
})

export const failedProblem = (result: SendResult & { readonly status: "failed" }, again: boolean) => ({
  ...problem("EMAIL_FAILED", result.error),
  retryable: again,
  kind: result.kind,
  sendId: result.sendId,
  idempotencyKey: result.idempotencyKey,
  provider: result.provider
})

const twoKeys = problem(
  "IDEMPOTENCY_CONFLICT",
  "The header Idempotency-Key and the member idempotencyKey differ: send one of them, or the same in both"
)

/** The body with the key of the header, where it has none itself. */
const withKey = (request: HttpServerRequest.HttpServerRequest, body: unknown) => {
  const key = request.headers[KEY_HEADER]
  if (key === undefined || typeof body !== "object" || body === null || Array.isArray(body))
    return Effect.succeed(body)
  const named: unknown = Reflect.get(body, "idempotencyKey") ?? key
  return named === key ? Effect.succeed({ ...body, idempotencyKey: key }) : Effect.fail(twoKeys)
}

/** The body of a request, with its key. */
const read = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.flatMap(readLargeJson(request, MAX_RELAY_BODY), (body) => withKey(request, body))

/** The mail of a body that is sent at once. */
const mailOf = (body: unknown) => {
  const decoded = decodeQueueRequest(body)
  return Result.isSuccess(decoded)
    ? Effect.succeed(decoded.success.mail)
    : Effect.fail(invalidRequest(decoded.failure))
}

/**
 * The relay's two paths. Raw: bodies are large, take turns, and are decoded by the rule of the library (`decodeSendRequest`); the
 * members of an answer keep the order of a send's result.
 */
export const relayHandlers = HttpApiBuilder.group(
  apiOf(RelayGroup),
  "sending",
  Effect.fnUntraced(function* (handlers) {
    const mailer = yield* Mailer
    const enqueue = yield* Enqueue
    const caller = yield* makeCaller
    const goesOut = yield* makeGoesOut
    const answered = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      sender: CurrentSender["Service"]
    ) {
      yield* goesOut
      const body = yield* read(request)
      if (asksForQueue(body)) return queuedAnswer(yield* enqueue.one(body, caller(sender)))
      const mail = yield* mailOf(body)
      yield* caller(sender).allow([mail])
      return yield* answer(mail, yield* mailer.send(mail))
    })
    const relay = (request: HttpServerRequest.HttpServerRequest, sender: CurrentSender["Service"]) =>
      answered(request, sender).pipe(
        Effect.catchTags({ ...sendRefusals, ...queueRefusals(true), ...senderRefusals }),
        Effect.catch((refused) => Effect.succeed(problemResponse(refused)))
      )
    return handlers
      .handleRaw("internal", ({ request }) => relay(request, { token: undefined }))
      .handleRaw("email", ({ request }) => CurrentSender.use((sender) => relay(request, sender)))
  })
).pipe((handlers) => builtWith(handlers, Mailer, Enqueue, SenderAccess, ProxySecret, MaySend, SendsMail))
