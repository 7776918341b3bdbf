import type { AlarmName, NoticeKind } from "./alarm-rules.ts"
import type { AlertText } from "./alert-text.ts"

const TITLES: Readonly<Record<AlarmName, string>> = {
  failovers: "Sends fail over",
  provider_b_bounces: "Too many mails bounce",
  provider_b_complaints: "Too many mails are reported as spam",
  dead_letters: "Deferred mails could not be retried",
  fallback_only: "Only the fallback takes mail",
  deferred_sends: "Many mails wait for a retry",
  failed_sends: "Mails failed that nobody refused",
  silence_provider_a: "No delivery events of provider_a",
  silence_provider_b: "No delivery events of provider_b"
}

const ADVICE: Readonly<Record<AlarmName, string>> = {
  failovers: "The first provider refuses mail: look at the log lines EMAIL_FAILOVER for its reasons.",
  provider_b_bounces:
    "The provider reviews the account at 5 %. Find the source of the bad addresses and stop it.",
  provider_b_complaints:
    "The provider reviews the account at 0.1 %. Find the mail that people do not want and stop it.",
  dead_letters: "See GET /api/admin/dead-letters; POST /api/admin/dead-letters/:id/redrive puts one back.",
  fallback_only: "Mail goes out, and nothing is left to fail over to: see to the first provider.",
  deferred_sends:
    "A provider does not answer, or not clearly. The mails are tried again for half an hour; then they fail.",
  failed_sends:
    "See GET /api/admin/email-log?status=failed. With the kind ambiguous nobody can say whether the mail arrived; with unavailable no provider took it.",
  silence_provider_a: "Bounces go unseen. Look at the webhook, its signing secret and the poll.",
  silence_provider_b:
    "Bounces go unseen. Look at the event bus rule, its API destination and the webhook secret."
}

/** A notice in words. What it says is our own: names and figures, nothing that strangers wrote. */
export const alarmText = (name: AlarmName, kind: NoticeKind, detail: string): AlertText => {
  const heading = `${kind === "begun" ? "Alarm" : "Alarm over"}: ${TITLES[name]}`
  const lines = [
    `${detail[0]?.toUpperCase() ?? ""}${detail.slice(1)}.`,
    ...(kind === "begun" ? [ADVICE[name]] : [])
  ]
  return {
    subject: `[Postlane] ${heading}`,
    text: `${heading}.\n\n${lines.join("\n\n")}\n`,
    html:
      `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">` +
      `<title>${heading}</title></head><body>\n<h1>${heading}</h1>\n` +
      `${lines.map((line) => `<p>${line}</p>`).join("\n")}\n</body></html>\n`
  }
}
