import express from "express"
import { Webhook } from "standardwebhooks"

import { servePeer } from "../process.ts"
import { handPool, type HandMail, noteByHand, sendByHand } from "./by-hand.ts"
import { SECRET, WEBHOOK } from "./intake.ts"
import { resendClient } from "./peers.ts"

/** What a user would write by hand, with Express in front: a route that sends, and the vendor's webhook. */
const [databaseUrl = "", providerUrl = "", port = "0"] = process.argv.slice(2)
const pool = await handPool(databaseUrl)
const vendor = resendClient(providerUrl)
const webhook = new Webhook(SECRET.toString("base64"))

const app = express()
app.disable("x-powered-by")

app.post("/send-email", express.json(), (request, response, next) => {
  if (request.headers["x-proxy-secret"] !== "bench-secret") return void response.sendStatus(403)
  const mail = request.body as HandMail
  sendByHand(pool, vendor, mail).then((messageId) => response.json({ ok: true, messageId }), next)
})

app.post(WEBHOOK, express.raw({ type: "application/json" }), (request, response, next) => {
  const { headers } = request
  const body = String(request.body)
  webhook.verify(body, {
    "webhook-id": String(headers["svix-id"]),
    "webhook-timestamp": String(headers["svix-timestamp"]),
    "webhook-signature": String(headers["svix-signature"])
  })
  const event = JSON.parse(body) as {
    readonly type: string
    readonly created_at: string
    readonly data: { readonly email_id: string }
  }
  const noted = { type: event.type, at: event.created_at, messageId: event.data.email_id }
  noteByHand(pool, noted).then(() => response.json({ ok: true }), next)
})

const server = app.listen(Number(port), "127.0.0.1", () => {
  servePeer({}, () => {
    const { user, system } = process.cpuUsage()
    return user + system
  })
})
process.once("SIGTERM", () => {
  server.closeAllConnections()
  void pool.end().then(() => process.exit(0))
})
