import { formattedKey } from "../../../../domain/mail/address.ts"
import { pathTo } from "../../../../domain/pages.ts"
import type {
  ClientSupport,
  MessageFile,
  MessageLink,
  MessageView,
  UnsupportedFeature
} from "../../../../ports/mail/message-views.ts"
import type { OutboxEntry, SimulatedEventType } from "../../../../ports/mail/simulated-mail.ts"
import { confirmDialog } from "../dashboard.ts"
import { type Html, html, joined } from "../html.ts"
import { FRAME_POLICY, type ShellPage } from "../shell.ts"
import { type Columns, moment, NOTHING, option, table } from "../ui.ts"
import { addressLinks, EVENT_WORDS, marksOf, subjectOf } from "./outbox.ts"

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

const hrefOf = (id: string, { images, phone, way }: Look): string => {
  const query = new URLSearchParams({
    view: way,
    ...(phone ? { width: "phone" } : {}),
    ...(images ? { images: "show" } : {})
  })
  return `${pathTo.outboxMail(id)}?${query.toString()}`
}

const sizeOf = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`
  const kilobytes = bytes / 1024
  return kilobytes < 1024 ? `${kilobytes.toFixed(0)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`
}

/** One of several links, of which one is where the reader is. */
const choice = (href: string, text: string, chosen: boolean): Html =>
  html`<li><a href="${href}"${chosen ? html` aria-current="true"` : undefined}>${text}</a></li>`

const countOf = (way: Way, view: MessageView | undefined): string => {
  const count = way === "files" ? view?.files.length : way === "links" ? view?.links.length : undefined
  return count === undefined ? "" : ` (${count})`
}

const tabs = (id: string, look: Look, view: MessageView | undefined): Html =>
  html`<nav class="tabs" aria-label="Ways to look at this mail"><ul>${WAYS.map((way) =>
    choice(hrefOf(id, { ...look, way }), `${TITLES[way]}${countOf(way, view)}`, way === look.way)
  )}</ul></nav>`

const htmlPart = (id: string, look: Look, view: MessageView): Html => {
  if (view.htmlProblem !== undefined)
    return html`<p class="notice">${view.htmlProblem} Its source is all that can be shown.</p>`
  if (view.html === undefined) return html`<p class="empty">This mail has no HTML.</p>`
  const pictures =
    view.remote === 0
      ? undefined
      : look.images
        ? html`<p>Pictures are loaded from the web. <a href="${hrefOf(id, { ...look, images: false })}">Block them</a></p>`
        : html`<p>${view.remote} ${view.remote === 1 ? "picture or style is" : "pictures or styles are"} on the web and blocked. <a href="${hrefOf(id, { ...look, images: true })}">Show pictures</a></p>`
  return html`<div class="tools"><nav aria-label="Width"><ul>${choice(hrefOf(id, { ...look, phone: false }), "Desktop", !look.phone)}${choice(hrefOf(id, { ...look, phone: true }), "Phone", look.phone)}</ul></nav>
${pictures}</div>
<iframe class="${look.phone ? "phone" : "desktop"}" title="The mail as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" src="${pathTo.outboxMail(id)}/html${look.images ? "?images=show" : ""}"></iframe>`
}

const pre = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}">${text}</pre>`

const sourcePart = (id: string, raw: Uint8Array): Html => {
  const shown = new TextDecoder().decode(raw.subarray(0, MAX_SOURCE))
  const cut = raw.length > MAX_SOURCE ? ` The page shows the first ${sizeOf(MAX_SOURCE)}.` : ""
  return html`<p><a href="/dev/outbox/${encodeURIComponent(id)}">Download the mail (.eml)</a>, ${sizeOf(raw.length)}.${cut}</p>
${pre("Source", shown)}`
}

const listed = <R>(caption: string, columns: Columns<R>, rows: ReadonlyArray<R>): Html =>
  table({ id: "listed", caption, heard: true }, columns, rows)

const HEADERS: Columns<MessageView["headers"][number]> = [
  ["Header", ({ name }) => name],
  ["Value", ({ value }) => value]
]

/** What a browser shows of a file without running it. */
export const opensAs = (mediaType: string): string | undefined => {
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(mediaType)) return mediaType
  return /^(?:text\/|application\/json$|message\/)/.test(mediaType) ? "text/plain; charset=utf-8" : undefined
}

const filesPart = (id: string, { files }: MessageView): Html => {
  if (files.length === 0) return html`<p class="empty">This mail has no attachments.</p>`
  const columns: Columns<{ readonly file: MessageFile; readonly name: string; readonly path: string }> = [
    ["Name", ({ name }) => name],
    ["Type", ({ file }) => `${file.mediaType}${file.inline ? ", inline" : ""}`],
    ["Size", ({ file }) => sizeOf(file.bytes)],
    [
      "Get it",
      ({ file, name, path }) => [
        opensAs(file.mediaType) === undefined
          ? undefined
          : html`<a href="${path}">Open<span class="hidden"> ${name}</span></a> `,
        html`<a href="${path}?download=yes">Download<span class="hidden"> ${name}</span></a>`
      ]
    ]
  ]
  const shown = files.slice(0, MAX_FILES).map((file, index) => ({
    file,
    name: file.filename ?? `Part ${index + 1}`,
    path: `${pathTo.outboxMail(id)}/files/${index}`
  }))
  const more = files.length - shown.length
  return html`${listed("Attachments", columns, shown)}${more === 0 ? undefined : html`<p>${more} more are in the source.</p>`}`
}

/** A link to the web, which opens beside this page. */
const outside = (href: string, text: string): Html =>
  html`<a href="${href}" target="_blank" rel="noopener noreferrer">${text}</a>`

