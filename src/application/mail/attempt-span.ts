import { Effect } from "effect"

/** Says on the attempt's span, where there is one, which server is asked. */
export const asksServer = (address: string): Effect.Effect<void> => {
  const url = URL.parse(address)
  return url === null
    ? Effect.void
    : Effect.annotateCurrentSpan({
        "server.address": url.hostname,
        "server.port": url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port)
      })
}

/** Says what it answered; nothing where there was no answer. */
export const answeredWith = (status: unknown): Effect.Effect<void> =>
  typeof status === "number" ? Effect.annotateCurrentSpan("http.response.status_code", status) : Effect.void
