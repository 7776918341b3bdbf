import { isProvider, providerName } from "../../../domain/mail/provider.ts"
import { cleanLine, cleanWithin } from "../clean.ts"
import { count, moment, paragraph, type Writer } from "./values.ts"

/** Longest value that an alert shows, characters: a provider's reason is often longer than a line. */
const MAX_FACT = 500

const providerNamed = (provider: string): string => (isProvider(provider) ? providerName(provider) : provider)

/** A mail that did not arrive, for admins: what became of it and why, its page, and what helps to find the mail. */
export const alert: Writer<"alert"> = (data, { line, link, some, url }) => {
  const title = `A mail ${line(data.what)}`
  const recipients = some(data.recipients, line, (more) => `${count(more)} more`).join(", ")
  const reason = cleanWithin(cleanLine, data.reason ?? "", MAX_FACT)
  const rows = (
    [
      ["To", recipients],
      ["Subject", data.subject],
      ["When", data.at === undefined ? undefined : moment(data.at)],
      ["Category", data.category],
      ["Source", data.source],
      ["Provider", providerNamed(data.provider)],
      ["Message id", data.messageId],
      ["Send id", data.sendId]
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
      ...(reason === "" ? [] : [paragraph("Reason: ", { strong: reason })]),
      { piece: "button", text: "See the mail", url: url(data.url) },
      ...(data.suppressionsUrl === undefined
        ? []
        : [
            paragraph(
              "It may have suppressed its address: ",
              link("see the suppressions", data.suppressionsUrl)
            )
          ]),
      {
        piece: "table",
        caption: "What is known of it",
        columns: [
          { name: "Detail", figures: false, own: true },
          { name: "Value", figures: false }
        ],
        rows
      }
    ],
    footer: [
      [
        "You get this mail because alerts about failed mail are sent to your address. The page Notifications switches them off."
      ]
    ]
  }
}

/** An alarm that begins, with what to do about it, or ends. */
export const alarm: Writer<"alarm"> = (data, { line, text, url }) => {
  const title = `${data.remedy === undefined ? "Alarm over" : "Alarm"}: ${line(data.title)}`
  return {
    subject: `[Postlane] ${title}`,
    title,
    preview: line(data.detail),
    blocks: [
      ...[data.detail, data.remedy].flatMap((one) => (one === undefined ? [] : [paragraph(text(one))])),
      { piece: "button", text: "See the overview", url: url(data.url) }
    ],
    footer: [["You get this mail because alarms are sent to your address."]]
  }
}

/** Shows that a channel of the alerts works. */
export const alertTest: Writer<"alert-test"> = (data, { line, url }) => ({
  subject: "[Postlane] A test of the alerts",
  title: "A test of the alerts",
  preview: "Alerts about failed mail arrive here.",
  blocks: [
    paragraph(
      "Alerts about failed mail arrive here. ",
      { strong: line(data.actor) },
      " asked for this test; there is nothing to do."
    ),
    { piece: "button", text: "See the notifications", url: url(data.url) }
  ],
  footer: []
})
