import { connect, createServer, type Socket, type AddressInfo } from "node:net"

import { Effect, type Scope } from "effect"

/** A TCP proxy on 127.0.0.1 that a test can make fail. */
export interface TcpProxy {
  readonly port: number
  /** Connections that are open now stay open, but nothing passes any more (half-open). New ones work. */
  readonly freeze: Effect.Effect<void>
  /** Cuts all connections; new ones are cut at once, until this is lifted. */
  readonly setRefusing: (refusing: boolean) => Effect.Effect<void>
}

/** Forwards to a port of this machine for as long as the scope is open. */
export const startTcpProxy = (targetPort: number): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.gen(function* () {
    const pairs = new Set<readonly [Socket, Socket]>()
    let refusing = false

    const server = createServer((near) => {
      near.on("error", () => near.destroy())
      if (refusing) return near.destroy()
      const far = connect(targetPort, "127.0.0.1")
      const pair = [near, far] as const
      pairs.add(pair)
      far.on("error", () => far.destroy())
      near.pipe(far)
      far.pipe(near)
      for (const [one, other] of [pair, [far, near] as const]) {
        one.on("close", () => {
          pairs.delete(pair)
          other.destroy()
        })
      }
    })
    const cut = () => {
      for (const [near, far] of pairs) {
        near.destroy()
        far.destroy()
      }
    }
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.promise(() => {
          cut()
          return new Promise<void>((resolve) => server.close(() => resolve()))
        })
    )
    return {
      port: (server.address() as AddressInfo).port,
      freeze: Effect.sync(() => {
        for (const [near, far] of pairs) {
          near.unpipe(far)
          far.unpipe(near)
          near.pause()
          far.pause()
        }
      }),
      setRefusing: (value) =>
        Effect.sync(() => {
          refusing = value
          if (value) cut()
        })
    }
  })
