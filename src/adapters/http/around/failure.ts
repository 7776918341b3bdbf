import { type Cause, Effect } from "effect"
import { HttpServerError, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"

import { invalidRequest, problem, type Problem, problemResponse, undecodable } from "../server/problem.ts"
import { withoutLinkTokens } from "./link-tokens.ts"

/** The 400 for a part of a request that its schema refuses. A body that is no JSON is the one failure without a schema's issue. */
const refused = ({ cause, kind }: HttpApiError.HttpApiSchemaError): Problem =>
  kind === "Payload" && cause.issue._tag === "InvalidValue"
    ? invalidRequest([{ path: "", message: "the body is not JSON" }])
    : undecodable(cause)

/** The methods that a path allows; empty where there is no such path. */
export type MethodsOf = (path: string) => ReadonlyArray<string>

const noRoute = (request: HttpServerRequest.HttpServerRequest, methodsOf: MethodsOf) => {
  const path = request.url.split("?", 1)[0]!
  const methods = methodsOf(path)
  return methods.length === 0 || methods.includes(request.method)
    ? problemResponse(problem("NOT_FOUND", "There is no such route"))
    : problemResponse(problem("METHOD_NOT_ALLOWED", `Allowed here: ${methods.join(", ")}`), {
        allow: methods.join(", ")
      })
}

const requestProblem = (reason: HttpServerError.RequestParseError): Problem =>
  reason.reason === "BodyTooLarge"
    ? problem("PAYLOAD_TOO_LARGE", "The body is larger than this route takes")
    : invalidRequest([{ path: "", message: "the request cannot be read" }])

/** The 500, with its cause in the log. */
const failedInside = (request: HttpServerRequest.HttpServerRequest, cause: unknown) =>
  Effect.logError("a request failed inside Postlane: report this as a bug", cause).pipe(
    Effect.annotateLogs({ method: request.method, path: withoutLinkTokens(request.url.split("?", 1)[0]!) }),
    Effect.as(problemResponse(problem("INTERNAL", "Something failed inside; the log knows more")))
  )

/**
 * The answer to a request after its handler failed without one. Only our own failures are logged, with the cause; the answer
 * never shows it.
 */
export const failureResponse = (
  request: HttpServerRequest.HttpServerRequest,
  cause: Cause.Cause<unknown>,
  methodsOf: MethodsOf
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Interrupt") continue
    const error = reason._tag === "Fail" ? reason.error : reason.defect
    if (
      HttpApiError.HttpApiSchemaError.is(error) &&
      error.kind !== "Body" &&
      error.kind !== "ResponseHeaders"
    ) {
      return Effect.succeed(problemResponse(refused(error)))
    }
    if (HttpServerError.isHttpServerError(error)) {
      if (error.reason._tag === "RouteNotFound") return Effect.succeed(noRoute(request, methodsOf))
      if (error.reason._tag === "RequestParseError") {
        return Effect.succeed(problemResponse(requestProblem(error.reason)))
      }
    }
    return failedInside(request, cause)
  }
  return Effect.succeed(
    problemResponse(
      problem("SHUTTING_DOWN", "The server shut down; whether the request took effect is not known")
    )
  )
}

/** Replaces an answer outside 2xx and 3xx that the server itself made, not a handler, by a problem. */
export const asProblem = (
  request: HttpServerRequest.HttpServerRequest,
  { status }: HttpServerResponse.HttpServerResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const answer = (body: Problem) => Effect.succeed(problemResponse(body))
  switch (status) {
    case 413:
      return answer(problem("PAYLOAD_TOO_LARGE", "The body is larger than this route takes"))
    case 415:
      return answer(problem("UNSUPPORTED_MEDIA_TYPE", "The body must be application/json"))
    case 503:
      return answer(problem("UNAVAILABLE", "This does not answer now"))
    default:
      return status < 500
        ? answer(invalidRequest([{ path: "", message: "the request cannot be taken" }]))
        : failedInside(request, `the route made no answer of its own, and the server one of ${status}`)
  }
}
