import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

import type { ProgressMoment } from "../../domain/conversion/progress.ts"

/** A comment line this often keeps proxies from closing a quiet stream (contract). */
const KEEP_OPEN_EVERY = "15 seconds"

const encoder = new TextEncoder()

/** An event in the format of server-sent events; the data is one line of JSON. */
const eventText = ({ data, event }: ProgressMoment): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Moments as a response that ends with the last of them. */
export const eventStream = (
  moments: Stream.Stream<ProgressMoment>
): HttpServerResponse.HttpServerResponse => {
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
