import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

import type { ObjectStoreError, ObjectStoreService } from "../../../ports/object-store.ts"
import { PAGE_MEDIA_TYPE } from "../pages/paths.ts"

/** A comment line this often keeps proxies from closing a quiet stream (DOC-44). */
const KEEP_OPEN_EVERY = "15 seconds"

const encoder = new TextEncoder()

/** What one event reports. */
interface Moment {
  readonly event: string
  readonly data: unknown
}

/** An event in the format of server-sent events; the data is one line of JSON. */
const eventText = ({ data, event }: Moment): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Moments as a response that ends with the last of them. */
export const eventStream = (moments: Stream.Stream<Moment>): HttpServerResponse.HttpServerResponse => {
  const comments = Stream.fromEffectRepeat(Effect.as(Effect.sleep(KEEP_OPEN_EVERY), ": still here\n\n"))
  const lines = Stream.merge(Stream.map(moments, eventText), comments, { haltStrategy: "left" })
  return HttpServerResponse.stream(
    Stream.map(lines, (text) => encoder.encode(text)),
    {
      contentType: "text/event-stream",
      headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
    }
  )
}

/** A result is untrusted HTML: it may render itself and do nothing else. */
const RESULT_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

/** Headers of every answer that carries a result, or a part of one. */
export const RESULT_HEADERS = {
  "content-security-policy": RESULT_POLICY,
  "x-content-type-options": "nosniff",
  "cache-control": "private, no-cache"
}

/** Streams a result, with these additional headers; the caller has checked access. */
export const resultResponse = (
  objects: Pick<ObjectStoreService, "get" | "stat">,
  key: string,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<HttpServerResponse.HttpServerResponse, ObjectStoreError> =>
  Effect.map(objects.stat(key), ({ size }) =>
    HttpServerResponse.stream(Stream.orDie(objects.get(key)), {
      contentType: PAGE_MEDIA_TYPE,
      contentLength: size,
      headers: { ...RESULT_HEADERS, ...headers }
    })
  )