const LINKS: Columns<MessageLink> = [
  ["Text", ({ text }) => text || NOTHING],
  ["Leads to", ({ href }) => (/^https?:\/\//i.test(href) ? outside(href, href) : href)]
]

const FEATURES: Columns<UnsupportedFeature> = [
  ["Feature", ({ title, url }) => (url === undefined ? title : outside(url, title))],
  ["Not in", ({ none }) => none.join(", ") || NOTHING],
  ["In part in", ({ partial }) => partial.join(", ") || NOTHING]
]

const clientsPart = (support: Exclude<ShownMessage["clients"], undefined>): Html => {
  if (support === "failed") return html`<p>It is too large or too deep to be looked at.</p>`
  const { features, updated } = support
  const about = html`<p class="help">Elements, attributes, properties and picture formats that this mail uses, by the data of ${outside("https://www.caniemail.com/", "caniemail.com")} of ${updated}. Selectors and units are not looked at.</p>`
  return features.length === 0
    ? html`${about}<p class="done">Every client in the data supports all that this mail uses.</p>`
    : html`${about}${listed("What clients do not support", FEATURES, features)}`
}

const accessibilityPart = (id: string, { html: body, htmlBytes }: MessageView): Html => {
  if (body === undefined) return html`<p>There is no HTML to check.</p>`
  if (htmlBytes > MAX_CHECKED)
    return html`<p>Its HTML is larger than ${sizeOf(MAX_CHECKED)} and is not checked.</p>`
  return html`<p class="help">axe looks at the mail in a frame of its own, with its pictures blocked.</p>
<noscript><p class="notice">The check needs JavaScript.</p></noscript>
<button type="button" id="check" data-frame="${pathTo.outboxMail(id)}/accessibility" hidden>Check accessibility</button>
<div id="checked"></div>`
}

const checksPart = ({ clients, entry }: ShownMessage, view: MessageView): Html =>
  html`<p>${sizeOf(view.htmlBytes)} of HTML${view.htmlBytes > CLIPPED ? ": Gmail hides what comes after the first 102 KB" : ""}. ${view.text === undefined ? "It has no plain text: some readers and filters miss it." : "It has plain text, too."}</p>
<h2>What clients do not support</h2>
${clients === undefined ? html`<p>There is no HTML to look at.</p>` : clientsPart(clients)}
<h2>Accessibility</h2>
${accessibilityPart(entry.id, view)}`

const part = (shown: ShownMessage, view: MessageView, look: Look): Html => {
  const { id } = shown.entry
  switch (look.way) {
    case "html":
      return htmlPart(id, look, view)
    case "text":
      return view.text === undefined
        ? html`<p class="empty">This mail has no plain text.</p>`
        : pre("Text", view.text)
    case "headers":
      return listed("Headers", HEADERS, view.headers)
    case "source":
      return sourcePart(id, shown.raw)
    case "files":
      return filesPart(id, view)
    case "links":
      return view.links.length === 0
        ? html`<p class="empty">This mail has no links.</p>`
        : listed("Links", LINKS, view.links)
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

const eventsForm = (entry: OutboxEntry): Html | undefined => {
  if (entry.messageId === undefined) return undefined
  const recipients = everyone(entry)
  const logged = pathTo.adminScreen("email-log", { recipient: recipients[0] ?? "" })
  return html`<form id="events" class="card events" data-id="${entry.id}" hidden>
<h2>Simulate an event</h2>
<p class="help">Its provider reports the event as the real one would: it is recorded and raises alerts, and suppresses an address where it is plain which one is meant. <a href="${logged}">See it in the email log</a></p>
${recipients.length < 2 ? undefined : html`<label for="recipient">For</label> <select id="recipient">${option("", "All recipients")}${recipients.map((address) => option(address, address))}</select>`}
<div class="buttons">${joined(
    TRIED.map((type) => html`<button type="submit" value="${type}">${EVENT_WORDS[type]}</button>`),
    " "
  )}</div>
</form>`
}

const fact = (name: string, boxes: ReadonlyArray<string>): Html | undefined =>
  boxes.length === 0 ? undefined : html`<dt>${name}</dt><dd>${addressLinks(boxes)}</dd>`

/** One mail, looked at in one way. */
export const messagePage = (shown: ShownMessage, look: Look): ShellPage => {
  const { entry, newer, older, raw, view } = shown
  const { bcc, cc, from, id, to } = entry
  const readable = "problem" in view ? undefined : view
  return {
    title: entry.subject === "" ? "Mail" : entry.subject,
    path: pathTo.outbox,
    script: "dev/message.js",
    style: "dev/dev.css",
    complete: true,
    policy: FRAME_POLICY,
    main: html`<nav class="way" aria-label="Mails"><a href="${pathTo.outbox}">Back to the outbox</a>${newer === undefined ? undefined : html` <a href="${pathTo.outboxMail(newer)}">Newer mail</a>`}${older === undefined ? undefined : html` <a href="${pathTo.outboxMail(older)}">Older mail</a>`}</nav>
<div class="title"><h1>${subjectOf(entry)}</h1>
<button type="button" id="delete" class="danger" data-id="${id}" hidden>Delete</button></div>
<dl class="facts-list">${fact("From", [from])}${fact("To", to)}${fact("Cc", cc)}${fact("Bcc", bcc)}<dt>When</dt><dd>${moment(entry.at)}, by ${entry.via}</dd></dl>
<p id="marks">${marksOf(entry)}</p>
<p id="problem" class="problem" hidden></p>
${tabs(id, look, readable)}
<div class="look">
${
  "problem" in view
    ? html`<p class="notice">${view.problem} Its source is all that can be shown.</p>${sourcePart(id, raw)}`
    : part(shown, view, look)
}
</div>
${eventsForm(entry)}
${confirmDialog}`
  }
}
