import { createServer } from "node:net"

import { Effect, type Scope } from "effect"

/** A port that the system chose, kept from everybody else until it is let go. */
interface ChosenPort {
  readonly port: number
  /** Sets it free for the listener, who takes it at once. */
  readonly letGo: Effect.Effect<void>
}

/**
 * Chooses a port for `PORT=0` before there is a listener: the addresses that mails hold, and those that this process posts to, are
 * made of it. Undefined where none can be had on this host: the listener then says why.
 */
export const choosePort = (host: string): Effect.Effect<ChosenPort | undefined, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<ChosenPort | undefined>((resume) => {
      // Nobody knows the port yet; whoever tries it all the same is told at once that nobody listens.
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
