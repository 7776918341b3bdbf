import { Effect, Stream } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

import { gzipTag, hasAlready, takesGzip } from "./representations.ts"

/** Larger texts are sent as they are: most of them is pictures, and compressing would take a thread of the pool too long. Bytes. */
const MOST_COMPRESSED = 4_000_000

/** Bytes that never change under their name, read when they are asked for. */
export interface StoredBody {
  readonly contentType: string
  /** Bytes. */
  readonly size: number
  /** Strong validator, with its quotes. */
  readonly etag: string
  /** The bytes from this one on. */
  readonly read: (from: number) => Stream.Stream<Uint8Array>
  readonly headers: Readonly<Record<string, string>>
}

/** A strong validator: the hash of the bytes, or of what names them. */
export const tagOf = (bytes: Uint8Array): Effect.Effect<string> =>
  Effect.promise(async () => {
    const hash = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))
    return `"${Base64Url.encode(new Uint8Array(hash)).slice(0, 22)}"`
  })

/** A part of a body: its first byte and its length, which is 1 at least. */
interface ByteRange {
  readonly from: number
  readonly length: number
}

/**
 * The part that a Range header names (RFC 9110, section 14.2). Undefined, for the whole, unless the header names one range of
 * bytes (a server may answer several with the whole); "none" when the range lies beyond the end.
 */
export const rangeOf = (header: string | undefined, size: number): ByteRange | "none" | undefined => {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.replaceAll(/[ \t]/g, "") ?? "")
  if (match === null) return undefined
  const [, first = "", last = ""] = match
  if (first === "") {
    if (last === "") return undefined
    const length = Math.min(Number(last), size)
    return length === 0 ? "none" : { from: size - length, length }
  }
  const from = Number(first)
  const end = last === "" ? size : Math.min(Number(last) + 1, size)
  if (last !== "" && Number(last) < from) return undefined
  return from >= size ? "none" : { from, length: end - from }
}

/** The first `length` bytes of a stream, which is not read further. */
const firstBytes = (bytes: Stream.Stream<Uint8Array>, length: number): Stream.Stream<Uint8Array> =>
  bytes.pipe(
    Stream.mapAccum(
      () => length,
      (left: number, chunk) => [left - chunk.length, [{ chunk: chunk.subarray(0, left), left }]] as const
    ),
    Stream.takeUntil(({ chunk, left }) => chunk.length >= left),
    Stream.map(({ chunk }) => chunk)
  )

/** {@link storedAnswer} of bytes in memory. */
export const bytesAnswer = (
  bytes: Uint8Array,
  contentType: string,
  request: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  headers: Readonly<Record<string, string>>
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(tagOf(bytes), (etag) => {
    const read = (from: number) => Stream.succeed(bytes.subarray(from))
    return storedAnswer({ contentType, size: bytes.length, etag, read, headers }, request)
  })

/** Headers of an answer that is compressed for those who take it; `vary` may name more that it depends on. */
const varying = (headers: StoredBody["headers"]): StoredBody["headers"] => ({
  ...headers,
  vary: headers["vary"] === undefined ? "accept-encoding" : `${headers["vary"]}, accept-encoding`
})

/** Headers of the compressed bytes: other bytes, so another name. */
const ofGzip = (headers: StoredBody["headers"]): StoredBody["headers"] => ({
  ...headers,
  "content-encoding": "gzip",
  ...(headers["etag"] === undefined ? {} : { etag: gzipTag(headers["etag"]) })
})

/** Text of unknown length, compressed where the client takes it: for downloads that are made while they are read. */
export const textDownload = (
  text: Stream.Stream<string>,
  { headers: asked }: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  { contentType, headers }: Pick<StoredBody, "contentType" | "headers">
): HttpServerResponse.HttpServerResponse => {
  const bytes = Stream.encodeText(text)
  return takesGzip(asked["accept-encoding"] ?? "")
    ? HttpServerResponse.stream(gzipped(bytes), { contentType, headers: ofGzip(varying(headers)) })
    : HttpServerResponse.stream(bytes, { contentType, headers: varying(headers) })
}

/** Compresses the stream as it is read, by the platform: in Node in its thread pool. */
const gzipped = (bytes: Stream.Stream<Uint8Array>): Stream.Stream<Uint8Array> =>
  Stream.fromReadableStream({
    evaluate: () =>
      Stream.toReadableStream(bytes).pipeThrough(
        new CompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>
      ),
    onError: (cause) => cause
  }).pipe(Stream.orDie)

/**
 * The answer with a stored body: 304 where the client has it; a part where it asks for one (of the version that it names in If-Range,
 * if it names one), so that a broken download can resume; text is compressed for a client that takes gzip.
 */
export const storedAnswer = (
  { contentType, etag, headers: fixed, read, size }: StoredBody,
  { headers: asked }: Pick<HttpServerRequest.HttpServerRequest, "headers">
): HttpServerResponse.HttpServerResponse => {
  const isText = contentType.startsWith("text/")
  const known = { ...fixed, etag, "accept-ranges": "bytes" }
  const headers = isText ? varying(known) : known
  if (hasAlready(asked["if-none-match"], [etag, gzipTag(etag)]))
    return HttpServerResponse.empty({ status: 304, headers })
  const isSame = asked["if-range"] === undefined || asked["if-range"].trim() === etag
  const range = isSame ? rangeOf(asked["range"], size) : undefined
  if (range === "none")
    return HttpServerResponse.empty({
      status: 416,
      headers: { ...headers, "content-range": `bytes */${size}` }
    })
  if (range !== undefined)
    return HttpServerResponse.stream(firstBytes(read(range.from), range.length), {
      status: 206,
      contentType,
      contentLength: range.length,
      headers: {
        ...headers,
        "content-range": `bytes ${range.from}-${range.from + range.length - 1}/${size}`
      }
    })
  return isText && size <= MOST_COMPRESSED && takesGzip(asked["accept-encoding"] ?? "")
    ? HttpServerResponse.stream(gzipped(read(0)), {
        contentType,
        headers: ofGzip(headers)
      })
    : HttpServerResponse.stream(read(0), { contentType, contentLength: size, headers })
}
