import type { IncomingMessage, Server, ServerResponse } from "node:http"

/** How long bodies may take. */
interface BodyTimes {
  /** Milliseconds for a whole request; for a patient one, for each {@link LEAST_BYTES} of it. */
  readonly requestTimeout: number
}

/** What a patient request has to bring in the time of a whole other one; 9 KB a second at the usual 60 s. */
export const LEAST_BYTES = 512 * 1024

/** For how many such times on end a patient request may wait for this server to read on: an object store that is slow, not one that is gone. */
const MOST_WAITS = 5

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/**
 * Cuts requests whose bodies dawdle. Node's own limit is one for the whole server and for the whole of a request, which no
 * large upload would fit into: a request that `isPatient` takes as long as it needs while it comes on, until it is answered.
 * One that waits for this server to read it is cut too in the end: a handler that never reads on would hold it for ever.
 */
export const watchBodies = (
  server: Server,
  options: BodyTimes & {
    readonly isPatient: (request: IncomingMessage) => boolean
    /** Answers and closes; only for a request that nothing was answered to. */
    readonly onSlow: (request: IncomingMessage) => void
    /** Reports a patient request that this server did not read on; it is cut as well. */
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
