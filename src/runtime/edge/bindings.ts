import { type Context, type Logger, Result, Effect, Redacted } from "effect"

import { problem, type Problem } from "../../adapters/http/server/problem.ts"
import { lineLogger, type LogSink, scrubOf } from "../process/log-lines.ts"
import { decodeSettings, type Env, type SettingProblem, type Settings } from "../settings/settings.ts"
import { SETTINGS } from "../settings/table.ts"

/** What a worker gets as `env`: settings as texts, numbers and booleans, and bindings of other kinds. */
export type Bindings = Readonly<Record<string, unknown>>

// oxlint-disable-next-line no-console -- a worker's console is its log
const sink: LogSink = { write: (line) => console.log(line.trimEnd()) }

/** The settings of these areas. The listener's and the roles' mean nothing here, whatever a binding of that name holds. */
const envOf = (bindings: Bindings, areas: ReadonlySet<string>): Env => {
  const given: Record<string, string> = {}
  for (const { alias, area, name } of SETTINGS) {
    if (!areas.has(area) || (area === "service" && name !== "BASE_URL")) continue
    for (const one of alias === undefined ? [name] : [name, alias]) {
      const value = bindings[one]
      if (typeof value === "string") given[one] = value
      else if (typeof value === "number" || typeof value === "boolean") given[one] = String(value)
    }
  }
  return given
}

/** The settings of a call, and the loggers that know its secrets. */
interface BoundSettings {
  readonly settings: Result.Result<Settings, ReadonlyArray<SettingProblem>>
  readonly loggers: Context.Service.Shape<typeof Logger.CurrentLoggers>
}

/** Reads the settings of these areas at each call: bindings belong to it. */
export const readBindings = (bindings: Bindings, areas: ReadonlySet<string>): BoundSettings => {
  const settings = decodeSettings(envOf(bindings, areas), { embedded: false, library: true, edge: true })
  const scrub = Result.isSuccess(settings) ? scrubOf(settings.success) : (text: string) => text
  return { settings, loggers: new Set([lineLogger(sink, scrub)]) }
}

/**
 * Whether a second argument holds the bindings of a call. Deno and Bun hand over the connection and the server there: those have members
 * and none of our settings. An empty object is bindings without a setting, by which everybody is refused.
 */
export const areBindings = (given: unknown): given is Bindings => {
  if (typeof given !== "object" || given === null) return false
  const prototype: unknown = Object.getPrototypeOf(given)
  const isPlain = prototype === Object.prototype || prototype === null
  return (
    (isPlain && Object.keys(given).length === 0) ||
    SETTINGS.some(({ alias, name }) => name in given || (alias ?? name) in given)
  )
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

/**
 * Whether the caller presents the secret as `x-proxy-secret`; both are hashed and compared in constant time. An unset secret
 * matches no caller.
 */
export const presents = (request: Request, secret: Redacted.Redacted | undefined) =>
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

/** The body; reading stops with a problem beyond `maxBody` bytes. */
export const readBody = (request: Request, maxBody: number): Effect.Effect<Uint8Array, Problem> => {
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
