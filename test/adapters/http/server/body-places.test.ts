import { once } from "node:events"
import { connect, type Socket } from "node:net"

import { Layer } from "effect"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"

import { EventRecording } from "../../../../src/application/delivery/event-recording.ts"
import * as Intake from "../../../../src/runtime/compose/delivery/delivery-intake.ts"
import { decodeSettings } from "../../../../src/runtime/settings/settings.ts"
import { call, startServer, type TestServer } from "../harness.ts"

const SECRET = `whsec_${Buffer.from("s".repeat(32)).toString("base64")}`
const PATH = "/functions/v1/provider-a-webhook"
const LENGTH = 900_000
/** Large bodies that are read at once. */
const PLACES = 64

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

/** Begins a webhook request over a connection of its own, without its body. */
const begin = async (headers: string) => {
  const socket = connect(server.port, "127.0.0.1")
  opened.push(socket)
  socket.on("error", () => {})
  await once(socket, "connect")
  socket.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: ${LENGTH}\r\n${headers}\r\n`)
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
    const socket = await begin(headers)
    const [data] = await once(socket, "data")
    expect(String(data)).toMatch(/^HTTP\/1\.1 400 /)
  })

  it("are read some at once when they are large; small ones never wait for them", async () => {
    const headers = `svix-id: a\r\nsvix-timestamp: ${seconds()}\r\nsvix-signature: v1,x\r\nExpect: 100-continue\r\n`
    // A body that brings nothing has its place for five seconds: they do not pass here.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    let read = 0
    for (let count = 0; count < 2 * PLACES; count += 1)
      (await begin(headers)).once("data", (data) => {
        expect(String(data)).toMatch(/^HTTP\/1\.1 100 /)
        read += 1
      })
    await expect.poll(() => read).toBe(PLACES)
    const body = JSON.stringify({ type: "contact.created", data: {} })
    const at = new Date()
    const signature = new Webhook(SECRET).sign("m1", at, body)
    const answer = await call(server, PATH, {
      method: "POST",
      headers: { "svix-id": "m1", "svix-timestamp": String(seconds()), "svix-signature": signature },
      body
    })
    expect([answer.status, answer.json]).toEqual([200, { ok: true, ignored: true }])
    expect(read).toBe(PLACES)
  })
})
