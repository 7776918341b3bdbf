import { Context, Effect, Layer, Option, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"

import { boundedBody, MAX_ANSWER } from "../../domain/bounded-body.ts"
import { type Fetch, Transport, type TransportRequest } from "../../ports/mail/transport.ts"

const requestOf = (url: string, { body, headers, method }: TransportRequest) => {
  const request = HttpClientRequest.setHeaders(
    HttpClientRequest.make(method as "POST")(url),
    headers instanceof Headers ? Object.fromEntries(headers) : headers
  )
  const type = request.headers["content-type"]
  if (body === undefined) return request
  return typeof body === "string"
    ? HttpClientRequest.bodyText(request, body, type)
    : HttpClientRequest.bodyUint8Array(request, body, type)
}

/** `fetch` by a client of Effect. The adapters know a connection that was never made by what it threw. */
const fetchBy = (client: HttpClient.HttpClient): Effect.Effect<Fetch> =>
  Effect.map(Effect.context<never>(), (context) => (url, request) => {
    const init = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
    return client.execute(requestOf(url, request)).pipe(
      Effect.flatMap(({ headers, status, stream }) => {
        const whole = boundedBody(MAX_ANSWER)
        return Stream.runForEach(stream, (chunk) => Effect.sync(() => whole.add(chunk))).pipe(
          Effect.map(() => ({ status, headers: new Headers(headers), body: [whole.bytes()] }))
        )
      }),
      Effect.mapError(({ reason }) => ("cause" in reason ? (reason.cause ?? reason) : reason)),
      // A redirect would make the POST a GET, and carry the key elsewhere.
      Effect.provideService(FetchHttpClient.RequestInit, { ...init, redirect: "manual" }),
      (asked) => Effect.runPromiseWith(context)(asked, { signal: request.signal })
    )
  })

/** The `HttpClient` of the context, where there is one, makes the requests to the providers. */
export const layerTransport: Layer.Layer<never> = Layer.effect(
  Transport,
  Effect.map(Effect.serviceOption(HttpClient.HttpClient), (client) =>
    Option.isSome(client) ? fetchBy(client.value) : undefined
  )
)
