import type { Socket } from "node:net"

import { Data, Effect, Stream, type Scope } from "effect"
import type { SMTPServer, SMTPServerAddress, SMTPServerDataStream } from "smtp-server"

/** How long a client may be silent, milliseconds. */
export const IDLE_MS = 60_000

/** How long a connection may last, milliseconds: enough for 40 MB at 0.5 Mbit/s, but not for a byte every minute forever. */
export const CONNECTION_MS = 12 * 60_000

/** How long connections may take to end when a server stops, milliseconds. */
export const CLOSE_MS = 5_000

/** Bytes that are handed on together: a client that sends a mail byte by byte costs no more than another one. */
const PIECE = 64 * 1024

/** Parameters of MAIL that the greeting offers; RCPT has none (RFC 5321, section 4.1.1.11). */
export const MAIL_PARAMETERS: ReadonlySet<string> = new Set(["SIZE", "BODY", "SMTPUTF8"])

/** Nothing listens: the port is taken, or not ours to take. */
export class SmtpListenError extends Data.TaggedError("SmtpListenError")<{
  readonly code: string
  readonly message: string
}> {}

/** The mail has more bytes than the server announced. */
class TooLarge extends Data.TaggedError("TooLarge") {}

/** The client went away in the middle of its mail. */
class Cut extends Data.TaggedError("Cut")<{ readonly cause: unknown }> {}

/** A certificate and its private key, PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Answers a command. */
export type Callback = (error?: Error | null, message?: string) => void

export const refusal = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode })

/** The parameter of a command that the greeting did not offer: a client that relies on it must not get 250 (RFC 5321, section 4.1.1.11). */
export const unknownParameter = (
  { args }: SMTPServerAddress,
  offered: ReadonlySet<string> = new Set()
): string | undefined => Object.keys(args === false ? {} : args).find((name) => !offered.has(name))

export const notOffered = (name: string) => refusal(555, `5.5.4 ${name} is not supported here`)

/** Streams a mail up to the size limit. The rest of it stays in `stream`. */
export const bytesOf = (stream: SMTPServerDataStream): Stream.Stream<Uint8Array, TooLarge | Cut> =>
  Stream.fromAsyncIterable(
    (async function* () {
      let piece: Array<Uint8Array> = []
      let bytes = 0
      for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
        if (stream.sizeExceeded) throw new TooLarge()
        piece.push(chunk as Uint8Array)
        bytes += (chunk as Uint8Array).length
        if (bytes < PIECE) continue
        yield Buffer.concat(piece)
        piece = []
        bytes = 0
      }
      if (stream.sizeExceeded) throw new TooLarge()
      if (bytes > 0) yield Buffer.concat(piece)
    })(),
    (cause) => (cause instanceof TooLarge ? cause : new Cut({ cause }))
  )

/** Reads the rest of a mail that is refused, so that the answer comes where the client looks for it. */
export const drained = (stream: SMTPServerDataStream, most: number, cut: () => void): Promise<void> =>
  new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) return resolve()
    stream
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve())
    stream.on("data", () => {
      // A client that keeps sending is not waiting for an answer.
      if (stream.byteLength > most) cut()
    })
    stream.resume()
  })

/** Where a server listens; port 0 lets the system choose. */
interface Place {
  readonly host: string
  readonly port: number
}

const listening = (server: SMTPServer, { host, port }: Place) =>
  Effect.callback<number, SmtpListenError>((resume) => {
    const failed = (cause: Error & { readonly code?: unknown }) =>
      resume(
        Effect.fail(
          new SmtpListenError({
            code: typeof cause.code === "string" ? cause.code : "",
            message: cause.message
          })
        )
      )
    server.once("error", failed)
    const listener = server.listen(port, host, () => {
      server.off("error", failed)
      const address = listener.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

const closed = (server: SMTPServer) =>
  Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))

/** Listens until the scope closes, each connection admitted before the server greets its client. Returns the port. */
export const listenOn = Effect.fnUntraced(function* (
  server: SMTPServer,
  place: Place,
  admit: (socket: Socket) => void
): Effect.fn.Return<{ readonly port: number }, SmtpListenError, Scope.Scope> {
  yield* Effect.acquireRelease(Effect.succeed(server), closed)
  const port = yield* listening(server, place)
  // Protocol errors on a client's connection are reported to that client.
  server.on("error", () => undefined)
  server.server.prependListener("connection", admit)
  return { port }
})
