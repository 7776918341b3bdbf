import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

import { SenderAccess } from "../../../application/send-queue/sender-access.ts"
import { VENDOR_API_PREFIX, type VendorAnswer, VendorApi } from "../../../ports/mail/vendor-api.ts"
import { bearerToken } from "../server/credentials.ts"
import { readLargeJson } from "../server/json-body.ts"
import { networkOfCaller } from "../server/sender.ts"

/** Largest body, bytes: a batch of mails, each of a megabyte at most, and attachments as lists of numbers. */
const MAX_BODY = 60 * 1024 * 1024

/** Methods whose body is read. SDKs send one with others, too, which says nothing. */
const WITH_BODY = new Set(["POST", "PATCH"])

/** Bodies that SDKs leave empty under `application/json`. */
const isEmpty = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["content-length"] === "0" ||
  (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined)

const responseOf = ({ body, headers = {}, status }: VendorAnswer) =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json", headers })

/** Whether a request is answered here, in the vendor's words. */
export const isVendorApi = (url: string): boolean =>
  url.replace(/^\/+/, "/").startsWith(`${VENDOR_API_PREFIX}/`)

/** The parts of a path below the prefix; SDKs double the slash between a base URL and what they ask. */
const partsOf = (url: string): ReadonlyArray<string> =>
  url
    .split("?", 1)[0]!
    .split("/")
    .filter((part) => part !== "")
    .slice(1)

/**
 * The API of another vendor, with its own bodies and errors (FRONT-8): it is no part of the OpenAPI document, and its answers are no
 * problem documents.
 */
export const vendorApiRoute = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const api = yield* VendorApi
    const access = yield* SenderAccess
    const refused = (refusal: Parameters<typeof api.refuse>[0]) => Effect.fail(api.refuse(refusal))

    const tokenOf = (request: HttpServerRequest.HttpServerRequest) => {
      const text = bearerToken(request.headers["authorization"])
      if (text === undefined) return refused({ why: "no token" })
      return access.identify(text, networkOfCaller(request)).pipe(
        Effect.catchTags({
          UnknownSender: () => refused({ why: "unknown token" }),
          SenderTooFast: ({ message, retryAfterSeconds }) =>
            refused({ why: "too fast", message, retryAfterSeconds }),
          StoreUnavailable: (error) =>
            Effect.andThen(
              Effect.logWarning("a sender token cannot be looked up", error),
              refused({ why: "unavailable" })
            )
        })
      )
    }
    const bodyOf = (request: HttpServerRequest.HttpServerRequest) =>
      !WITH_BODY.has(request.method) || isEmpty(request)
        ? Effect.undefined
        : readLargeJson(request, MAX_BODY).pipe(
            Effect.catch(({ status }) => refused({ why: status === 413 ? "too large" : "no json" }))
          )

    const answer = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { headers, method, url } = request
      const token = yield* tokenOf(request)
      const body = yield* bodyOf(request)
      return yield* api.answer({ method, path: partsOf(url), headers, body }, token)
    }).pipe(
      Effect.catch((refusal) => Effect.succeed(refusal)),
      Effect.catchDefect((cause) =>
        Effect.as(
          Effect.logError("a request failed inside Postlane: report this as a bug", cause),
          api.refuse({ why: "failed" })
        )
      ),
      Effect.map(responseOf)
    )
    yield* router.add("*", `${VENDOR_API_PREFIX}/*`, answer)
  })
)
