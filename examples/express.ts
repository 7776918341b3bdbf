/** Express: a route that mails a receipt. Called twice with one order, it sends once. */
import express from "express"
import { sendEmail } from "postlane"

export const app = express()
app.use(express.json())

app.post("/orders/:order/receipt", async (request, response) => {
  const { to } = request.body as { to: string }
  const result = await sendEmail({
    to,
    subject: `Receipt for order ${request.params.order}`,
    text: "Thank you.",
    category: "transactional",
    source: "api:receipts",
    idempotencyKey: `receipt/${request.params.order}`,
    // A customer does not wait for a provider that hangs: the retry is queued, where there is a database.
    deferAfterMs: 2_000
  })
  // 202 where a provider has it, or a retry is durably queued.
  response.status(result.ok ? 202 : 502).json(result.ok ? { id: result.sendId } : { error: result.error })
})

if (import.meta.main) app.listen(3000)
