/** Hono on Cloudflare Workers: the bindings are the settings. */
import { Hono } from "hono"
import { sendEmail } from "postlane/edge"

interface Bindings {
  readonly PROVIDERA_API_KEY: string
}

const app = new Hono<{ Bindings: Bindings }>()

app.post("/contact", async (context) => {
  const { email, id, message } = await context.req.json<{ email: string; id: string; message: string }>()
  const result = await sendEmail(
    {
      to: "team@example.com",
      replyTo: email,
      subject: "A message from the website",
      text: message,
      category: "notification",
      source: "api:contact",
      idempotencyKey: `contact/${id}`
    },
    { env: { ...context.env } }
  )
  return result.ok ? context.json({ ok: true }, 202) : context.json({ error: result.error }, 502)
})

export default app
