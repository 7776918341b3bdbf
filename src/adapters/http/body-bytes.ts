import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"

import { invalidRequest, problem, type Problem } from "./problem.ts"

/** The bytes of a body; one that is declared too large is refused unread, one that turns out so is not read to its end. */
export const readBytes = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<ArrayBuffer, Problem> => {
  const tooLarge = problem("PAYLOAD_TOO_LARGE", `The body may hold ${maxBytes} bytes at most`)
  const length = request.headers["content-length"]
  if (length !== undefined && Number(length) > maxBytes) return Effect.fail(tooLarge)
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.mapError((error): Problem =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? tooLarge
        : invalidRequest([{ path: "", message: "the body ended early" }])
    )
  )
}
