import { Context, Effect, Layer } from "effect"
import { HttpMiddleware, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"

import { Api } from "../routes/api.ts"

const PARAMETER = ":token"

/** What precedes a token in the paths of the API, such as `/unsubscribe/`. */
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
 * A path of such a link, also with more after it, with doubled slashes or inside another address. One leading slash is
 * enough: an expression that begins with a run of slashes retries each run once for every slash in it.
 */
const LINK = new RegExp(
  `(${prefixes()
    .map((prefix) => `/${prefix.slice(1).replaceAll("/", "/+")}`)
    .join("|")})[^?#]+`,
  "gi"
)

/** An escape of an ASCII character that can be shown, but for those of `#` and `?`: escaped, they end no token. */
const ESCAPE = /%(2[0-24-9a-f]|3[0-9a-e]|[4-6][0-9a-f]|7[0-9a-e])/gi

/** An escaped per cent sign, however many times over (`%252525…`). */
const ESCAPED_PERCENT = /%(?:25)+/g

/** How often an address is decoded: `%%36%37` needs a second look. Each pass takes linear time. */
const PASSES = 3

/** The address as a router or a page that it leads to may read it: without escapes of ASCII, however nested. */
const decoded = (url: string): string => {
  let text = url
  for (let pass = 0; pass < PASSES && text.includes("%"); pass += 1) {
    text = text
      .replace(ESCAPED_PERCENT, "%")
      .replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
  return text
}

/**
 * The address with the route's pattern in place of a link's token. The token alone authorises what the link does, so that
 * it must be in no span and no log line. A link that is written otherwise (`/%73hared/…`, or inside the query of another
 * address) is found in the decoded address, which is returned then.
 */
export const withoutLinkTokens = (url: string): string => {
  const plain = url.replace(LINK, `$1${PARAMETER}`)
  if (!url.includes("%")) return plain
  const read = decoded(url)
  const safe = read.replace(LINK, `$1${PARAMETER}`)
  return safe === read ? plain : safe
}

/** What load balancers and scrapers ask all day. */
const PROBES = new Set(["/health", "/ready", "/metrics"])

/**
 * Turns off the server's own span, which has the unmodified address, for requests of such links; {@link traceLinks} makes theirs. Probes
 * have none.
 */
export const layerUntracedLinks: Layer.Layer<never> = Layer.succeed(
  HttpMiddleware.TracerDisabledWhen,
  ({ url }) => PROBES.has(url) || withoutLinkTokens(url) !== url
)

/** The span that {@link layerUntracedLinks} leaves out, without the token; the handler sees the unmodified address. */
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
