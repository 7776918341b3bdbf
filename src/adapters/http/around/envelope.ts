import { randomUUID } from "node:crypto"

import { Context, Effect, References } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"

import { pageForPeople } from "../pages/lost-page.ts"
import { isVendorApi } from "../routes/vendor-api.ts"
import { invalidRequest, problem, PROBLEM_MEDIA_TYPE, problemResponse } from "../server/problem.ts"
import { PAGE_MEDIA_TYPE } from "../server/representations.ts"
import { asProblem, failureResponse, type MethodsOf } from "./failure.ts"

/** An id that a caller may choose: it goes into logs unchanged. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** Headers of every answer. The policy that a page's route sets is kept. */
const SECURITY_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

/** Where the public address is https: browsers use only https for a year (RFC 6797). */
const ONLY_HTTPS = { "strict-transport-security": "max-age=31536000" }

/** RFC 9110, section 11.6.1: a 401 names the scheme. */
const CHALLENGE = { "www-authenticate": "Bearer" }

/** How many `Host` fields a request has: Node's `headers` keeps only the first. */
const hosts = (source: object): number =>
  "rawHeaders" in source && Array.isArray(source.rawHeaders)
    ? source.rawHeaders.filter((name, at) => at % 2 === 0 && String(name).toLowerCase() === "host").length
    : 1

/** RFC 9112, section 3.2: HTTP/1.1 without `Host` is refused, and so are two. Checked here, where the answer is a problem. */
const namesHost = ({ source }: HttpServerRequest.HttpServerRequest): boolean => {
  const named = hosts(source)
  return named === 1 || (named === 0 && (!("httpVersion" in source) || source.httpVersion !== "1.1"))
}

/** RFC 9112, section 6.1: an unknown coding is answered 501. Node reads the chunks and does not decode other codings. */
const isCodedOtherwise = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
  const coding = headers["transfer-encoding"]?.trim().toLowerCase()
  return coding !== undefined && coding !== "chunked"
}

const otherCoding = Effect.succeed(
  problemResponse(problem("TRANSFER_CODING_UNKNOWN", "A body comes with its length, or chunked"), {
    connection: "close"
  })
)

/** Whether it is a problem, or the page that a person gets instead; only handlers make either. An API in a vendor's words has no other errors. */
const isComplete = ({ url }: HttpServerRequest.HttpServerRequest, contentType: string | undefined): boolean =>
  contentType === PROBLEM_MEDIA_TYPE ||
  contentType === PAGE_MEDIA_TYPE ||
  (contentType === "application/json" && isVendorApi(url))

const completed = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
) =>
  response.status < 400 || isComplete(request, response.headers["content-type"])
    ? Effect.succeed(response)
    : asProblem(request, response)

const noHost = Effect.succeed(
  problemResponse(invalidRequest([{ path: "", message: "there must be one Host header" }]))
)

/**
 * Around every route: each answer has the security headers and an `x-request-id` (the caller's, or a new one), which is
 * also in the request's log lines; each answer outside 2xx and 3xx is a problem document, or a page for a person who opened
 * the address in a browser.
 */
export const envelope =
  (methodsOf: MethodsOf, { baseUrl }: { readonly baseUrl?: string | undefined } = {}) =>
  <E, R>(
    handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | HttpServerRequest.HttpServerRequest> =>
    Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
      const request = Context.get(context, HttpServerRequest.HttpServerRequest)
      const given = request.headers["x-request-id"]
      const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID()
      const annotations = { ...Context.get(context, References.CurrentLogAnnotations), requestId }
      return (isCodedOtherwise(request) ? otherCoding : namesHost(request) ? handler : noHost).pipe(
        Effect.catchCause((cause) => failureResponse(request, cause, methodsOf)),
        Effect.flatMap((response) => completed(request, response)),
        Effect.map((response) => {
          const answered = response.status < 400 ? response : pageForPeople(request, response)
          return HttpServerResponse.setHeaders(answered, {
            ...SECURITY_HEADERS,
            ...(baseUrl?.startsWith("https:") === true ? ONLY_HTTPS : undefined),
            ...answered.headers,
            ...(answered.status === 401 ? CHALLENGE : undefined),
            "x-request-id": requestId
          })
        }),
        Effect.provideService(References.CurrentLogAnnotations, annotations)
      )
    })
