/** An Express shop with a Postlane server: receipts, password resets and a newsletter; customers whose mail comes back are marked. */
import express from "express"
import { type Client, unwrap } from "postlane/client"
import { Webhook } from "standardwebhooks"

/** What an event hook posts, as far as the shop reads it. */
interface MailEvent {
  readonly type: string
  readonly data: { readonly to?: ReadonlyArray<string>; readonly permanent?: boolean }
}

/** The customers whom no mail reaches. */
export const unreachable = new Set<string>()

export const makeShop = (postlane: Client, hookSecret: string) => {
  const app = express()
  const webhook = new Webhook(hookSecret)

  // The key makes it one receipt, however often the order's page asks.
  app.post("/orders/:order/receipt", express.json(), async (request, response) => {
    const { order } = request.params
    const { to } = request.body as { to: string }
    const body = {
      to,
      subject: `Your receipt for order ${order}`,
      text: `Thank you. https://shop.example.com/orders/${order}`,
      category: "transactional",
      source: "api:shop",
      idempotencyKey: `receipt/${order}`,
      deferAfterMs: 2_000
    } as const
    const { ok } = await postlane.sending.api({ body })
    response.sendStatus(ok ? 202 : 502)
  })

  // The signature is that of the bytes as they came.
  app.post("/hooks/postlane", express.raw({ type: "*/*" }), (request, response) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    )
    try {
      const { data, type } = webhook.verify(String(request.body), headers) as MailEvent
      if (type === "email.bounced" && data.permanent === true)
        for (const address of data.to ?? []) unreachable.add(address)
      response.sendStatus(204)
    } catch {
      response.sendStatus(400)
    }
  })
  return app
}

/** A link that is of use for a quarter of an hour: a retry after that is not sent. */
export const sendReset = async (postlane: Client, to: string, link: string) =>
  unwrap(
    await postlane.sending.api({
      body: {
        to,
        subject: "Set a new password",
        text: link,
        category: "auth",
        source: "api:shop",
        expiresAt: new Date(Date.now() + 15 * 60_000).toISOString()
      }
    })
  )

/** Queued, a mail a reader, each once an issue: run it again after a crash. */
export const sendNewsletter = async (postlane: Client, issue: string, readers: ReadonlyArray<string>) => {
  for (let at = 0; at < readers.length; at += 100) {
    const emails = readers.slice(at, at + 100).map((to) => ({
      to,
      subject: `News ${issue}`,
      html: 'News. <a href="{{unsubscribe_url}}">Unsubscribe</a>',
      category: "marketing" as const,
      list: "weekly",
      source: "api:shop",
      idempotencyKey: `news/${issue}/${to}`
    }))
    unwrap(await postlane.queue.enqueueBatch({ body: { emails } }))
  }
}
