import { readFile } from "node:fs/promises"

import { Duration, Effect } from "effect"

import type { SmtpListenError } from "../../../adapters/smtp/listener.ts"
import { CannotStart } from "../../process/run-program.ts"
import type { InboundSettings } from "../../settings/settings.ts"

/** How often a port that is taken is tried again: another process may have it until it ends. */
const LISTEN_AGAIN = Duration.seconds(2)

/** Reads a certificate and its key; undefined where none is set. `prefix`: of the settings that name their files. */
export const certificate = Effect.fnUntraced(function* (
  prefix: "SMTP" | "SUBMISSION",
  { tlsCert, tlsKey }: Pick<InboundSettings["submission"], "tlsCert" | "tlsKey">
) {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  const read = (setting: string, path: string) =>
    Effect.tryPromise({
      try: () => readFile(path, "utf8"),
      catch: (cause) => new CannotStart({ message: `${setting} cannot be read: ${String(cause)}` })
    })
  return { cert: yield* read(`${prefix}_TLS_CERT`, tlsCert), key: yield* read(`${prefix}_TLS_KEY`, tlsKey) }
})

/** Where a server listens, and the setting that says so. */
interface Listener {
  readonly what: string
  readonly setting: "SMTP_PORT" | "SUBMISSION_PORT"
  readonly host: string
  readonly port: number
}

/** Listens; where the port is taken, waits for it. */
export const listen = Effect.fnUntraced(function* <R>(
  { host, port: wanted, setting, what }: Listener,
  serve: Effect.Effect<{ readonly port: number }, SmtpListenError, R>
) {
  let isLogged = false
  while (true) {
    const { port } = yield* serve.pipe(
      Effect.catchTag("SmtpListenError", (error) =>
        Effect.gen(function* () {
          if (error.code !== "EADDRINUSE") return yield* error
          if (!isLogged) {
            yield* Effect.logWarning(
              `${setting} ${wanted} is in use: no mail is accepted here until it is free (set another port, or 0)`
            )
          }
          isLogged = true
          yield* Effect.sleep(LISTEN_AGAIN)
          return { port: undefined }
        })
      )
    )
    if (port === undefined) continue
    yield* Effect.logInfo(`${what} listens on ${host}:${port}`).pipe(Effect.annotateLogs({ smtpPort: port }))
    return yield* Effect.never
  }
})
