import { connect } from "node:net"

import { Deferred, Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"

import { MAX_RELAY_BODY } from "../../../../src/adapters/http/routes/mail/relay.ts"
import { call, mail, PROXY_SECRET, raw, relay, sent, startServer, type TestServer } from "../harness.ts"

let sends = 0
let server: TestServer
beforeAll(async () => {
  server = await startServer({
    send: () =>
      Effect.sync(() => {
        sends += 1
        return sent
      })
  })
})
afterAll(() => server.stop())

const HEAD =
  `POST /api/send-email HTTP/1.1\r\nhost: x\r\nx-proxy-secret: ${PROXY_SECRET}\r\n` +
  "content-type: application/json\r\n"

it("413 for a declared length over the limit, before a byte of it is read", async () => {
  const head = `${HEAD}content-length: ${MAX_RELAY_BODY + 1}\r\n`
  const answer = await raw(server, `${head}\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toContain('"code":"PAYLOAD_TOO_LARGE"')
  const expecting = await raw(server, `${head}expect: 100-continue\r\n\r\n`)
  expect(expecting).toMatch(/^HTTP\/1\.1 413 /)
  expect(sends).toBe(0)
})

it("a chunked body is cut off once it passes the limit, though its end never comes", async () => {
  const socket = connect(server.port, "127.0.0.1")
  const answered = new Promise<string>((resolve) => {
    let text = ""
    socket.on("data", (data) => (text += data.toString()))
    socket.on("error", () => undefined)
    socket.on("close", () => resolve(text))
  })
  socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`)
  const megabyte = Buffer.alloc(1024 * 1024, 0x20)
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), megabyte, Buffer.from("\r\n")])
  let written = 0
  const write = (): void => {
    while (!socket.destroyed && written < 400) {
      written += 1
      if (!socket.write(chunk)) return void socket.once("drain", write)
    }
  }
  write()
  expect(await answered).toContain('"code":"PAYLOAD_TOO_LARGE"')
  expect(written).toBeLessThan(120)
  expect(sends).toBe(0)
})

it("takes attachments of 40 MB in base64", async () => {
  const content = "QUJD".repeat((40 * 1024 * 1024) / 3)
  const answer = await relay(server, {
    ...mail,
    attachments: [{ filename: "a.bin", contentType: "application/octet-stream", content }]
  })
  expect(answer.status).toBe(200)
  expect(sends).toBe(1)
})

it("a body that ends early sends nothing, and the server goes on", async () => {
  const before = sends
  await new Promise<void>((resolve) => {
    const socket = connect(server.port, "127.0.0.1")
    socket.on("close", () => resolve())
    socket.write(`${HEAD}content-length: 500\r\n\r\n{"to":`, () => socket.destroy())
  })
  expect((await call(server, "/health")).status).toBe(200)
  expect(sends).toBe(before)
})

it("large bodies are held a few at a time; small ones pass them", async () => {
  const release = Deferred.makeUnsafe<void>()
  const slow = await startServer({ send: () => Effect.as(Deferred.await(release), sent) })
  try {
    const continued: Array<number> = []
    const sockets = Array.from({ length: 7 }, (_, index) => {
      const socket = connect(slow.port, "127.0.0.1")
      socket.on("error", () => undefined)
      socket.on("data", () => continued.push(index))
      socket.write(`${HEAD}content-length: 5000000\r\nexpect: 100-continue\r\n\r\n`)
      return socket
    })
    await expect.poll(() => continued.length).toBe(4)
    const small = relay(slow, mail)
    Effect.runSync(Deferred.succeed(release, undefined))
    expect((await small).status).toBe(200)
    expect(continued.length).toBe(4)
    for (const index of continued.slice()) sockets[index]!.destroy()
    await expect.poll(() => continued.length).toBe(7)
    for (const socket of sockets) socket.destroy()
  } finally {
    await slow.stop()
  }
})
