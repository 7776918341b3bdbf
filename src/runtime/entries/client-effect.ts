/** `postlane/client/effect`: the HTTP API as an Effect client, made of the server's own definition. Needs Node and the package `effect`. */
import { type Effect, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"

import { ROUTES } from "../../adapters/client/generated/routes.ts"
import { routeOf } from "../../adapters/client/route.ts"
import { Api } from "../../adapters/http/routes/api.ts"

export { Api } from "../../adapters/http/routes/api.ts"

export interface EffectClientOptions {
  readonly baseUrl: string
  /** Bearer token of an owner or an admin. */
  readonly token?: Redacted.Redacted | undefined
  /** The relay's shared secret; it is sent to the relay's own routes, and to no other. */
  readonly secret?: Redacted.Redacted | undefined
}

/** The routes that ask for the shared secret; their paths have no parameters. */
const WITH_SECRET = new Set(
  Object.values(ROUTES)
    .flatMap((routes): ReadonlyArray<string> => Object.values(routes))
    .flatMap((text) => {
      const { path, secret } = routeOf(text)
      return secret ? [path] : []
    })
)

const authorised = ({ baseUrl, secret, token }: EffectClientOptions) => {
  const base = new URL(baseUrl).pathname.replace(/\/$/, "")
  return HttpClient.mapRequest((request) => {
    const { pathname } = new URL(request.url, baseUrl)
    const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname
    if (WITH_SECRET.has(path)) {
      return secret === undefined
        ? request
        : HttpClientRequest.setHeader(request, "x-proxy-secret", Redacted.value(secret))
    }
    return token === undefined ? request : HttpClientRequest.bearerToken(request, token)
  })
}

/** The client: `client.files.getFile({ params: { fileId } })`. Problems are in the error channel, each with `code` and `retryable`. */
export const makeClient = (options: EffectClientOptions) =>
  HttpApiClient.make(Api, { baseUrl: options.baseUrl, transformClient: authorised(options) })

/** The service that {@link makeClient} makes. */
export type EffectClient = Effect.Success<ReturnType<typeof makeClient>>
