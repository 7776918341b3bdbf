/** The shop's other mails: a password reset that expires, and a newsletter that can be left. */
import { type Client, unwrap } from "postlane/client"

/** A link that is of use for a quarter of an hour: a retry after that is not sent. */
export const sendReset = async (postlane: Client, to: string, link: string) =>
  unwrap(
    await postlane.sending.email({
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
