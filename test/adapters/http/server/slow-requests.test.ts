import { connect } from "node:net"

import { Context, Effect, Exit, Layer, Scope } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { afterAll, describe, expect, it } from "vitest"

import { LEAST_BYTES } from "../../../../src/adapters/http/server/body-watch.ts"
import { nodeServerLayer } from "../../../../src/adapters/http/server/node-server.ts"

let bodies = 0

/** Reads every body to its end, but for those that it answers early or never. */
const app = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (request.headers["x-early"] !== undefined) return HttpServerResponse.text("early", { status: 401 })
  if (request.headers["x-stuck"] !== undefined) return yield* Effect.interruptible(Effect.never)
  const text = yield* request.text
  bodies += 1
  return HttpServerResponse.text(text)
})

const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** Opens a connection whose half stays open, says something and never hangs up; gives what the server said once it did. */
const stay = (port: number, start: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    let said = ""
    socket.on("data", (chunk) => (said += chunk.toString("utf8")))
    let drip: NodeJS.Timeout | undefined
    // A server that has only ended its half takes what is written ever after; one that cut the connection refuses it.
    socket.on("end", () => void (drip = setInterval(() => socket.write("x"), 100)))
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearInterval(drip)
      resolve(said)
    })
    socket.write(start)
  })

/** The port of a server with these limits, milliseconds. */
const serve = async (limits: { readonly headersTimeout: number; readonly requestTimeout: number }) => {
  const times = { ...limits, keepAliveTimeout: 60_000, connectionsCheckingInterval: 50 }
  const isUpload = ({ url }: { readonly url?: string | undefined }) => url === "/upload"
  const server = nodeServerLayer({ host: "127.0.0.1", port: 0, times, isUpload })
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

/** Writes a body in parts, one each time the server has had some; gives what the server said once it hangs up. */
const upload = (port: number, path: string, parts: number, bytes: number, everyMs: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let said = ""
    let left = parts
    const next = () => {
      if (left-- > 0) socket.write(Buffer.alloc(bytes, "x"))
      else clearInterval(timer)
    }
    const timer = setInterval(next, everyMs)
    socket.on("data", (chunk) => (said += chunk.toString("utf8", 0, 1000)))
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearInterval(timer)
      resolve(said)
    })
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${parts * bytes}\r\n\r\n`
    socket.write(head)
  })

describe("an upload", () => {
  const limits = { headersTimeout: 300, requestTimeout: 1_500 }

  it("that comes on takes many times as long as another request may", async () => {
    const before = bodies
    const port = await serve(limits)
    const said = await upload(port, "/upload", 30, LEAST_BYTES / 2, 150)
    expect(said).toMatch(/^HTTP\/1\.1 200 /)
    expect(bodies).toBe(before + 1)
  })

  it("is cut where the same body goes elsewhere", async () => {
    const port = await serve(limits)
    const said = await upload(port, "/other", 30, LEAST_BYTES / 2, 150)
    expect(said).toMatch(/^HTTP\/1\.1 408 /)
    expect(said).toContain('"code":"REQUEST_TIMEOUT"')
  })

  it("that brings one character after another is cut off all the same, and nothing is done with it", async () => {
    const before = bodies
    const port = await serve(limits)
    const said = await dawdle(port, "POST /upload HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n")
    expect(said).toMatch(/^HTTP\/1\.1 408 /)
    expect(bodies).toBe(before)
  })
})

describe("a client that never hangs up is hung up on", () => {
  const limits = { headersTimeout: 300, requestTimeout: 600 }

  it.each([
    ["says nothing", ""],
    ["never ends its headers", "GET / HTTP/1.1\r\nhost: x\r\nx-slow: "],
    ["speaks no HTTP", "\u0016\u0003\u0001"],
    ["dawdles with a body", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n"],
    ["dawdles with a chunked body", "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"]
  ])("one that %s: answered, and its connection is gone", async (_, start) => {
    expect(await stay(await serve(limits), start)).toMatch(/^HTTP\/1\.1 40[08] /)
  })

  it("and so is one that was answered before its body came", async () => {
    const port = await serve(limits)
    for (const length of ["content-length: 100000", "transfer-encoding: chunked"]) {
      expect(await stay(port, `POST /upload HTTP/1.1\r\nhost: x\r\nx-early: 1\r\n${length}\r\n\r\n`)).toMatch(
        / 401 /
      )
    }
  })

  it("and one that asks for another protocol has the limits of all", async () => {
    const port = await serve(limits)
    const head =
      "POST / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: x\r\ncontent-length: 100000\r\n\r\n"
    expect(await stay(port, head)).toMatch(/^HTTP\/1\.1 408 /)
  })
})

it("an upload that this server never reads on has an end, and is cut", async () => {
  const port = await serve({ headersTimeout: 300, requestTimeout: 100 })
  const head = "POST /upload HTTP/1.1\r\nhost: x\r\nx-stuck: 1\r\ncontent-length: 100000\r\n\r\nxxxx"
  expect(await stay(port, head)).toMatch(/^HTTP\/1\.1 408 /)
})
