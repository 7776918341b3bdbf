import { pathTo } from "../../../../domain/pages.ts"
import {
  MAX_LISTED_LINKS,
  type ClientSupport,
  type MessageFile,
  type MessageLink,
  type MessageView,
  type UnsupportedFeature
} from "../../../../ports/mail/message-views.ts"
import type { OutboxEntry } from "../../../../ports/mail/simulated-mail.ts"
import { type Html, html } from "../html.ts"
import { type Columns, NOTHING, table } from "../ui.ts"
import { type Asked, mailPath, sizeOf } from "./mail-list.ts"

/** The ways to look at a mail, in the order of their tabs. */
export const WAYS = ["html", "text", "headers", "source", "files", "links", "checks"] as const
export type Way = (typeof WAYS)[number]

/** Most characters of the source, and most attachments, that a page shows. */
const MAX_SOURCE = 512 * 1024
const MAX_FILES = 500

/** Largest HTML that is checked for accessibility in the page. */
const MAX_CHECKED = 500 * 1024

/** Gmail hides what comes after this many bytes of HTML. */
const CLIPPED = 102 * 1024

/** The view of a mail, and its list. */
export interface Look {
  readonly way: Way
  readonly phone: boolean
  readonly images: boolean
  readonly asked: Asked
}

/** All that its page shows of a mail. */
export interface ShownMessage {
  readonly entry: OutboxEntry
  readonly raw: Uint8Array
  /** Or why it cannot be taken apart. */
  readonly view: MessageView | { readonly problem: string }
  readonly clients: ClientSupport | "failed" | undefined
}

export const lookPath = (id: string, { asked, images, phone, way }: Look): string =>
  mailPath(id, asked, {
    view: way,
    ...(phone ? { width: "phone" } : {}),
    ...(images ? { images: "show" } : {})
  })

/** One of several links, of which one is where the reader is. */
export const choice = (href: string, text: string, chosen: boolean): Html =>
  html`<li><a href="${href}"${chosen ? html` aria-current="true"` : undefined}>${text}</a></li>`

const htmlPart = (id: string, look: Look, view: MessageView): Html => {
  if (view.htmlProblem !== undefined)
    return html`<p class="notice">${view.htmlProblem} Its source is all that can be shown.</p>`
  if (view.html === undefined) return html`<p class="empty">This mail has no HTML.</p>`
  const pictures =
    view.remote === 0
      ? undefined
      : look.images
        ? html`<p>Pictures are loaded from the web. <a href="${lookPath(id, { ...look, images: false })}">Block them</a></p>`
        : html`<p>${view.remote} ${view.remote === 1 ? "picture or style is" : "pictures or styles are"} on the web and blocked. <a href="${lookPath(id, { ...look, images: true })}">Show pictures</a></p>`
  return html`<div class="tools"><nav aria-label="Width"><ul>${choice(lookPath(id, { ...look, phone: false }), "Desktop", !look.phone)}${choice(lookPath(id, { ...look, phone: true }), "Phone", look.phone)}</ul></nav>
${pictures}</div>
<iframe class="${look.phone ? "phone" : "desktop"}" title="The mail as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" src="${pathTo.outboxMail(id)}/html${look.images ? "?images=show" : ""}"></iframe>`
}

const pre = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}">${text}</pre>`

export const sourcePart = (id: string, raw: Uint8Array): Html => {
  const shown = new TextDecoder().decode(raw.subarray(0, MAX_SOURCE))
  const cut = raw.length > MAX_SOURCE ? ` The page shows the first ${sizeOf(MAX_SOURCE)}.` : ""
  return html`<p><a href="${pathTo.outboxSource(id)}">Download the mail (.eml)</a>, ${sizeOf(raw.length)}.${cut}</p>
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

const isWeb = (href: string): boolean => /^https?:\/\//i.test(href)

const LINKS: Columns<MessageLink> = [
  ["Text", ({ text }) => text || NOTHING],
  ["Leads to", ({ href }) => (isWeb(href) ? outside(href, href) : href)],
  ["When tried", ({ href }) => (isWeb(href) ? html`<span data-try="${href}">${NOTHING}</span>` : NOTHING)]
]

const linksPart = (id: string, { links }: MessageView): Html => {
  if (links.length === 0) return html`<p class="empty">This mail has no links.</p>`
  const trying = html`<div class="trying">
<button type="button" id="try" data-id="${id}" aria-describedby="try-help" hidden>Try the links</button>
<p class="help" id="try-help">This machine asks for each web address once, as a program that follows links in mails would: a page that acts when it is opened will act. Addresses of this machine and of private networks are left out, but for this server’s own.</p>
<p id="tried" hidden></p></div>
<noscript><p class="notice">To try them needs JavaScript.</p></noscript>`
  return html`${links.some(({ href }) => isWeb(href)) ? trying : undefined}${listed("Links", LINKS, links)}${
    links.length < MAX_LISTED_LINKS
      ? undefined
      : html`<p>There may be more: the first ${MAX_LISTED_LINKS} are listed.</p>`
  }`
}

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

/** The mail, looked at in one way. */
export const part = (shown: ShownMessage, view: MessageView, look: Look): Html => {
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
      return linksPart(id, view)
    case "checks":
      return checksPart(shown, view)
  }
}
