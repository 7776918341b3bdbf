import { once } from "node:events"
import { connect, type Socket } from "node:net"

import { Layer } from "effect"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { EventRecording } from "../../../../src/application/delivery/event-recording.ts"
import * as Intake from "../../../../src/runtime/compose/delivery/delivery-intake.ts"
import { decodeSettings } from "../../../../src/runtime/settings/settings.ts"
import { call, startServer, type TestServer } from "../harness.ts"

const SECRET = `whsec_${Buffer.from("s".repeat(32)).toString("base64")}`
const PATH = "/functions/v1/provider-a-webhook"
const LENGTH = 900_000

let server: TestServer
const opened: Array<Socket> = []
beforeAll(async () => {
  const settings = decodeSettings({ PROVIDERA_WEBHOOK_SECRET: SECRET }, { embedded: true })
  if (settings._tag === "Failure") throw new Error("settings")
  server = await startServer({
    intake: Intake.layer(settings.success),
    recording: Layer.mock(EventRecording, {})
  })
})
afterAll(async () => {
  for (const socket of opened) socket.destroy()
  await server.stop()
})

/** Begins a webhook request over a connection of its own, and sends only a part of its body. */
const begin = async (headers: string, part: number) => {
  const socket = connect(server.port, "127.0.0.1")
  opened.push(socket)
  socket.on("error", () => {})
  await once(socket, "connect")
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: ${LENGTH}\r\n${headers}\r\n${"x".repeat(part)}`
  )
  return socket
}

const seconds = (ago = 0) => Math.floor(Date.now() / 1000) - ago

describe("bodies of a webhook (W1, H1)", () => {
  it.each([
    ["no signature", ""],
    ["an old one", `svix-id: a\r\nsvix-timestamp: ${seconds(400)}\r\nsvix-signature: v1,x\r\n`],
    [
      "one of tomorrow",
      `webhook-id: a\r\nwebhook-timestamp: ${seconds(-86_400)}\r\nwebhook-signature: v1,x\r\n`
    ]
  ])("are not read where the headers have %s", async (_, headers) => {
    const socket = await begin(headers, 0)
    const [data] = await once(socket, "data")
    expect(String(data)).toMatch(/^HTTP\/1\.1 400 /)
  })

  it("are read some at once when they are large; small ones never wait for them", async () => {
    const headers = `svix-id: a\r\nsvix-timestamp: ${seconds()}\r\nsvix-signature: v1,x\r\n`
    const before = process.memoryUsage().rss
    for (let count = 0; count < 200; count += 1) await begin(headers, LENGTH - 1)
    const body = JSON.stringify({ type: "contact.created", data: {} })
    const at = new Date()
    const signature = new Webhook(SECRET).sign("m1", at, body)
    const answer = await call(server, PATH, {
      method: "POST",
      headers: { "svix-id": "m1", "svix-timestamp": String(seconds()), "svix-signature": signature },
      body
    })
    expect([answer.status, answer.json]).toEqual([200, { ok: true, ignored: true }])
    // 64 places of 0.9 MB; without them it would be 200.
    expect(process.memoryUsage().rss - before).toBeLessThan(140 * 1024 * 1024)
  })
})
