import { setTimeout } from "node:timers/promises"

import { Option, Schema } from "effect"

import { problem, type Problem } from "../../adapters/http/server/problem.ts"

const ifAny = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/**
 * What API Gateway (payload format 2.0) and function URLs hand over. Headers of one name come joined by commas, cookies in a list of
 * their own. What is absent is null where a program stands in for the gateway.
 */
const HttpEvent = Schema.Struct({
  version: Schema.Literal("2.0"),
  rawPath: Schema.String,
  rawQueryString: ifAny(Schema.String),
  headers: ifAny(Schema.Record(Schema.String, Schema.String)),
  cookies: ifAny(Schema.Array(Schema.String)),
  body: ifAny(Schema.String),
  isBase64Encoded: ifAny(Schema.Boolean),
  requestContext: Schema.Struct({
    stage: Schema.optionalKey(Schema.String),
    domainName: Schema.optionalKey(Schema.String),
    http: Schema.Struct({ method: Schema.String, sourceIp: Schema.optionalKey(Schema.String) })
  })
})
type HttpEvent = typeof HttpEvent.Type

/** What both take as the answer. */
export interface HttpResult {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: ReadonlyArray<string>
  readonly body: string
  readonly isBase64Encoded: boolean
}

export const decodeHttpEvent = Schema.decodeUnknownOption(HttpEvent)

/** Headers about a connection that ends at the gateway, and the length, which follows from the body. */
const NOT_HANDED_ON: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
  "cookie"
])

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const bodyOf = ({ body: given, isBase64Encoded }: HttpEvent): Option.Option<Uint8Array<ArrayBuffer>> => {
  const body = given ?? ""
  if (isBase64Encoded !== true) return Option.some(new TextEncoder().encode(body))
  return body.length % 4 === 0 && BASE64.test(body)
    ? Option.some(Uint8Array.from(Buffer.from(body, "base64")))
    : Option.none()
}

/** Host of a function URL, which passes the path as requested; an HTTP API passes it decoded. */
const FUNCTION_URL = /\.lambda-url\.[a-z0-9-]+\.on\.aws$/

/** Routes that end with an address. Its local part may hold a slash, which looks like a separator once it is decoded. */
const WITH_ADDRESS =
  /^(\/api\/admin\/(?:admins|email-preferences|email-suppressions)\/|\/api\/v1\/files\/[^/]+\/shares\/)(.+)$/

/** Encodes a decoded path again, segment by segment, so that its slashes remain, but for those of an address. */
const encoded = (path: string): string => {
  const [, before = path, ...address] = WITH_ADDRESS.exec(path) ?? []
  return before.split("/").map(encodeURIComponent).join("/") + address.map(encodeURIComponent).join("")
}

/** The path without the stage's name, which precedes it unless the stage is the default one. */
const pathOf = ({ rawPath, requestContext: { domainName = "", stage = "$default" } }: HttpEvent): string => {
  const path = rawPath.startsWith(`/${stage}/`) ? rawPath.slice(stage.length + 1) : rawPath
  return FUNCTION_URL.test(domainName) ? path : encoded(path)
}

/** The request as a web server would have received it; `undefined` when HTTP does not allow it. */
export const requestOf = (event: HttpEvent): Request | undefined => {
  const body = Option.getOrUndefined(bodyOf(event))
  if (body === undefined || !event.rawPath.startsWith("/")) return undefined
  const { requestContext } = event
  const headers = event.headers ?? {}
  const cookies = event.cookies ?? []
  const query = event.rawQueryString ?? ""
  const { method } = requestContext.http
  try {
    const path = pathOf(event)
    const kept = new Headers(
      Object.entries(headers).filter(([name]) => !NOT_HANDED_ON.has(name.toLowerCase()))
    )
    if (!kept.has("host")) kept.set("host", "localhost")
    const cookie = cookies.length > 0 ? cookies.join("; ") : (headers["cookie"] ?? "")
    if (cookie !== "") kept.set("cookie", cookie)
    const hasBody = body.length > 0 && method !== "GET" && method !== "HEAD"
    if (hasBody) kept.set("content-length", String(body.length))
    // An own origin: what the caller calls its host is a header, and no part of an address that is parsed.
    const url = `http://localhost${path}${query === "" ? "" : `?${query}`}`
    return new Request(url, { method, headers: kept, ...(hasBody ? { body } : {}) })
  } catch {
    return undefined
  }
}

/** Limit on a function's answer, bytes: AWS allows 6 MB with the envelope around the body. */
const MAX_ANSWER = 6 * 1024 * 1024 - 64 * 1024

const TEXT = /^(?:text\/|image\/svg\+xml|application\/(?:[\w.-]+\+)?(?:json|javascript))/

/** The body, unless it is too large. */
const readBody = async (body: ReadableStream<Uint8Array>): Promise<Uint8Array | undefined> => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    length += value.length
    if (length > MAX_ANSWER) break
    chunks.push(value)
  }
  await reader.cancel()
  return undefined
}

/** A stream that ends after a while. */
const endingAfter = (body: ReadableStream<Uint8Array>, ms: number): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  const ended = setTimeout(ms, { done: true, value: undefined } as const, { ref: false })
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await Promise.race([reader.read(), ended])
      if (!done) return controller.enqueue(value)
      await reader.cancel()
      controller.close()
    },
    cancel: (reason) => reader.cancel(reason)
  })
}

const ONLY_A_SERVER = "The answer is larger than a function can give: ask a server of this installation"

const tooLarge = (headers: Headers): HttpResult => problemResult(problem("INTERNAL", ONLY_A_SERVER), headers)

/** A problem as an answer, for a request that never reached a route. */
export const problemResult = (one: Problem, headers: Headers = new Headers()): HttpResult => {
  const { status, ...rest } = one
  const requestId = headers.get("x-request-id")
  return {
    statusCode: status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...(requestId === null ? {} : { "x-request-id": requestId })
    },
    cookies: [],
    body: JSON.stringify({ status, ...rest }),
    isBase64Encoded: false
  }
}

/** The answer in the gateway's terms. */
export const resultOf = async (response: Response, streamMs: number): Promise<HttpResult> => {
  const { body } = response
  // A stream of events ends, and its reader connects again.
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  const ending = isStream && body !== null ? endingAfter(body, streamMs) : body
  const bytes = ending === null ? new Uint8Array() : await readBody(ending)
  if (bytes === undefined) return tooLarge(response.headers)
  const headers = new Map(response.headers)
  headers.delete("set-cookie")
  const isText = TEXT.test(headers.get("content-type") ?? "") && !headers.has("content-encoding")
  const result: HttpResult = {
    statusCode: response.status,
    headers: Object.fromEntries(headers),
    cookies: response.headers.getSetCookie(),
    body: Buffer.from(bytes).toString(isText ? "utf8" : "base64"),
    isBase64Encoded: !isText
  }
  return Buffer.byteLength(JSON.stringify(result)) > MAX_ANSWER ? tooLarge(response.headers) : result
}
