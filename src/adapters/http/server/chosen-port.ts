import { createServer } from "node:net"

import { Effect, type Scope } from "effect"

/** A port that the system chose, held until it is released. */
interface ChosenPort {
  readonly port: number
  /** Releases it for the listener, which binds it at once. */
  readonly letGo: Effect.Effect<void>
}

/**
 * Chooses a port for `PORT=0` before there is a listener: links in mails and the addresses that this process posts to
 * contain it. Undefined where this host has none: the listener then reports why.
 */
export const choosePort = (host: string): Effect.Effect<ChosenPort | undefined, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<ChosenPort | undefined>((resume) => {
      // Nobody should know the port yet; a connection to it is closed at once.
      const server = createServer((socket) => socket.destroy())
      server.once("error", () => resume(Effect.succeed(undefined)))
      server.listen({ host, port: 0 }, () => {
        const address = server.address()
        const letGo = Effect.callback<void>((closed) => void server.close(() => closed(Effect.void)))
        resume(
          address === null || typeof address === "string"
            ? Effect.as(letGo, undefined)
            : Effect.succeed({ port: address.port, letGo })
        )
      })
    }),
    (chosen) => chosen?.letGo ?? Effect.void
  )
