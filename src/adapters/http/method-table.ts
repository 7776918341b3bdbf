import { HttpApi } from "effect/http-api"

import { ACCOUNT_PAGE_PATHS } from "./account-paths.ts"
import { DevApi, Api } from "./api/api.ts"
import type { MethodsOf } from "./failure.ts"
import { PAGE_PATHS } from "./pages/paths.ts"

interface Entry {
  readonly pattern: RegExp
  readonly method: string
}

/** Paths that no API group declares; all of them are read only. */
const UNDECLARED: ReadonlyArray<string> = ["/docs", ...PAGE_PATHS, ...ACCOUNT_PAGE_PATHS]

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/:[A-Za-z]+/g, "[^/]+")}$`)

/** Knows which methods each path takes, so that a wrong one is a 405 and not a 404. Asked only where no route matched. */
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
