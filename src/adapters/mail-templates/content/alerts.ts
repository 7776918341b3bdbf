import { cleanLine, cleanWithin } from "../clean.ts"
import { count, moment, paragraph, type Writer } from "./values.ts"

/** Longest value that an alert shows, characters: a provider's reason is often longer than a line. */
const MAX_FACT = 500

/** A mail that did not arrive, for admins: what the provider says, and what helps to find the mail. */
export const alert: Writer<"alert"> = (data, { line, some }) => {
  const title = `A mail ${line(data.what)}`
  const recipients = some(data.recipients, line, (more) => `${count(more)} more`).join(", ")
  const rows = (
    [
      ["To", recipients],
      ["Subject", data.subject],
      ["Reason", data.reason],
      ["Category", data.category],
      ["Source", data.source],
      ["Provider", data.provider],
      ["Message id", data.messageId],
      ["Send id", data.sendId],
      ["When", data.at === undefined ? undefined : moment(data.at)]
    ] as const
  ).flatMap(([name, value = ""]) => {
    const shown = cleanWithin(cleanLine, value, MAX_FACT)
    return shown === "" ? [] : [[name, shown] as const]
  })
  return {
    subject: `[Postlane] ${title}: ${recipients || "unknown recipient"}`,
    title,
    preview: line(data.reason ?? data.subject ?? recipients),
    blocks: [
      {
        piece: "table",
        caption: "What is known of it",
        columns: [
          { name: "Detail", figures: false },
          { name: "Value", figures: false }
        ],
        rows
      }
    ],
    footer: [["You get this mail because alerts about failed mail are sent to your address."]]
  }
}

/** An alarm that begins, with what to do about it, or ends. */
export const alarm: Writer<"alarm"> = (data, { line, text }) => {
  const title = `${data.remedy === undefined ? "Alarm over" : "Alarm"}: ${line(data.title)}`
  return {
    subject: `[Postlane] ${title}`,
    title,
    preview: line(data.detail),
    blocks: [data.detail, data.remedy].flatMap((one) => (one === undefined ? [] : [paragraph(text(one))])),
    footer: [["You get this mail because alarms are sent to your address."]]
  }
}
