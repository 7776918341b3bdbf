/** A cron job: reminders that are due. A run that was killed is run again, and nobody is reminded twice. */
import { close, sendEmail } from "postlane"

interface Reminder {
  readonly id: string
  readonly to: string
  readonly text: string
}

/** Sends them one after another; returns the ids of those that did not go out, for the next run. */
export const remind = async (day: string, due: ReadonlyArray<Reminder>): Promise<ReadonlyArray<string>> => {
  const left: Array<string> = []
  for (const { id, text, to } of due) {
    const result = await sendEmail({
      to,
      subject: "A reminder",
      text,
      category: "notification",
      source: "cron:reminders",
      idempotencyKey: `reminder/${day}/${id}`
    })
    if (!result.ok && result.status === "failed") left.push(id)
  }
  return left
}

if (import.meta.main) {
  const due: ReadonlyArray<Reminder> = [{ id: "1", to: "ann@example.com", text: "Water the plants." }]
  const left = await remind(new Date().toISOString().slice(0, 10), due)
  await close()
  process.exitCode = left.length === 0 ? 0 : 1
}
