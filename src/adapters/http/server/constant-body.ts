import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"

import { gzipTag, hasAlready, takesGzip } from "./representations.ts"

/** Bodies smaller than this are sent as they are: compressing saves less than a packet. Bytes. */
const LEAST_COMPRESSED = 1024

const compress = promisify(gzip)

/** Bytes that are the same for everybody, made ready once: compressed, and named by their hash. */
export interface ConstantBody {
  readonly contentType: string
  readonly bytes: Uint8Array
  /** Undefined where compression saves nothing. */
  readonly gzipped: Uint8Array | undefined
  /** Strong validator of the uncompressed bytes, with its quotes. */
  readonly etag: string
}

/** Makes bytes ready. Compresses in a thread of the pool, so that 3 MB do not hold up the event loop. */
export const constantBody = (
  content: string | Uint8Array,
  contentType: string
): Effect.Effect<ConstantBody> =>
  Effect.promise(async () => {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
    const small = bytes.length < LEAST_COMPRESSED ? undefined : await compress(bytes)
    return {
      contentType,
      bytes,
      gzipped: small !== undefined && small.length < bytes.length ? small : undefined,
      etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`
    }
  })

/**
 * The answer with constant bytes: 304 where the client has them, compressed where it takes gzip. `cache` is its Cache-Control;
 * `no-cache` has a client ask each time, which costs it a 304.
 */
export const constantAnswer = (
  { bytes, contentType, etag, gzipped }: ConstantBody,
  { headers: asked }: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  cache: string
): HttpServerResponse.HttpServerResponse => {
  const compressed = gzipped !== undefined && takesGzip(asked["accept-encoding"] ?? "")
  const gzipEtag = gzipTag(etag)
  const headers = {
    etag: compressed ? gzipEtag : etag,
    "cache-control": cache,
    ...(gzipped === undefined ? undefined : { vary: "accept-encoding" })
  }
  if (hasAlready(asked["if-none-match"], [etag, gzipEtag]))
    return HttpServerResponse.empty({ status: 304, headers })
  return compressed
    ? HttpServerResponse.uint8Array(gzipped, {
        contentType,
        headers: { ...headers, "content-encoding": "gzip" }
      })
    : HttpServerResponse.uint8Array(bytes, { contentType, headers })
}

/** {@link constantAnswer} to the current request. */
export const answerConstant = (
  body: ConstantBody,
  cache: string
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => constantAnswer(body, request, cache))
