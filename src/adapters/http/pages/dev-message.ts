import { formattedKey } from "../../../domain/mail/address.ts"
import type {
  ClientSupport,
  MessageFile,
  MessageLink,
  MessageView,
  UnsupportedFeature
} from "../../../ports/mail/message-views.ts"
import type { OutboxEntry, SimulatedEventType } from "../../../ports/mail/simulated-mail.ts"
import { confirmDialog } from "./dashboard.ts"
import { addressLinks, EVENT_WORDS, marksOf, moment, subjectOf } from "./dev-page.ts"
import { escape } from "./html-page.ts"
import type { ShellPage } from "./shell.ts"

/** The ways to look at a mail, in the order of their tabs. */
export const WAYS = ["html", "text", "headers", "source", "files", "links", "checks"] as const
type Way = (typeof WAYS)[number]

const TITLES: Readonly<Record<Way, string>> = {
  html: "HTML",
  text: "Text",
  headers: "Headers",
  source: "Source",
  files: "Attachments",
  links: "Links",
  checks: "Checks"
}

/** Most characters of the source, and most attachments, that a page shows. */
const MAX_SOURCE = 512 * 1024
const MAX_FILES = 500

/** Largest HTML that is checked for accessibility in the page. */
const MAX_CHECKED = 500 * 1024

/** Gmail hides what comes after this many bytes of HTML. */
const CLIPPED = 102 * 1024

/** How a mail is looked at. */
export interface Look {
  readonly way: Way
  readonly phone: boolean
  readonly images: boolean
}

/** All that its page shows of a mail. */
interface ShownMessage {
  readonly entry: OutboxEntry
  readonly raw: Uint8Array
  /** Or why it cannot be taken apart. */
  readonly view: MessageView | { readonly problem: string }
  readonly clients: ClientSupport | "failed" | undefined
  readonly older: string | undefined
  readonly newer: string | undefined
}

const pathOf = (id: string): string => `/dev/messages/${encodeURIComponent(id)}`

const hrefOf = (id: string, { images, phone, way }: Look): string => {
  const query = new URLSearchParams({
    view: way,
    ...(phone ? { width: "phone" } : {}),
    ...(images ? { images: "show" } : {})
  })
  return escape(`${pathOf(id)}?${query.toString()}`)
}

const sizeOf = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`
  const kilobytes = bytes / 1024
  return kilobytes < 1024 ? `${kilobytes.toFixed(0)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`
}

/** One of several links, of which one is where the reader is. */
const choice = (href: string, text: string, chosen: boolean): string =>
  `<li><a href="${href}"${chosen ? ` aria-current="true"` : ""}>${text}</a></li>`

const countOf = (way: Way, view: MessageView | undefined): string => {
  const count = way === "files" ? view?.files.length : way === "links" ? view?.links.length : undefined
  return count === undefined ? "" : ` (${count})`
}

const tabs = (id: string, look: Look, view: MessageView | undefined): string =>
  `<nav class="tabs" aria-label="Ways to look at this mail"><ul>${WAYS.map((way) =>
    choice(hrefOf(id, { ...look, way }), `${TITLES[way]}${countOf(way, view)}`, way === look.way)
  ).join("")}</ul></nav>`

const htmlPart = (id: string, look: Look, view: MessageView): string => {
  if (view.htmlProblem !== undefined)
    return `<p class="notice">${escape(view.htmlProblem)} Its source is all that can be shown.</p>`
  if (view.html === undefined) return `<p class="empty">This mail has no HTML.</p>`
  const pictures =
    view.remote === 0
      ? ""
      : look.images
        ? `<p>Pictures are loaded from the web. <a href="${hrefOf(id, { ...look, images: false })}">Block them</a></p>`
        : `<p>${view.remote} ${view.remote === 1 ? "picture or style is" : "pictures or styles are"} on the web and blocked. <a href="${hrefOf(id, { ...look, images: true })}">Show pictures</a></p>`
  return `<div class="tools"><nav aria-label="Width"><ul>${choice(hrefOf(id, { ...look, phone: false }), "Desktop", !look.phone)}${choice(hrefOf(id, { ...look, phone: true }), "Phone", look.phone)}</ul></nav>
${pictures}</div>
<iframe class="${look.phone ? "phone" : "desktop"}" title="The mail as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" src="${pathOf(id)}/html${look.images ? "?images=show" : ""}"></iframe>`
}

const pre = (label: string, text: string): string =>
  `<pre tabindex="0" role="region" aria-label="${label}">${escape(text)}</pre>`

const sourcePart = (id: string, raw: Uint8Array): string => {
  const shown = new TextDecoder().decode(raw.subarray(0, MAX_SOURCE))
  const cut = raw.length > MAX_SOURCE ? ` The page shows the first ${sizeOf(MAX_SOURCE)}.` : ""
  return `<p><a href="/dev/outbox/${encodeURIComponent(id)}">Download the mail (.eml)</a>, ${sizeOf(raw.length)}.${cut}</p>
${pre("Source", shown)}`
}

const table = (label: string, heads: ReadonlyArray<string>, rows: ReadonlyArray<string>): string =>
  `<div class="table" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table></div>`

const headersPart = ({ headers }: MessageView): string =>
  table(
    "Headers",
    ["Header", "Value"],
    headers.map(({ name, value }) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`)
  )

