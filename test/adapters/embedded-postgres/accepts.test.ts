import { once } from "node:events"
import { createServer, type Socket } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"

import { EmbeddedPostgres } from "../../../src/adapters/embedded-postgres/embedded-postgres.ts"
import { acceptsConnections } from "../../../src/adapters/embedded-postgres/port.ts"
import { patience, temporaryFolder, withServer } from "./harness.ts"

/** A server on loopback that runs `answer` for each connection. */
const speaking = (answer: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((socket) => {
        socket.on("error", () => socket.destroy())
        socket.once("data", () => answer(socket))
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => void server.close())
  ).pipe(
    Effect.map((server) => {
      const address = server.address()
      return address !== null && typeof address === "object" ? address.port : 0
    })
  )

describe("asking a server whether it takes connections", () => {
  it.live(
    "yes while it runs, no once it has ended",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const port = yield* withServer(
          folder,
          Effect.gen(function* () {
            const { url } = yield* EmbeddedPostgres
            const running = Number(new URL(Redacted.value(url)).port)
            assert.isTrue(yield* acceptsConnections(running))
            return running
          })
        )
        assert.isFalse(yield* acceptsConnections(port))
      }).pipe(Effect.scoped),
    patience
  )

  it.live.each([
    ["refuses since it is starting", (socket: Socket) => socket.end("E\0\0\0\u0010SFATAL\0C57P03\0\0")],
    ["hangs up", (socket: Socket) => socket.end()],
    ["resets", (socket: Socket) => socket.resetAndDestroy()]
  ] as const)("no when it %s", ([, answer]) =>
    Effect.gen(function* () {
      assert.isFalse(yield* acceptsConnections(yield* speaking(answer)))
    }).pipe(Effect.scoped)
  )
})
