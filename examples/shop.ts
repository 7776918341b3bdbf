/** A shop with a Postlane server: a receipt for each order, and customers whose mail comes back are marked. */
import { createServer, type IncomingMessage, type Server } from "node:http"
import { text } from "node:stream/consumers"

import { type Client, unwrap } from "postlane/client"
import { Webhook } from "standardwebhooks"

/** What an event hook posts, as far as the shop reads it. */
interface MailEvent {
  readonly type: string
  readonly data: { readonly to?: ReadonlyArray<string>; readonly permanent?: boolean }
}

/** The customers whom no mail reaches. */
export const unreachable = new Set<string>()

/** Mails the receipt of an order: however often it is called, once. */
export const sendReceipt = async (client: Client, order: { readonly id: number; readonly to: string }) =>
  unwrap(
    await client.sending.api({
      body: {
        to: order.to,
        subject: `Your receipt for order ${order.id}`,
        text: `Thank you. https://shop.example.com/orders/${order.id}`,
        category: "transactional",
        source: "api:shop",
        idempotencyKey: `receipt/${order.id}`
      }
    })
  )

const read = async (webhook: Webhook, request: IncomingMessage): Promise<MailEvent> => {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)])
  )
  return webhook.verify(await text(request), headers) as MailEvent
}

/** What the shop answers to an event: it marks the recipients of a mail that came back for good. */
const heard = async (webhook: Webhook, request: IncomingMessage): Promise<number> => {
  try {
    const { data, type } = await read(webhook, request)
    if (type === "email.bounced" && data.permanent === true)
      for (const address of data.to ?? []) unreachable.add(address)
    return 204
  } catch {
    return 400
  }
}

/** The shop's end of the event hook. */
export const makeHook = (secret: string): Server => {
  const webhook = new Webhook(secret)
  return createServer((request, response) => {
    void heard(webhook, request).then((status) => response.writeHead(status).end())
  })
}
