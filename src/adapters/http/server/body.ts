import { isUtf8 } from "node:buffer"

import { ByteSize, Effect, Semaphore } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"

import { invalidRequest, problem, type Problem } from "./problem.ts"

/** The bytes of a body. One declared too large is refused unread; one that grows too large is not read to its end. */
const readBytes = (
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

/** Of bodies over this many bytes, or of unknown length, only a few are read at once. */
const LARGE_BODY = 1024 * 1024

/** How many large bodies are in memory at once; the others wait unread on their sockets. */
const LARGE_BODIES_AT_ONCE = 4

/** What a large body must bring per {@link LOOK_EVERY} while it holds one of these places: 200 KB a second. */
const LEAST_BYTES = 1024 * 1024
const LOOK_EVERY = "5 seconds"

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** Reads JSON bodies, with a bound on each and on all together. */
interface JsonBodies {
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

/** Bytes received on a request's connection; undefined where that is not known. */
const bytesRead = ({ source }: HttpServerRequest.HttpServerRequest): number | undefined => {
  const socket = "socket" in source ? source.socket : undefined
  const known = typeof socket === "object" && socket !== null && "bytesRead" in socket
  return known && typeof socket.bytesRead === "number" ? socket.bytesRead : undefined
}

/** Fails once a body arrives too slowly: others wait for its place. */
const pace = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  for (let seen = bytesRead(request); seen !== undefined;) {
    yield* Effect.sleep(LOOK_EVERY)
    const now = bytesRead(request) ?? seen
    if (now - seen < LEAST_BYTES) {
      return yield* Effect.fail(problem("REQUEST_TIMEOUT", "A large body has to come at 200 KB a second"))
    }
    seen = now
  }
  return yield* Effect.never
})

/** Makes the reader; its bound on large bodies is shared by all its calls. */
export const makeJsonBodies = Effect.map(Semaphore.make(LARGE_BODIES_AT_ONCE), (large): JsonBodies => ({
  read: (request, maxBytes) => {
    const { "content-type": type, "content-encoding": encoding, "content-length": length } = request.headers
    if (type !== undefined && !JSON_TYPE.test(type)) {
      return Effect.fail(problem("UNSUPPORTED_MEDIA_TYPE", "The body must be application/json in UTF-8"))
    }
    if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
      return Effect.fail(problem("UNSUPPORTED_MEDIA_TYPE", "The body must not be compressed"))
    }
    const declared = length === undefined ? Number.POSITIVE_INFINITY : Number(length)
    const read = Effect.flatMap(readBytes(request, maxBytes), parse)
    const refusedAtOnce = length !== undefined && declared > maxBytes
    // A body that cannot become large needs no place.
    return Math.min(declared, maxBytes) > LARGE_BODY && !refusedAtOnce
      ? large.withPermit(Effect.raceFirst(read, pace(request)))
      : read
  }
}))

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
