import { Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"

import { ACCOUNT_PAGE_PATHS, PAGE_PATHS } from "../pages/paths.ts"
import { DevApi, Api } from "../routes/api.ts"
import { problem, problemResponse } from "../server/problem.ts"
import type { MethodsOf } from "./failure.ts"

interface Entry {
  readonly pattern: RegExp
  readonly method: string
}

/** Paths that no API group declares; all of them are read only. */
const UNDECLARED: ReadonlyArray<string> = ["/docs", ...PAGE_PATHS, ...ACCOUNT_PAGE_PATHS]

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/:[A-Za-z]+/g, "[^/]+")}$`)

/** The methods that each path allows, so that a wrong one is 405 and not 404. Used only where no route matched. */
export const methodTable = (options: { readonly embedded: boolean }): MethodsOf => {
  const entries: Array<Entry> = UNDECLARED.map((path) => ({ method: "GET", pattern: patternOf(path) }))
  const declare = {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }: { readonly endpoint: { readonly method: string; readonly path: string } }) =>
      void entries.push({ method: endpoint.method, pattern: patternOf(endpoint.path) })
  }
  HttpApi.reflect(Api, declare)
  if (options.embedded) HttpApi.reflect(DevApi, declare)
  return (path) => [
    ...new Set(
      entries
        .filter(({ pattern }) => pattern.test(path))
        .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    )
  ]
}

/** What every process serves, with any roles. */
const ALWAYS = new Set(["/health", "/ready", "/metrics"])

const notServed = problemResponse(
  problem("NOT_FOUND", "This process does not serve the API (POSTLANE_ROLES)")
)

/** The handler of a process without the role `api`: it can be monitored and takes no work. */
export const healthOnly = <E, R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    ALWAYS.has(request.url.split("?", 1)[0]!) ? handler : Effect.succeed(notServed)
  )
