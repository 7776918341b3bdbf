import { isUtf8 } from "node:buffer"

import { ByteSize, Context, Effect, Layer, Semaphore } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"
import { type HttpApiEndpoint, HttpApiMiddleware, OpenApi } from "effect/http-api"

import { forgiven } from "../../../domain/request-body.ts"
import { invalidRequest, problem, type Problem, problemResponse } from "./problem.ts"

type Request = HttpServerRequest.HttpServerRequest

const endedEarly = invalidRequest([{ path: "", message: "the body ended early" }])

type Unread = typeof endedEarly | Problem<"PAYLOAD_TOO_LARGE">

/** The bytes of a body. One declared too large is refused unread; one that grows too large is not read to its end. */
const readBytes = (request: Request, maxBytes: number): Effect.Effect<Buffer, Unread> => {
  const tooLarge = () => problem("PAYLOAD_TOO_LARGE", `The body may hold ${maxBytes} bytes at most`)
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Effect.fail(tooLarge())
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.map((bytes) => Buffer.from(bytes)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge" ? tooLarge() : endedEarly
    )
  )
}

/**
 * Bodies that may become larger than `over` bytes are read in places, a few at once; the others wait unread on their sockets. While
 * it holds a place a body must bring `leastBytes` every {@link LOOK_EVERY}: others wait for it.
 */
interface BodyPlaces {
  readonly over: number
  readonly places: Semaphore.Semaphore
  readonly leastBytes: number
}

const LOOK_EVERY = "5 seconds"

/** Largest first. */
const PLACES: ReadonlyArray<BodyPlaces> = [
  // 200 KB a second.
  { over: 1024 * 1024, places: Semaphore.makeUnsafe(4), leastBytes: 1024 * 1024 },
  // 13 KB a second: a megabyte takes longer than a request may.
  { over: 64 * 1024, places: Semaphore.makeUnsafe(64), leastBytes: 64 * 1024 }
]

/** Bytes received on a request's connection; undefined where that is not known. */
const bytesRead = ({ source }: Request): number | undefined => {
  const socket = "socket" in source ? source.socket : undefined
  const known = typeof socket === "object" && socket !== null && "bytesRead" in socket
  return known && typeof socket.bytesRead === "number" ? socket.bytesRead : undefined
}

/** Fails once a body arrives too slowly. */
const pace = Effect.fnUntraced(function* (request: Request, leastBytes: number) {
  for (let seen = bytesRead(request); seen !== undefined;) {
    yield* Effect.sleep(LOOK_EVERY)
    const now = bytesRead(request) ?? seen
    if (now - seen < leastBytes) {
      const rate = Math.round(leastBytes / 5 / 1000)
      return yield* Effect.fail(
        problem("REQUEST_TIMEOUT", `A body of this size has to come at ${rate} KB a second`)
      )
    }
    seen = now
  }
  return yield* Effect.never
})

/** {@link readBytes} of bodies that may be large: they take turns, and one that is too slow then is answered with 408 at once. */
export const readLargeBytes = (
  request: Request,
  maxBytes: number
): Effect.Effect<Buffer, Unread | Problem<"REQUEST_TIMEOUT">> => {
  const declared = Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY)
  const read = readBytes(request, maxBytes)
  // A body that cannot become large, or is refused unread, needs no place.
  if (Number.isFinite(declared) && declared > maxBytes) return read
  const large = PLACES.find(({ over }) => Math.min(declared, maxBytes) > over)
  return large === undefined
    ? read
    : large.places.withPermit(Effect.raceFirst(read, pace(request, large.leastBytes)))
}

/** A media type in UTF-8: other character sets are refused, not converted. */
const mediaType = (name: string): RegExp =>
  new RegExp(`^${name}\\s*(?:;\\s*charset\\s*=\\s*"?utf-8"?\\s*)?$`, "i")
const JSON_TYPE = mediaType("application/json")
const FORM_TYPE = mediaType("application/x-www-form-urlencoded")

const isCompressed = ({ headers }: Request): boolean =>
  (headers["content-encoding"] ?? "identity").toLowerCase() !== "identity"

const malformed = (message: string) => Effect.fail(invalidRequest([{ path: "", message }]))
const notJson = malformed("the body is not JSON")
const unsupported = (detail: string) => Effect.fail(problem("UNSUPPORTED_MEDIA_TYPE", detail))

/** The text of a JSON body, which may be empty. Call it after the caller is known: nothing is read before. */
const readAnyText = Effect.fnUntraced(function* <E>(
  request: Request,
  maxBytes: number,
  read: (request: Request, maxBytes: number) => Effect.Effect<Buffer, E>
) {
  const type = request.headers["content-type"]
  if (type !== undefined && !JSON_TYPE.test(type)) {
    return yield* unsupported("The body must be application/json in UTF-8")
  }
  if (isCompressed(request)) return yield* unsupported("The body must not be compressed")
  const bytes = yield* read(request, maxBytes)
  return isUtf8(bytes) ? withoutMark(bytes.toString("utf8")) : yield* malformed("the body is not UTF-8")
})

