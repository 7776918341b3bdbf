import type { OutboxEntry } from "../../../ports/mail/simulated-mail.ts"
import { escape, page, pagePolicy } from "./html-page.ts"

/** Nothing on these pages can be sent anywhere. */
export const PAGE_POLICY = pagePolicy("'none'")

const row = (message: OutboxEntry): string =>
  `<tr><td><time datetime="${escape(message.at)}">${escape(message.at.replace("T", " ").replace(/\.\d+Z$/, " UTC"))}</time></td>` +
  `<th scope="row"><a href="/dev/messages/${encodeURIComponent(message.id)}">${escape(message.subject) || "(no subject)"}</a></th>` +
  `<td>${escape(message.from)}</td><td>${escape(message.to.join(", "))}</td><td>${escape(message.via)}</td></tr>`

/** The outbox as a page: a table, newest first, each subject a link to its message. */
export const outboxPage = (messages: ReadonlyArray<OutboxEntry>): string => {
  const table = `<table>
<caption>Newest first; reload the page for newer ones.</caption>
<thead><tr><th scope="col">When</th><th scope="col">Subject</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Via</th></tr></thead>
<tbody>
${messages.map(row).join("\n")}
</tbody>
</table>`
  return page(
    "Outbox",
    `<h1>Outbox</h1>
<p>The mail that the simulated providers delivered. None of it left this machine. <a href="/dev/templates">Mails that Postlane writes itself</a></p>
${messages.length === 0 ? "<p>Nothing yet. Send a mail, then reload this page.</p>" : table}`
  )
}

/** One message: its source as plain text. */
export const messagePage = (id: string, raw: Uint8Array): string =>
  page(
    "Message",
    `<h1>Message</h1>
<p><a href="/dev">Back to the outbox</a> · <a href="/dev/outbox/${encodeURIComponent(id)}">Download the message (.eml)</a></p>
<h2 id="source">Source</h2>
<pre tabindex="0" role="region" aria-labelledby="source">${escape(new TextDecoder().decode(raw))}</pre>`
  )

const templateRow = ({ kind, subject }: { readonly kind: string; readonly subject: string }): string =>
  `<tr><th scope="row"><a href="/dev/templates/${encodeURIComponent(kind)}">${escape(kind)}</a></th><td>${escape(subject)}</td>` +
  `<td><a href="/dev/templates/${encodeURIComponent(kind)}?as=text">${escape(kind)} as text</a></td></tr>`

/** The product's own mails, each with its sample's subject. */
export const templatesPage = (
  mails: ReadonlyArray<{ readonly kind: string; readonly subject: string }>
): string =>
  page(
    "Mails",
    `<h1>Mails that Postlane writes itself</h1>
<p><a href="/dev">Back to the outbox</a></p>
<table>
<caption>Each with sample data.</caption>
<thead><tr><th scope="col">Mail</th><th scope="col">Subject</th><th scope="col">Plain text</th></tr></thead>
<tbody>
${mails.map(templateRow).join("\n")}
</tbody>
</table>`
  )
