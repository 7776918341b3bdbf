import { createServer } from "node:http"

import { Effect, type Scope } from "effect"

import { problem } from "./problem.ts"

/** Answers for a server that cannot work yet. */
interface WaitingRoom {
  /** Frees the port for the server. */
  readonly close: Effect.Effect<void>
}

const ALIVE = { status: 200, body: JSON.stringify({ status: "ok" }), type: "application/json" }

const notReady = (reason: string) => ({
  status: 503,
  body: JSON.stringify({
    ...problem("NOT_READY", reason),
    checks: { database: { status: "failed" } },
    supervisors: []
  }),
  type: "application/problem+json"
})

/**
 * Listens in place of a server that waits for its database: `/health` says that the process is alive, everything else that it is not
 * ready. A port that cannot be had is left to the server, which says why.
 */
export const openWaitingRoom = (
  place: { readonly host: string; readonly port: number },
  reason: string
): Effect.Effect<WaitingRoom, never, Scope.Scope> => {
  const away = notReady(reason)
  return Effect.acquireRelease(
    Effect.callback<WaitingRoom>((resume) => {
      const server = createServer((request, response) => {
        const path = request.url?.split("?", 1)[0]
        const { body, status, type } = path === "/health" ? ALIVE : away
        response.writeHead(status, { "content-type": type, connection: "close" }).end(body)
      })
      const close = Effect.callback<void>((closed) => {
        server.close(() => closed(Effect.void))
        server.closeAllConnections()
      })
      server.once("error", () => resume(Effect.succeed({ close: Effect.void })))
      server.listen(place, () => resume(Effect.succeed({ close })))
    }),
    ({ close }) => close
  )
}
