import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

import { readBytes } from "./body-bytes.ts"
import { problem, type Problem } from "./problem.ts"

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** The fields of a form (`application/x-www-form-urlencoded`). */
export const readForm = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<URLSearchParams, Problem> => {
  const { "content-type": type, "content-encoding": encoding } = request.headers
  if (!FORM_TYPE.test(type ?? "") || (encoding !== undefined && encoding.toLowerCase() !== "identity")) {
    return Effect.fail(
      problem("UNSUPPORTED_MEDIA_TYPE", "The body must be application/x-www-form-urlencoded in UTF-8")
    )
  }
  return Effect.map(
    readBytes(request, maxBytes),
    (bytes) => new URLSearchParams(Buffer.from(bytes).toString("utf8"))
  )
}
