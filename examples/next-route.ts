/** Next: `app/api/sign-in/route.ts`. A sign-in link is worthless after a quarter of an hour, and so is its mail. */
import { sendEmail } from "postlane"

export const runtime = "nodejs"

export const POST = async (request: Request): Promise<Response> => {
  const { email } = (await request.json()) as { email: string }
  const link = `https://shop.example.com/sign-in?token=${crypto.randomUUID()}`
  const result = await sendEmail({
    to: email,
    subject: "Sign in",
    text: `Follow this link: ${link}`,
    category: "auth",
    source: "api:sign-in",
    expiresAt: new Date(Date.now() + 15 * 60_000).toISOString()
  })
  // The same answer whether the address is known, suppressed or wrong; the log knows.
  if (!result.ok) console.error(result.error)
  return Response.json({ ok: true }, { status: 202 })
}
