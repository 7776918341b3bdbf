import { isUtf8 } from "node:buffer"

import { ByteSize, Effect, Semaphore } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"

import { invalidRequest, problem, type Problem } from "./problem.ts"

/** Bodies over this many bytes, or of unknown length, are read a few at a time. */
const LARGE_BODY = 1024 * 1024

/** How many large bodies are in memory at once; the rest waits, unread, on its socket. */
const LARGE_BODIES_AT_ONCE = 4

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** Reads JSON bodies with a bound on each and on all together. */
export interface JsonBodies {
  /** The parsed body. Call it after the caller is known: nothing is read before. */
  readonly read: (
    request: HttpServerRequest.HttpServerRequest,
    maxBytes: number
  ) => Effect.Effect<unknown, Problem>
}

const malformed = (message: string) => Effect.fail(invalidRequest([{ path: "", message }]))

const parse = (bytes: ArrayBuffer): Effect.Effect<unknown, Problem> => {
  const buffer = Buffer.from(bytes)
  if (!isUtf8(buffer)) return malformed("the body is not UTF-8")
  try {
    return Effect.succeed(JSON.parse(buffer.toString("utf8")))
  } catch {
    return malformed("the body is not JSON")
  }
}

/** Makes the reader; its bound on large bodies holds for everything that goes through it. */
export const makeJsonBodies = Effect.map(Semaphore.make(LARGE_BODIES_AT_ONCE), (large): JsonBodies => ({
  read: (request, maxBytes) => {
    const { "content-type": type, "content-encoding": encoding, "content-length": length } = request.headers
    if (type !== undefined && !JSON_TYPE.test(type)) {
      return Effect.fail(problem("UNSUPPORTED_MEDIA_TYPE", "The body must be application/json in UTF-8"))
    }
    if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
      return Effect.fail(problem("UNSUPPORTED_MEDIA_TYPE", "The body must not be compressed"))
    }
    const tooLarge = problem("PAYLOAD_TOO_LARGE", `The body may hold ${maxBytes} bytes at most`)
    const declared = length === undefined ? Number.POSITIVE_INFINITY : Number(length)
    if (length !== undefined && declared > maxBytes) return Effect.fail(tooLarge)
    const read = request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
      Effect.mapError((error): Problem =>
        error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
          ? tooLarge
          : invalidRequest([{ path: "", message: "the body ended early" }])
      ),
      Effect.flatMap(parse)
    )
    return declared > LARGE_BODY ? large.withPermit(read) : read
  }
}))
