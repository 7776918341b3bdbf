import { once } from "node:events"
import { connect, type Socket } from "node:net"

import { afterEach, describe, expect, it } from "vitest"

import { call, startServer, type TestServer } from "../harness.ts"

let server: TestServer | undefined
const opened: Array<Socket> = []
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await server?.stop()
})

/** A connection on which these bytes are sent, from an address of this machine; `closed` once the server has ended it. */
const open = async (port: number, text: string, localAddress = "127.0.0.1") => {
  const socket = connect({ port, host: "127.0.0.1", localAddress })
  opened.push(socket)
  const closed = once(socket, "close").then(() => "closed" as const)
  socket.on("error", () => {})
  socket.resume()
  await Promise.race([once(socket, "connect"), closed])
  socket.write(text)
  return { socket, closed }
}

const UNFINISHED = "POST /api/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
const answered = async (port: number, localAddress: string) => {
  const { socket } = await open(port, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n", localAddress)
  return Promise.race([
    once(socket, "data").then(([data]) => String(data).slice(0, 12)),
    once(socket, "close").then(() => "closed")
  ])
}

describe("connections of one client (H3)", () => {
  it("are as many as it may have, and others have theirs", async () => {
    const { port } = (server = await startServer({ maxConnections: 100, connectionsOfClient: 3 }))
    const held = [await open(port, UNFINISHED), await open(port, ""), await open(port, UNFINISHED)]
    expect(await answered(port, "127.0.0.1")).toBe("closed")
    expect(await answered(port, "127.0.0.2")).toBe("HTTP/1.1 200")
    held[0]!.socket.destroy()
    await expect.poll(() => answered(port, "127.0.0.1")).toBe("HTTP/1.1 200")
    expect((await call(server, "/metrics", { localAddress: "127.0.0.3" })).text).toContain(
      "postlane_http_connections_refused_total"
    )
  })

  it("make room for a newcomer where there is none, the largest holder's first, and none that waits for its answer", async () => {
    const { port } = (server = await startServer({ maxConnections: 6, connectionsOfClient: 100 }))
    const small = await open(port, UNFINISHED, "127.0.0.2")
    const held = []
    for (let count = 0; count < 5; count += 1) held.push(await open(port, UNFINISHED))
    expect(await answered(port, "127.0.0.3")).toBe("HTTP/1.1 200")
    expect(await held[0]!.closed).toBe("closed")
    expect(small.socket.destroyed).toBe(false)
    // The client that holds the most gets no more.
    expect(await answered(port, "127.0.0.1")).toBe("closed")
  })
})
