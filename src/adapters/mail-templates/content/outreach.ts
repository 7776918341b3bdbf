import type { Block, Row } from "../mail-content.ts"
import { count, moment, paragraph, type Writer } from "./values.ts"

/** Marketing: the campaign's text, and always an unsubscribe link. */
export const outreach: Writer<"outreach"> = (data, { line, link, some, text, url }) => ({
  subject: line(data.subject),
  title: line(data.subject),
  preview: line(data.paragraphs[0] ?? data.subject),
  blocks: [
    ...some(
      data.paragraphs,
      (one) => paragraph(text(one)),
      (more) => paragraph(`(${count(more)} more paragraphs)`)
    ),
    ...(data.action === undefined
      ? []
      : [{ piece: "button" as const, text: line(data.action.text), url: url(data.action.url) }])
  ],
  footer: [[text(data.footer)], [link("Unsubscribe from these mails", data.unsubscribeUrl)]]
})

/** What happened on an account in a day or a week: figures first, then the events. */
export const auditDigest: Writer<"audit-digest"> = (data, { line, link, limits, some }) => {
  const failures = data.counts.reduce((sum, one) => sum + one.failures, 0)
  const summary = failures === 0 ? "nothing failed" : `${count(failures)} failed`
  const span = `${moment(data.from)} to ${moment(data.to)}`
  const unlisted = data.more + Math.max(0, data.events.length - limits.items)
  const figures: Block = {
    piece: "table",
    caption: "Figures",
    columns: [
      { name: "What", figures: false, own: true },
      { name: "Count", figures: true },
      { name: "Failed", figures: true }
    ],
    rows: some<(typeof data.counts)[number], Row>(
      data.counts,
      (one) => [
        line(one.label),
        count(one.count),
        one.failures === 0 ? "0" : { strong: count(one.failures) }
      ],
      (more) => [`${count(more)} more`, "not listed", "not listed"]
    )
  }
  const events: Block = {
    piece: "list",
    items: data.events
      .slice(0, limits.items)
      .map((event) => [
        `${moment(event.at)}, ${line(event.actor)}: `,
        line(event.what),
        ...(event.failed ? [" ", { strong: "Failed." }] : [])
      ])
  }
  return {
    subject: `${data.cadence === "daily" ? "Daily" : "Weekly"} digest: ${summary}`,
    title: data.cadence === "daily" ? "Your daily digest" : "Your weekly digest",
    preview: `${span}: ${summary}`,
    blocks: [
      paragraph(`From ${span}: ${summary}.`),
      ...(data.counts.length === 0 ? [] : [figures]),
      { piece: "heading", text: "What happened" },
      ...(data.events.length === 0 ? [paragraph("Nothing.")] : [events]),
      ...(unlisted === 0 ? [] : [paragraph(`${count(unlisted)} more are not listed.`)]),
      ...(data.links.length === 0
        ? []
        : [
            {
              piece: "list" as const,
              items: data.links.slice(0, limits.items).map((one) => [link(one.text, one.url)])
            }
          ])
    ],
    footer: [["You get this digest because you subscribed to it."]]
  }
}
