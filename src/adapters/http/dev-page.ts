import { createHash } from "node:crypto"

import type { OutboxEntry } from "../../ports/simulated-mail.ts"

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 0 auto; padding: 1rem }
table { border-collapse: collapse; width: 100% }
caption { text-align: start; padding-block: .5rem }
th, td { text-align: start; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid GrayText; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid GrayText }
a:focus-visible { outline: 3px solid Highlight; outline-offset: 2px }
`

/** Nothing runs on these pages and nothing is loaded: the one style sheet is allowed by its hash. */
export const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char]!)

const page = (title: string, main: string): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} – Postlane</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`

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
<p>The mail that the simulated providers delivered. None of it left this machine.</p>
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
