import type { IncomingMessage, Server, ServerResponse } from "node:http"

/** How long bodies may take. */
interface BodyTimes {
  /** Milliseconds for a whole request; for one that `isPatient`, for each {@link LEAST_BYTES} of it. */
  readonly requestTimeout: number
}

/** What a patient request must bring per `requestTimeout`; 9 KB a second at the default 60 s. */
export const LEAST_BYTES = 512 * 1024

/** For how many such periods in a row a patient request may wait for this server to read: a slow object store, not a dead one. */
const MOST_WAITS = 5

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/**
 * Cuts requests with bodies that arrive too slowly (HTTP-4). Node's own limit is one for all requests and for the whole request, too
 * short for a large upload: a request that `isPatient` may take as long as it needs while bytes arrive, until it is
 * answered. One that waits for this server to read is cut too in the end: a handler that stopped reading would hold it for ever.
 */
export const watchBodies = (
  server: Server,
  options: BodyTimes & {
    readonly isPatient: (request: IncomingMessage) => boolean
    /** Answers and closes; only for a request that has no answer yet. */
    readonly onSlow: (request: IncomingMessage) => void
    /** Reports a patient request that this server stopped reading; it is cut as well. */
    readonly onStuck: (request: IncomingMessage) => void
  }
): void => {
  const watch = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.complete || !hasBody(request)) return
    const patient = options.isPatient(request)
    let seen = request.socket.bytesRead
    let waits = 0
    const cut = () => {
      clearInterval(timer)
      if (response.headersSent) request.socket.destroy()
      else options.onSlow(request)
    }
    const look = () => {
      if (request.complete || request.destroyed) return clearInterval(timer)
      const now = request.socket.bytesRead
      const comesOn = now - seen >= LEAST_BYTES
      seen = now
      waits = comesOn || request.readableLength === 0 ? 0 : waits + 1
      const mayGoOn = patient && !response.headersSent && (comesOn || waits > 0)
      if (mayGoOn && waits < MOST_WAITS) return
      if (mayGoOn) options.onStuck(request)
      cut()
    }
    const timer = setInterval(look, options.requestTimeout)
    timer.unref()
    request.once("close", () => clearInterval(timer))
  }
  server.on("request", watch)
}
