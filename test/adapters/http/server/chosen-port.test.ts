import { createServer, type Server } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"

import { choosePort } from "../../../../src/adapters/http/server/node-server.ts"

const HOST = "127.0.0.1"

/** The code of what a listener on this port meets, or that it listens. */
const listenOn = (port: number): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly server: Server; readonly met: string }>((resume) => {
        const server = createServer()
        server.once("error", (error: NodeJS.ErrnoException) =>
          resume(Effect.succeed({ server, met: error.code ?? "" }))
        )
        server.listen({ host: HOST, port }, () => resume(Effect.succeed({ server, met: "listens" })))
      }),
      ({ server }) => Effect.callback<void>((closed) => void server.close(() => closed(Effect.void)))
    ),
    ({ met }) => met
  )

describe("the port of PORT=0", () => {
  it.effect("is kept from others until it is let go, and then free at once", () =>
    Effect.gen(function* () {
      const chosen = yield* choosePort(HOST)
      assert.isDefined(chosen)
      assert.strictEqual(yield* listenOn(chosen.port), "EADDRINUSE")
      yield* chosen.release
      assert.strictEqual(yield* listenOn(chosen.port), "listens")
    }).pipe(Effect.scoped)
  )

  it.effect("is let go with its scope", () =>
    Effect.gen(function* () {
      const chosen = yield* Effect.scoped(choosePort(HOST))
      assert.isDefined(chosen)
      assert.strictEqual(yield* listenOn(chosen.port), "listens")
    }).pipe(Effect.scoped)
  )

  it.effect("is none on an address that is not this machine's", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* choosePort("192.0.2.1"))
    }).pipe(Effect.scoped)
  )
})
