import { connect } from "node:net"

import { Context, Effect, Exit, Layer, Scope } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { afterAll, expect, it } from "vitest"

import { nodeServerLayer } from "../../../src/adapters/http/node-server.ts"

let bodies = 0

/** Reads every body to its end. */
const app = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const text = yield* request.text
  bodies += 1
  return HttpServerResponse.text(text)
})

const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** The port of a server with these limits, milliseconds. */
const serve = async (limits: { readonly headersTimeout: number; readonly requestTimeout: number }) => {
  const times = { ...limits, keepAliveTimeout: 60_000, connectionsCheckingInterval: 50 }
  const server = nodeServerLayer({ host: "127.0.0.1", port: 0, times })
  const context = await Effect.runPromise(
    Layer.buildWithScope(Layer.provideMerge(HttpServer.serve(app), server), scope)
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  return "port" in address ? address.port : 0
}

/** Writes the start, then one more character after another until the server hangs up; gives what it said. */
const dawdle = (port: number, start: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let said = ""
    const drip = setInterval(() => socket.write("x"), 20)
    socket.on("data", (chunk) => {
      clearInterval(drip)
      said += chunk.toString("utf8")
    })
    // A connection that is cut without an answer may be written to once more.
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearInterval(drip)
      resolve(said)
    })
    socket.write(start)
  })

it("headers that come one character after another are cut off: 408, and the connection is closed", async () => {
  const port = await serve({ headersTimeout: 300, requestTimeout: 120_000 })
  const said = await dawdle(port, "GET / HTTP/1.1\r\nhost: x\r\nx-slow: ")
  expect(said).toMatch(/^HTTP\/1\.1 408 /)
  expect(said).toContain('"code":"REQUEST_TIMEOUT"')
  expect(said).toMatch(/\r\nconnection: close\r\n/i)
})

it("a connection on which nothing ever comes is closed", async () => {
  const port = await serve({ headersTimeout: 300, requestTimeout: 120_000 })
  const said = await new Promise<string>((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    socket.on("data", (chunk) => (text += chunk.toString("utf8")))
    socket.on("close", () => resolve(text))
  })
  expect(said).toMatch(/^HTTP\/1\.1 408 /)
})

it("a body that comes one character after another is cut off, and nothing is done with it", async () => {
  const before = bodies
  const port = await serve({ headersTimeout: 300, requestTimeout: 600 })
  const said = await dawdle(port, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n")
  expect(said).not.toMatch(/^HTTP\/1\.1 2/)
  expect(bodies).toBe(before)
})
