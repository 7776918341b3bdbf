import { Context, Effect, Layer } from "effect"
import { HttpMiddleware, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"

import { Api } from "../routes/api.ts"

const PARAMETER = ":token"

/** What stands before a token in the paths of the API: `/unsubscribe/`, say. */
const prefixes = (): ReadonlyArray<string> => {
  const found = new Set<string>()
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { path } }) => {
      const at = path.indexOf(PARAMETER)
      if (at > 0) found.add(path.slice(0, at))
    }
  })
  return [...found]
}

/**
 * A path of such a link, also where it goes on, is written twice over or stands in another address. Of the slashes before it one
 * is enough: an expression that begins with a run of slashes tries each run once for every slash in it.
 */
const LINK = new RegExp(
  `(${prefixes()
    .map((prefix) => `/${prefix.slice(1).replaceAll("/", "/+")}`)
    .join("|")})[^?#]+`,
  "gi"
)

/**
 * The address with the route's pattern in place of a link's token. Whoever has the token may do what the link does: it
 * stands in no span and in no log line.
 */
export const withoutLinkTokens = (url: string): string => url.replace(LINK, `$1${PARAMETER}`)

/** The server's own span has the address as it came: there is none for a request of such a link. */
export const layerUntracedLinks: Layer.Layer<never> = Layer.succeed(
  HttpMiddleware.TracerDisabledWhen,
  ({ url }) => withoutLinkTokens(url) !== url
)

/** The span that {@link layerUntracedLinks} leaves out, of an address without its token; the handler sees it as it came. */
export const traceLinks = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
    const request = Context.get(context, HttpServerRequest.HttpServerRequest)
    const url = withoutLinkTokens(request.url)
    if (url === request.url) return handler
    return HttpMiddleware.tracer(
      Effect.provideService(handler, HttpServerRequest.HttpServerRequest, request)
    ).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request.modify({ url })),
      Effect.provideService(HttpMiddleware.TracerDisabledWhen, () => false)
    )
  })
