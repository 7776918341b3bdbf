import { Effect, Hash, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

import type { ObjectStoreService } from "../../../ports/object-store.ts"
import { PAGE_MEDIA_TYPE } from "./representations.ts"
import { type StoredBody, storedAnswer, tagOf } from "./stored-body.ts"

/** A comment line this often keeps proxies from closing a quiet stream (DOC-44). */
const KEEP_OPEN_EVERY = "15 seconds"

const encoder = new TextEncoder()

/** What one event reports: a state, not a message. */
interface Moment {
  readonly event: string
  readonly data: unknown
  /** Names the state, where the data do not say it. */
  readonly state?: string
}

/** The id of an event: that of its state, whichever process sends it. */
const eventId = ({ data, event, state }: Moment): string => {
  const text = JSON.stringify([event, state ?? data])
  return `${text.length.toString(36)}-${(Hash.string(text) >>> 0).toString(36)}`
}

/** An event in the format of server-sent events; the data is one line of JSON. */
const eventText = (moment: Moment): string =>
  `event: ${moment.event}\ndata: ${JSON.stringify(moment.data)}\nid: ${eventId(moment)}\n\n`

/** A request for a stream, which may have broken off before. */
type Reopened = Pick<HttpServerRequest.HttpServerRequest, "headers">

/** Whether the request comes from a stream that broke off after this event. */
export const hasSeen = ({ headers }: Reopened, moment: Moment): boolean =>
  headers["last-event-id"] === eventId(moment)

/**
 * Moments as a response that ends with the last of them. A stream that broke off and is opened again (`Last-Event-ID`) gets the state
 * where it has changed meanwhile, and not again what it had; a comment says at once that it is open, since nothing else may be due.
 */
export const eventStream = (
  request: Reopened,
  moments: Stream.Stream<Moment>
): HttpServerResponse.HttpServerResponse => {
  const comments = Stream.fromEffectRepeat(Effect.as(Effect.sleep(KEEP_OPEN_EVERY), ": still here\n\n"))
  const unseen = Stream.dropWhile(moments, (moment) => hasSeen(request, moment))
  const lines = Stream.merge(Stream.map(unseen, eventText), comments, { haltStrategy: "left" })
  const opened = "last-event-id" in request.headers ? Stream.make(": open again\n\n") : Stream.empty
  return HttpServerResponse.stream(
    Stream.map(Stream.concat(opened, lines), (text) => encoder.encode(text)),
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

/**
 * Of a page of a result, which the document's page shows in a frame: its document has the origin of the page, so that the page scrolls it.
 * It still runs no script.
 */
export const FRAMED_HEADERS = {
  ...RESULT_HEADERS,
  "content-security-policy": RESULT_POLICY.replace(/^sandbox;/, "sandbox allow-same-origin;")
}

/** Answers a request with a result, with these additional headers; the caller has checked access. */
export const resultResponse = Effect.fnUntraced(function* (
  objects: Pick<ObjectStoreService, "get" | "stat">,
  key: string,
  request: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  headers: Readonly<Record<string, string>> = {}
) {
  const { size } = yield* objects.stat(key)
  const body: StoredBody = {
    contentType: PAGE_MEDIA_TYPE,
    size,
    // No object is written twice under its key; the hash does not reveal the key.
    etag: yield* tagOf(encoder.encode(`${key} ${size}`)),
    read: (from) => Stream.orDie(objects.get(key, { from })),
    headers: { ...RESULT_HEADERS, ...headers }
  }
  return storedAnswer(body, request)
})