/** What a browser shows of a file without running it. */
export const opensAs = (mediaType: string): string | undefined => {
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(mediaType)) return mediaType
  return /^(?:text\/|application\/json$|message\/)/.test(mediaType) ? "text/plain; charset=utf-8" : undefined
}

const fileRow = (id: string) => (file: MessageFile, index: number) => {
  const name = escape(file.filename ?? `Part ${index + 1}`)
  const path = `${pathOf(id)}/files/${index}`
  const open =
    opensAs(file.mediaType) === undefined
      ? ""
      : `<a href="${path}">Open<span class="hidden"> ${name}</span></a> `
  return `<tr><th scope="row">${name}</th><td>${escape(file.mediaType)}${file.inline ? ", inline" : ""}</td><td>${sizeOf(file.bytes)}</td><td>${open}<a href="${path}?download=yes">Download<span class="hidden"> ${name}</span></a></td></tr>`
}

const filesPart = (id: string, { files }: MessageView): string =>
  files.length === 0
    ? `<p class="empty">This mail has no attachments.</p>`
    : table("Attachments", ["Name", "Type", "Size", "Get it"], files.slice(0, MAX_FILES).map(fileRow(id))) +
      (files.length > MAX_FILES ? `<p>${files.length - MAX_FILES} more are in the source.</p>` : "")

const linkRow = ({ href, text }: MessageLink): string => {
  const isWeb = /^https?:\/\//i.test(href)
  const shown = isWeb
    ? `<a href="${escape(href)}" target="_blank" rel="noopener noreferrer">${escape(href)}</a>`
    : escape(href)
  return `<tr><td>${escape(text) || "–"}</td><td>${shown}</td></tr>`
}

const linksPart = ({ links }: MessageView): string =>
  links.length === 0
    ? `<p class="empty">This mail has no links.</p>`
    : table("Links", ["Text", "Leads to"], links.map(linkRow))

const featureRow = ({ none, partial, title, url }: UnsupportedFeature): string => {
  const name =
    url === undefined
      ? escape(title)
      : `<a href="${escape(url)}" target="_blank" rel="noopener noreferrer">${escape(title)}</a>`
  return `<tr><th scope="row">${name}</th><td>${escape(none.join(", ")) || "–"}</td><td>${escape(partial.join(", ")) || "–"}</td></tr>`
}

const clientsPart = (support: Exclude<ShownMessage["clients"], undefined>): string => {
  if (support === "failed") return "<p>It is too large or too deep to be looked at.</p>"
  const { features, updated } = support
  const about = `<p class="help">Elements, attributes, properties and picture formats that this mail uses, by the data of <a href="https://www.caniemail.com/" target="_blank" rel="noopener noreferrer">caniemail.com</a> of ${escape(updated)}. Selectors and units are not looked at.</p>`
  return features.length === 0
    ? `${about}<p class="done">Every client in the data supports all that this mail uses.</p>`
    : about +
        table("What clients do not support", ["Feature", "Not in", "In part in"], features.map(featureRow))
}

const accessibilityPart = (id: string, { html, htmlBytes }: MessageView): string => {
  if (html === undefined) return "<p>There is no HTML to check.</p>"
  if (htmlBytes > MAX_CHECKED)
    return `<p>Its HTML is larger than ${sizeOf(MAX_CHECKED)} and is not checked.</p>`
  return `<p class="help">axe looks at the mail in a frame of its own, with its pictures blocked.</p>
<noscript><p class="notice">The check needs JavaScript.</p></noscript>
<button type="button" id="check" data-frame="${pathOf(id)}/accessibility" hidden>Check accessibility</button>
<div id="checked"></div>`
}

