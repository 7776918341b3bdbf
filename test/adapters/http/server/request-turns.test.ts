import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"

import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { keepEarly, MOST_WAITING, takeTurns } from "../../../../src/adapters/http/server/request-turns.ts"
import { MAX_STALL_MS, stallOf } from "../../../hostile/stalls.ts"
import { call, startServer, type TestServer } from "../harness.ts"

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** Sends text over one connection and reads all that comes back until the other side closes. */
const exchange = async (text: string): Promise<string> => {
  const socket = connect(server.port, "127.0.0.1")
  const chunks: Array<Buffer> = []
  socket.on("data", (chunk: Buffer) => chunks.push(chunk))
  socket.on("error", () => {})
  socket.write(text)
  await once(socket, "close")
  return Buffer.concat(chunks).toString("latin1")
}

const statuses = (answers: string) =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)

it("a request that comes before the routes are there is answered once they are (H2)", async () => {
  const node = createServer()
  node.listen(0, "127.0.0.1")
  await once(node, "listening")
  const seen: Array<string> = []
  const watcher = () => void seen.push("watched")
  node.on("request", watcher)
  const before = new Set<unknown>([watcher])
  const hand = keepEarly(node, before)
  const { port } = node.address() as AddressInfo
  const asked = fetch(`http://127.0.0.1:${port}/early`).then((answer) => answer.text())
  await expect.poll(() => seen).toEqual(["watched"])
  node.on("request", (request, response) => void response.end(`answer to ${request.url}`))
  hand(() => takeTurns(node, before))
  expect(await asked).toBe("answer to /early")
  expect(await (await fetch(`http://127.0.0.1:${port}/later`)).text()).toBe("answer to /later")
  expect(seen).toEqual(["watched", "watched"])
  node.closeAllConnections()
  node.close()
})

describe("requests of one connection (H1, H3)", () => {
  it("are answered in their order, also several in one packet", async () => {
    const answers = await exchange(
      `${get("/health")}${get("/nowhere")}${get("/openapi.json")}GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    )
    expect(statuses(answers)).toEqual(["200", "404", "200", "200"])
  })

  it("end after as many as may wait: the rest is for another connection", async () => {
    const answers = await exchange(get("/health").repeat(1500))
    expect(statuses(answers)).toHaveLength(MOST_WAITING)
    expect(answers.lastIndexOf("Connection: close")).toBeGreaterThan(answers.lastIndexOf("HTTP/1.1"))
  })

  it.each(["/health", "/openapi.json", "/docs", "/nowhere", "/sign-in"])(
    "hold up nobody, however many there are (%s)",
    async (path) => {
      await call(server, path)
      const stall = await stallOf(async () => {
        const attack = Array.from({ length: 6 }, () => exchange(get(path).repeat(1500)))
        expect((await call(server, "/health")).status).toBe(200)
        await Promise.all(attack)
      })
      expect(stall).toBeLessThan(MAX_STALL_MS)
    }
  )

  it("are forgotten with a client that hangs up at once", async () => {
    const stall = await stallOf(async () => {
      for (let times = 0; times < 20; times++) {
        const socket = connect(server.port, "127.0.0.1")
        socket.on("error", () => {})
        await once(socket, "connect")
        socket.end(get("/docs").repeat(1000))
        socket.destroySoon()
        await once(socket, "close")
      }
      expect((await call(server, "/health")).status).toBe(200)
    })
    expect(stall).toBeLessThan(MAX_STALL_MS)
  })
})
