import { Effect, Exit, Logger, Redacted, Result, Scope } from "effect"
import { HttpServerResponse } from "effect/http"

import { problem, type Problem, problemResponse } from "../adapters/http/problem.ts"
import { withDeadline } from "../domain/deadline.ts"
import { lineLogger, type LogSink } from "./log-lines.ts"
import { scrubOf } from "./scrub.ts"
import { SETTING_NAMES, settingOf } from "./settings-table.ts"
import { decodeSettings, type Env, type Settings } from "./settings.ts"

/** A function of the edge: a request and the bindings that hold its settings. It never rejects. */
export type EdgeFunction = (request: Request, env: Readonly<Record<string, unknown>>) => Promise<Response>

/** What one function does. */
export interface FunctionParts {
  /** True: the caller has to present `PROXY_SHARED_SECRET` as `x-proxy-secret`. */
  readonly guarded: boolean
  /** Largest body that is read, bytes; 0: none is. */
  readonly maxBody: number
  readonly answer: (call: {
    readonly request: Request
    readonly settings: Settings
    readonly body: Uint8Array
  }) => Effect.Effect<HttpServerResponse.HttpServerResponse, Problem, Scope.Scope>
}

/** How long an answer waits for its connection to close. */
const CLOSE_TIME_LIMIT = "1 second"

const GROUPS: ReadonlySet<string> = new Set([
  "access",
  "database",
  "providerA",
  "events",
  "domains",
  "service"
])

/** The listener's and the roles' settings mean nothing here, whatever a binding of that name holds. */
const NAMES: ReadonlyArray<string> = SETTING_NAMES.flatMap((name) => {
  const { alias, group } = settingOf(name)
  if (!GROUPS.has(group) || (group === "service" && name !== "BASE_URL")) return []
  return alias === undefined ? [name] : [name, alias]
})

// oxlint-disable-next-line no-console -- a worker's console is its log
const sink: LogSink = { write: (line) => console.log(line.trimEnd()) }

const envOf = (bindings: Readonly<Record<string, unknown>>): Env => {
  const given: Record<string, string> = {}
  for (const name of NAMES) {
    const value = bindings[name]
    if (typeof value === "string") given[name] = value
    else if (typeof value === "number" || typeof value === "boolean") given[name] = String(value)
  }
  return given
}

const digestOf = (bytes: Uint8Array<ArrayBuffer>) =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", bytes)),
    (hash) => new Uint8Array(hash)
  )

const areEqual = (a: Uint8Array, b: Uint8Array): boolean => {
  let difference = 0
  for (const [index, byte] of a.entries()) difference |= byte ^ (b[index] ?? -1)
  return difference === 0
}

/** Whether the caller presents the secret; both sides are hashed, and every byte is compared. Unset, nobody does. */
const presents = (request: Request, secret: Redacted.Redacted | undefined) =>
  Effect.gen(function* () {
    const expected = secret === undefined ? "" : Redacted.value(secret)
    const presented = request.headers.get("x-proxy-secret") ?? ""
    const utf8 = new TextEncoder()
    // Runtimes read a header as UTF-8, or as one character a byte; the secret may be written in UTF-8.
    const [wanted, asText, asBytes] = yield* Effect.all([
      digestOf(utf8.encode(expected)),
      digestOf(utf8.encode(presented)),
      digestOf(Uint8Array.from(presented, (character) => character.charCodeAt(0)))
    ])
    const equal = [areEqual(asText, wanted), areEqual(asBytes, wanted)]
    return expected !== "" && equal.includes(true)
  })

const readBody = (request: Request, maxBody: number): Effect.Effect<Uint8Array, Problem> => {
  const tooLarge = problem("PAYLOAD_TOO_LARGE", `The body may hold ${maxBody} bytes at most`)
  if (Number(request.headers.get("content-length") ?? 0) > maxBody) return Effect.fail(tooLarge)
  const read = async (): Promise<Uint8Array | undefined> => {
    const chunks: Array<Uint8Array> = []
    let length = 0
    const reader = request.body?.getReader()
    while (reader !== undefined) {
      const { done, value } = await reader.read()
      if (done) break
      length += value.length
      if (length > maxBody) {
        await reader.cancel()
        return undefined
      }
      chunks.push(value)
    }
    const whole = new Uint8Array(length)
    let at = 0
    for (const chunk of chunks) {
      whole.set(chunk, at)
      at += chunk.length
    }
    return whole
  }
  return Effect.tryPromise({
    try: read,
    catch: () => problem("INVALID_REQUEST", "The body ended early")
  }).pipe(Effect.flatMap((body) => (body === undefined ? Effect.fail(tooLarge) : Effect.succeed(body))))
}

const answered = (parts: FunctionParts, request: Request, settings: Settings) =>
  Effect.gen(function* () {
    if (request.method !== "POST") {
      return problemResponse(problem("METHOD_NOT_ALLOWED", "Only POST is allowed here"), { allow: "POST" })
    }
    if (parts.guarded && !(yield* presents(request, settings.access.proxySharedSecret))) {
      return yield* Effect.fail(problem("FORBIDDEN", "The header x-proxy-secret is missing or wrong"))
    }
    const body = parts.maxBody === 0 ? new Uint8Array() : yield* readBody(request, parts.maxBody)
    const scope = yield* Scope.make()
    return yield* parts.answer({ request, settings, body }).pipe(
      Scope.provide(scope),
      Effect.ensuring(
        withDeadline(Scope.close(scope, Exit.void), {
          duration: CLOSE_TIME_LIMIT,
          onTimeout: () => Effect.void
        }).pipe(Effect.catchCause((cause) => Effect.logWarning("a function did not close", cause)))
      )
    )
  }).pipe(Effect.catch((refused) => Effect.succeed(problemResponse(refused))))

const failedInside = problemResponse(problem("INTERNAL", "Something failed inside"))

/** Makes the plain fetch handler of a function. Settings are read at each call: bindings belong to it. */
export const makeFunction =
  (parts: FunctionParts): EdgeFunction =>
  async (request, env) => {
    const decoded = decodeSettings(envOf(env), { embedded: false, library: true, edge: true })
    const settings = Result.getOrUndefined(decoded)
    const loggers = new Set([lineLogger(sink, settings === undefined ? (text) => text : scrubOf(settings))])
    const answer =
      settings === undefined
        ? Effect.as(
            Effect.logError("the settings cannot be used", {
              problems: Result.isFailure(decoded) ? decoded.failure : []
            }),
            failedInside
          )
        : answered(parts, request, settings)
    const response = await Effect.runPromise(
      answer.pipe(
        Effect.catchCause((cause) => Effect.as(Effect.logError("a function died", cause), failedInside)),
        Effect.provideService(Logger.CurrentLoggers, loggers)
      )
    )
    return HttpServerResponse.toWeb(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
  }