const checksPart = ({ clients, entry }: ShownMessage, view: MessageView): string =>
  `<p>${sizeOf(view.htmlBytes)} of HTML${view.htmlBytes > CLIPPED ? ": Gmail hides what comes after the first 102 KB" : ""}. ${view.text === undefined ? "It has no plain text: some readers and filters miss it." : "It has plain text, too."}</p>
<h2>What clients do not support</h2>
${clients === undefined ? "<p>There is no HTML to look at.</p>" : clientsPart(clients)}
<h2>Accessibility</h2>
${accessibilityPart(entry.id, view)}`

const part = (shown: ShownMessage, view: MessageView, look: Look): string => {
  const { id } = shown.entry
  switch (look.way) {
    case "html":
      return htmlPart(id, look, view)
    case "text":
      return view.text === undefined
        ? `<p class="empty">This mail has no plain text.</p>`
        : pre("Text", view.text)
    case "headers":
      return headersPart(view)
    case "source":
      return sourcePart(id, shown.raw)
    case "files":
      return filesPart(id, view)
    case "links":
      return linksPart(view)
    case "checks":
      return checksPart(shown, view)
  }
}

/** The events that can be tried, in the order in which they come. */
const TRIED: ReadonlyArray<SimulatedEventType> = [
  "delivery_delayed",
  "delivered",
  "opened",
  "bounced",
  "complained"
]

const everyone = ({ bcc, cc, to }: OutboxEntry): ReadonlyArray<string> => [
  ...new Set([...to, ...cc, ...bcc].map(formattedKey))
]

const eventsForm = (entry: OutboxEntry): string => {
  if (entry.messageId === undefined) return ""
  const recipients = everyone(entry)
  const options = recipients.map((address) => `<option>${escape(address)}</option>`)
  const logged = `/admin/email-log?${new URLSearchParams({ recipient: recipients[0] ?? "" }).toString()}`
  return `<form id="events" class="card events" data-id="${escape(entry.id)}" hidden>
<h2>Try what follows</h2>
<p class="help">Its provider reports the event as the real one would: it is recorded and raises alerts, and suppresses an address where it is plain which one is meant. <a href="${escape(logged)}">See it in the email log</a></p>
${recipients.length < 2 ? "" : `<label for="recipient">For</label> <select id="recipient"><option value="">All recipients</option>${options.join("")}</select>`}
<div class="buttons">${TRIED.map((type) => `<button type="submit" value="${type}">${EVENT_WORDS[type]}</button>`).join(" ")}</div>
</form>`
}

const fact = (name: string, boxes: ReadonlyArray<string>): string =>
  boxes.length === 0 ? "" : `<dt>${name}</dt><dd>${addressLinks(boxes)}</dd>`

/** One mail, looked at in one way. */
export const messagePage = (shown: ShownMessage, look: Look): ShellPage => {
  const { entry, newer, older, raw, view } = shown
  const { bcc, cc, from, id, to } = entry
  const readable = "problem" in view ? undefined : view
  return {
    title: entry.subject === "" ? "Mail" : entry.subject,
    path: "/dev",
    script: "dev/message.js",
    style: "dev/dev.css",
    complete: true,
    main: `<nav class="way" aria-label="Mails"><a href="/dev">Back to the outbox</a>${newer === undefined ? "" : ` <a href="${pathOf(newer)}">Newer mail</a>`}${older === undefined ? "" : ` <a href="${pathOf(older)}">Older mail</a>`}</nav>
<div class="title"><h1>${subjectOf(entry)}</h1>
<button type="button" id="delete" class="danger" data-id="${escape(id)}" hidden>Delete</button></div>
<dl class="facts-list">${fact("From", [from])}${fact("To", to)}${fact("Cc", cc)}${fact("Bcc", bcc)}<dt>When</dt><dd>${moment(entry.at)}, by ${escape(entry.via)}</dd></dl>
<p id="marks">${marksOf(entry)}</p>
<p id="problem" class="problem" hidden></p>
${tabs(id, look, readable)}
<div class="look">
${
  "problem" in view
    ? `<p class="notice">${escape(view.problem)} Its source is all that can be shown.</p>${sourcePart(id, raw)}`
    : part(shown, view, look)
}
</div>
${eventsForm(entry)}
${confirmDialog}`
  }
}
