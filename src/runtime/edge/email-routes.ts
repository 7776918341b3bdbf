import { Context, Effect, Layer, Result } from "effect"
import { Headers, HttpServerResponse } from "effect/http"

import { makeR2Objects } from "../../adapters/cloudflare/r2-objects.ts"
import {
  decodeTestSend,
  MAX_TEST_BODY,
  sendTestMessage
} from "../../adapters/http/routes/inbound/test-message.ts"
import { invalidRequest, problem, type Problem, problemResponse } from "../../adapters/http/server/problem.ts"
import { resultResponse } from "../../adapters/http/server/responses.ts"
import { ConvertByEmail } from "../../application/inbound/convert-by-email.ts"
import { ReplyChannel } from "../../ports/inbound/mails.ts"
import { edgeDatabase } from "../compose/mail/mail.ts"
import { edgeConvertByEmail, edgeReplies, MAIL_WORKER_GROUPS, mailWorkerParts } from "./email-layers.ts"
import { type EdgeFunction, makeFunction } from "./functions-call.ts"

const notReady = (problems: ReadonlyArray<string>) => problem("NOT_READY", problems.join("; "))

const health: EdgeFunction = makeFunction({
  method: "GET",
  guarded: false,
  maxBody: 0,
  groups: MAIL_WORKER_GROUPS,
  answer: ({ env, settings }) => {
    const parts = mailWorkerParts(settings, env)
    return Effect.succeed(
      Result.isFailure(parts)
        ? problemResponse(notReady(parts.failure))
        : HttpServerResponse.text(JSON.stringify({ status: "ok", channel: settings.intake.replyChannel }), {
            contentType: "application/json"
          })
    )
  }
})

const parse = (request: Request, body: Uint8Array): Effect.Effect<unknown, Problem> => {
  const type = request.headers.get("content-type")
  if (type !== null && !/^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type)) {
    return Effect.fail(problem("UNSUPPORTED_MEDIA_TYPE", "The body must be application/json in UTF-8"))
  }
  return Effect.try({
    try: (): unknown => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)),
    catch: () => invalidRequest([{ path: "", message: "the body is not JSON in UTF-8" }])
  })
}

const testSend: EdgeFunction = makeFunction({
  guarded: true,
  query: [],
  maxBody: MAX_TEST_BODY,
  groups: MAIL_WORKER_GROUPS,
  answer: ({ body, request, settings }) =>
    Effect.gen(function* () {
      const message = yield* Effect.flatMap(parse(request, body), decodeTestSend)
      const context = yield* Layer.build(edgeReplies(settings, edgeDatabase(settings)))
      return HttpServerResponse.jsonUnsafe(
        yield* sendTestMessage(Context.get(context, ReplyChannel), message)
      )
    })
})

/** A result that was too large to attach, by the link of its reply. */
const result: EdgeFunction = makeFunction({
  method: "GET",
  guarded: false,
  maxBody: 0,
  groups: MAIL_WORKER_GROUPS,
  answer: ({ env, request, settings }) =>
    Effect.gen(function* () {
      const parts = mailWorkerParts(settings, env)
      if (Result.isFailure(parts)) return yield* Effect.fail(notReady(parts.failure))
      const intake = Context.get(yield* Layer.build(edgeConvertByEmail(parts.success)), ConvertByEmail)
      const found = yield* intake.result(new URL(request.url).pathname.split("/").at(-1) ?? "")
      return found === undefined
        ? problemResponse(problem("NOT_FOUND", "There is no such result, or its link has expired"))
        : yield* resultResponse(makeR2Objects(parts.success.bucket), found.key, {
            // Cloudflare compresses what a Worker answers; what said that it was compressed would be so twice.
            headers: Headers.remove(Headers.fromInput(request.headers), "accept-encoding")
          })
    }).pipe(
      Effect.catchTag(["ObjectStoreError", "StoreUnavailable"], (cause) =>
        Effect.andThen(
          Effect.logWarning("a converted result cannot be read from the object store", cause),
          Effect.fail(problem("UNAVAILABLE", "The result cannot be read now"))
        )
      )
    )
})

const nothing: EdgeFunction = makeFunction({
  method: "GET",
  guarded: false,
  maxBody: 0,
  groups: MAIL_WORKER_GROUPS,
  answer: () => Effect.succeed(problemResponse(problem("NOT_FOUND", "There is nothing at this path")))
})

const ROUTES: ReadonlyArray<readonly [RegExp, EdgeFunction]> = [
  [/^(?:\/convert-email)?\/health$/, health],
  [/^(?:\/convert-email)?\/test-send$/, testSend],
  [/^\/convert-email\/results\/[^/]+$/, result]
]

/** The worker's routes (INBOUND-16), the same as on Node. */
export const handleMailRoute: EdgeFunction = (request, env) => {
  const { pathname } = new URL(request.url)
  const found = ROUTES.find(([path]) => path.test(pathname))
  return (found === undefined ? nothing : found[1])(request, env)
}