/** RFC 8259, section 8.1: a reader may ignore the byte order mark that some editors and languages begin a file with. */
const withoutMark = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text)

const readText = <E>(
  request: Request,
  maxBytes: number,
  read: (request: Request, maxBytes: number) => Effect.Effect<Buffer, E>
) =>
  Effect.filterOrElse(
    readAnyText(request, maxBytes, read),
    (text) => text !== "",
    () => notJson
  )

const parse = Effect.fnUntraced(function* (text: string) {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return yield* notJson
  }
})

/** Reads and parses a JSON body, for a handler that checks something else first. */
export const readJson = (request: Request, maxBytes: number) =>
  Effect.flatMap(readText(request, maxBytes, readBytes), parse)

/** {@link readJson} of bodies that may be large. */
export const readLargeJson = (request: Request, maxBytes: number) =>
  Effect.flatMap(readText(request, maxBytes, readLargeBytes), parse)

/**
 * {@link readJson} of a body that may be left out, whatever its headers say of it: `undefined` then. Generated clients write one that
 * they were not given as `null`.
 */
export const readJsonIfAny = (request: Request, maxBytes: number) =>
  request.headers["content-length"] === "0"
    ? Effect.undefined
    : Effect.flatMap(readAnyText(request, maxBytes, readBytes), (text) =>
        text === "" ? Effect.undefined : Effect.map(parse(text), (body) => body ?? undefined)
      )

/** The fields of a form (`application/x-www-form-urlencoded`). */
export const readForm = Effect.fnUntraced(function* (request: Request, maxBytes: number) {
  if (!FORM_TYPE.test(request.headers["content-type"] ?? "") || isCompressed(request)) {
    return yield* unsupported("The body must be application/x-www-form-urlencoded in UTF-8")
  }
  return new URLSearchParams((yield* readBytes(request, maxBytes)).toString("utf8"))
})

/** Largest JSON body of an endpoint, bytes. */
const MaxBody = Context.Reference<number>("postlane/http/MaxBody", { defaultValue: () => 64 * 1024 })

/** Annotates an endpoint with its largest JSON body. */
export const jsonBody = (maxBytes: number) => Context.make(MaxBody, maxBytes)

/** Whether an endpoint's JSON body may be left out. */
const MayBeLeftOut = Context.Reference<boolean>("postlane/http/MayBeLeftOut", { defaultValue: () => false })

/** What the document says of a body that may be left out. */
export const bodyMayBeLeftOut = OpenApi.annotations({
  transform: (operation) => ({
    ...operation,
    requestBody: { ...(operation["requestBody"] as object), required: false }
  })
})

/** {@link jsonBody} that may be left out: it is the empty object then. */
export const optionalJsonBody = (maxBytes: number) =>
  jsonBody(maxBytes).pipe(Context.add(MayBeLeftOut, true), Context.merge(bodyMayBeLeftOut))

/**
 * Reads the JSON body of each endpoint of a group that declares a payload, within the endpoint's limit, and writes it as the payload's
 * schema has it ({@link forgiven}); `HttpApi` decodes it. Add it to a group before the middleware that checks the caller: the one that
 * is added last runs first.
 */
export class JsonBody extends HttpApiMiddleware.Service<JsonBody>()("postlane/http/JsonBody") {}

/** The request with its body's text in place of the stream. */
const withText = (request: Request, text: string): Request =>
  Object.create(request, { text: { value: Effect.succeed(text) } }) as Request

/** A body's text as the endpoint's schema has it; one that cannot be read or written is left to the decoder, which says so. */
const forgivenText = (endpoint: HttpApiEndpoint.Top, text: string): string => {
  const schemas = endpoint.payload.get("application/json")?.schemas ?? []
  try {
    const given: unknown = JSON.parse(text)
    const body = schemas.reduce((value, schema) => forgiven(schema, value), given)
    return body === given ? text : JSON.stringify(body)
  } catch {
    return text
  }
}

/** The text of an endpoint's body. */
const textOf = (request: Request, { annotations }: HttpApiEndpoint.Top) => {
  const maxBytes = Context.get(annotations, MaxBody)
  if (!Context.get(annotations, MayBeLeftOut)) return readText(request, maxBytes, readLargeBytes)
  if (request.headers["content-length"] === "0") return Effect.succeed("{}")
  return Effect.map(readAnyText(request, maxBytes, readLargeBytes), (text) =>
    // Generated clients write a body that they were not given as `null`.
    text === "" || text === "null" ? "{}" : text
  )
}

export const jsonBodyLayer: Layer.Layer<JsonBody> = Layer.succeed(
  JsonBody,
  JsonBody.of((handler, { endpoint }) =>
    endpoint.payload.size === 0
      ? handler
      : Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.matchEffect(textOf(request, endpoint), {
            onFailure: (refused) => Effect.succeed(problemResponse(refused)),
            onSuccess: (text) =>
              Effect.provideService(
                handler,
                HttpServerRequest.HttpServerRequest,
                withText(request, forgivenText(endpoint, text))
              )
          })
        )
  )
)
