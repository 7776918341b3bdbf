import type { IncomingMessage, Server, ServerResponse } from "node:http"

/** How long bodies may take. */
export interface BodyTimes {
  /** Milliseconds for a whole request; for a patient one, for each {@link LEAST_BYTES} of it. */
  readonly requestTimeout: number
}

/** What a patient request has to bring in the time of a whole other one; 9 KB a second at the usual 60 s. */
export const LEAST_BYTES = 512 * 1024

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/**
 * Cuts requests whose bodies dawdle. Node's own limit is one for the whole server and for the whole of a request, which no
 * large upload would fit into: a request that `isPatient` takes as long as it needs while it comes on, until it is answered.
 * One that waits for this server to read it is not cut.
 */
export const watchBodies = (
  server: Server,
  options: BodyTimes & {
    readonly isPatient: (request: IncomingMessage) => boolean
    /** Answers and closes; told only of a request that nothing was answered to. */
    readonly onSlow: (request: IncomingMessage) => void
  }
): void => {
  const watch = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.complete || !hasBody(request)) return
    const patient = options.isPatient(request)
    let seen = request.socket.bytesRead
    const cut = () => {
      clearInterval(timer)
      if (response.headersSent) request.socket.destroy()
      else options.onSlow(request)
    }
    const look = () => {
      if (request.complete || request.destroyed) return clearInterval(timer)
      const now = request.socket.bytesRead
      const comesOn = now - seen >= LEAST_BYTES || request.readableLength > 0
      seen = now
      if (!patient || response.headersSent || !comesOn) cut()
    }
    const timer = setInterval(look, options.requestTimeout)
    timer.unref()
    request.once("close", () => clearInterval(timer))
  }
  server.on("request", watch)
}
