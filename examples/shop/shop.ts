/** An Express shop: one receipt an order, and customers whose mail comes back are marked. */
import express from "express"
import { type Client, readEvent } from "postlane/client"

/** The customers whom no mail reaches. */
export const unreachable = new Set<string>()

export const makeShop = (postlane: Client, hookSecret: string) =>
  express()
    .post("/orders/:order/receipt", express.urlencoded(), async (request, response) => {
      const { order } = request.params
      const { to } = request.body as { to: string }
      const sent = await postlane.sending.email({
        body: {
          to,
          subject: `Your receipt for order ${order}`,
          text: `Thank you. https://shop.example.com/orders/${order}`,
          category: "transactional",
          source: "api:shop",
          idempotencyKey: `receipt/${order}`, // one receipt, however often the page asks
          deferAfterMs: 2_000 // the customer waits no longer
        }
      })
      response.sendStatus(sent.ok ? 202 : 502)
    })
    .post("/hooks/postlane", express.raw({ type: "*/*" }), async (request, response) => {
      const event = await readEvent(request.body as Buffer, request.headers, hookSecret)
      if (event?.type === "email.bounced" && event.data.permanent)
        for (const address of event.data.to) unreachable.add(address)
      response.sendStatus(event === undefined ? 400 : 204)
    })
