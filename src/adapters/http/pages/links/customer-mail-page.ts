import type { EmailLogRow } from "../../../../domain/delivery/email-log-row.ts"
import type { EmailLogPage } from "../../../../ports/delivery/email-log-query.ts"
import { page } from "../html-page.ts"
import { type Html, html, lines } from "../html.ts"
import { moment, tag, moodOf } from "../ui.ts"

/** The list of an address, as its link shows it. */
interface CustomerMail {
  readonly recipient: string
  /** ISO 8601. */
  readonly until: string
  readonly found: EmailLogPage
}

/** What became of a mail for this address. */
const standing = (
  { dropped_addresses: dropped, last_event: event, status }: EmailLogRow,
  recipient: string
) =>
  dropped.includes(recipient)
    ? html`${tag("left out", "bad")} The address is on the suppression list.`
    : html`${tag(status, moodOf(status))}${event === null || event === status ? undefined : ` ${event.replaceAll("_", " ")}`}`

/** Subjects of sign-in mails may hold codes. */
const subjectOf = ({ category, subject }: EmailLogRow): string =>
  category === "auth" ? "(a sign-in mail)" : subject || "(no subject)"

const line =
  (recipient: string) =>
  (row: EmailLogRow): Html =>
    html`<tr><th scope="row">${subjectOf(row)}</th><td>${standing(row, recipient)}</td><td>${moment(row.created_at)}</td><td>${
      row.last_event_at === null ? "–" : moment(row.last_event_at)
    }</td></tr>`

/** What one address was mailed, newest first: no other address, no words of a provider, no bodies. */
export const customerMailPage = ({ found, recipient, until }: CustomerMail): Html =>
  page(
    `Mail to ${recipient}`,
    html`<h1>Mail to ${recipient}</h1>
<p>This link works until ${moment(until)}.</p>
${
  found.rows.length === 0
    ? html`<p>No mail${found.nextCursor === null ? "" : " here"}.</p>`
    : html`<table><caption>Newest first, each mail once</caption>
<thead><tr><th scope="col">Subject</th><th scope="col">Stands</th><th scope="col">Sent</th><th scope="col">Last heard</th></tr></thead>
<tbody>
${lines(found.rows.map(line(recipient)))}
</tbody></table>`
}
${found.nextCursor === null ? undefined : html`<p><a href="?cursor=${encodeURIComponent(found.nextCursor)}">Older mail</a></p>`}`
  )

/** For a link that is forged, cut or over. */
export const customerMailGonePage: Html = page(
  "This link does not work",
  html`<h1>This link does not work</h1>
<p>It may have expired, or it was cut when it was copied. Ask the person who gave it to you for a new one.</p>`
)
