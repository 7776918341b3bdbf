import { Effect, Logger, Result, Scope } from "effect"
import { HttpServerResponse } from "effect/http"

import { invalidRequest, problem, type Problem, problemResponse } from "../../adapters/http/server/problem.ts"
import { unknownName } from "../../domain/nearest-name.ts"
import { WEBHOOK_AREAS } from "../settings/providers.ts"
import type { Settings } from "../settings/settings.ts"
import { areBindings, type Bindings, readBindings, presents, readBody } from "./bindings.ts"
import { closeConnections } from "./close-connections.ts"

/**
 * A function of the edge: a request and the bindings that hold its settings; without bindings (Deno, Bun), the process environment where
 * the runtime has one. It never rejects.
 */
export type EdgeFunction = (request: Request, env?: object) => Promise<Response>

/** What one function does. */
interface FunctionParts {
  /** `POST` unless given. */
  readonly method?: "GET" | "POST"
  /** True: the caller has to present `PROXY_SHARED_SECRET` as `x-proxy-secret`. */
  readonly guarded: boolean
  /** Largest body that is read, bytes; 0: none is. */
  readonly maxBody: number
  /** Names that its query may have; any unless given: others complete the addresses of webhooks and of links. */
  readonly query?: ReadonlyArray<string>
  /** Groups of settings that it reads; those of the three functions unless given. */
  readonly groups?: ReadonlySet<string>
  readonly answer: (call: {
    readonly request: Request
    readonly env: Bindings
    readonly settings: Settings
    readonly body: Uint8Array
  }) => Effect.Effect<HttpServerResponse.HttpServerResponse, Problem, Scope.Scope>
}

const GROUPS: ReadonlySet<string> = new Set([
  "access",
  "database",
  ...WEBHOOK_AREAS,
  "events",
  "domains",
  "service"
])

const unknownNames = (request: Request, known: ReadonlyArray<string> | undefined) =>
  known === undefined
    ? []
    : [...new URL(request.url).searchParams.keys()]
        .filter((name) => !known.includes(name))
        .map((name) => ({ path: name, message: unknownName(name, known) }))

const answered = (parts: FunctionParts, request: Request, env: Bindings, settings: Settings) =>
  Effect.gen(function* () {
    const method = parts.method ?? "POST"
    if (request.method !== method) {
      return problemResponse(problem("METHOD_NOT_ALLOWED", `Only ${method} is allowed here`), {
        allow: method
      })
    }
    if (parts.guarded && !(yield* presents(request, settings.access.proxySharedSecret))) {
      return yield* Effect.fail(problem("FORBIDDEN", "The header x-proxy-secret is missing or wrong"))
    }
    const unknown = unknownNames(request, parts.query)
    if (unknown.length > 0) return yield* Effect.fail(invalidRequest(unknown))
    const body = parts.maxBody === 0 ? new Uint8Array() : yield* readBody(request, parts.maxBody)
    const scope = yield* Scope.make()
    return yield* parts
      .answer({ request, env, settings, body })
      .pipe(Scope.provide(scope), Effect.ensuring(closeConnections(scope)))
  }).pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))

const failedInside = problemResponse(problem("INTERNAL", "Something failed inside"))

/** The settings of a runtime that hands over no bindings; not every one has a process. */
const ambientEnv = (): Bindings => {
  const { process } = globalThis as { readonly process?: { readonly env?: Bindings } }
  return process?.env ?? {}
}

/** Makes the plain fetch handler of a function. Settings are read at each call: bindings belong to it. */
export const makeFunction =
  (parts: FunctionParts): EdgeFunction =>
  async (request, env) => {
    const bindings = areBindings(env) ? env : ambientEnv()
    const { loggers, settings } = readBindings(bindings, parts.groups ?? GROUPS)
    const answer = Result.isFailure(settings)
      ? Effect.as(
          Effect.logError("the settings are wrong: every call is refused until they are mended", {
            problems: settings.failure
          }),
          failedInside
        )
      : answered(parts, request, bindings, settings.success)
    const response = await Effect.runPromise(
      answer.pipe(
        Effect.catchCause((cause) =>
          Effect.as(
            Effect.logError("a function failed inside Postlane: report this as a bug", cause),
            failedInside
          )
        ),
        Effect.provideService(Logger.CurrentLoggers, loggers)
      )
    )
    return HttpServerResponse.toWeb(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
  }
