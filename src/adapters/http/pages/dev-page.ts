import { formattedKey } from "../../../domain/mail/address.ts"
import {
  MAX_SEARCHED,
  type OutboxEntry,
  type SimulatedEventType
} from "../../../ports/mail/simulated-mail.ts"
import { confirmDialog } from "./dashboard.ts"
import { escape, page, pagePolicy } from "./html-page.ts"
import { APP_POLICY, type ShellPage } from "./shell.ts"

/** The pages of the outbox show mails in frames, which this server serves (HTTP-10, HTTP-11). */
export const READER_POLICY = `${APP_POLICY}; frame-src 'self'`

/** Nothing on the page of templates can be sent anywhere. */
export const PAGE_POLICY = pagePolicy("'none'")

/** Most messages of one page. */
export const MAX_MESSAGES = 100

/** Most recipients that a row names. */
const MAX_NAMED = 3

export const EVENT_WORDS: Readonly<Record<SimulatedEventType, string>> = {
  delivered: "Delivered",
  delivery_delayed: "Delayed",
  bounced: "Bounced",
  complained: "Reported as spam",
  opened: "Opened",
  suppressed: "Suppressed"
}

const BAD: ReadonlySet<SimulatedEventType> = new Set(["bounced", "complained", "suppressed"])

export const marksOf = ({ marks = [] }: OutboxEntry): string =>
  marks
    .map((type) => `<span class="mark${BAD.has(type) ? " bad" : ""}">${EVENT_WORDS[type]}</span>`)
    .join(" ")

/** A time that can be compared with logs. */
export const moment = (at: string): string =>
  `<time datetime="${escape(at)}">${escape(at.replace("T", " ").replace(/\.\d+Z$/, " UTC"))}</time>`

/** The addresses of a header, each a link to its mails. */
export const addressLinks = (boxes: ReadonlyArray<string>, most = boxes.length): string =>
  boxes
    .slice(0, most)
    .map((box) => `<a href="/dev?address=${encodeURIComponent(formattedKey(box))}">${escape(box)}</a>`)
    .concat(boxes.length > most ? [`${boxes.length - most} more`] : [])
    .join(", ")

export const subjectOf = ({ subject }: OutboxEntry): string => escape(subject) || "(no subject)"

const row = (entry: OutboxEntry): string => {
  const { at, bcc, cc, from, id, read, to, via } = entry
  const unread = read === true ? "" : `<span class="unread"><span class="hidden">Unread: </span></span>`
  return `<li${read === true ? "" : ` class="new"`}>
<p class="subject"><a href="/dev/messages/${encodeURIComponent(id)}">${unread}${subjectOf(entry)}</a> ${marksOf(entry)}</p>
<p class="who">To ${addressLinks([...to, ...cc, ...bcc], MAX_NAMED)}<br>from ${addressLinks([from])}</p>
<p class="facts">${moment(at)} · ${escape(via)}</p>
</li>`
}

/** What a list of mails is asked for. */
export interface Asked {
  readonly search: string | undefined
  readonly address: string | undefined
  readonly before: string | undefined
  readonly after: string | undefined
}

const queryOf = (asked: Partial<Asked>): string => {
  const { address = "", after = "", before = "", search = "" } = asked
  const given = Object.entries({ q: search, address, before, after }).filter(([, value]) => value !== "")
  return given.length === 0 ? "/dev" : `/dev?${new URLSearchParams(given).toString()}`
}

const searchForm = ({ address = "", search = "" }: Asked): string =>
  `<form class="find" method="get" action="/dev" role="search" aria-label="Mails">
<label for="q">Search subject, addresses and text</label>
<div class="buttons"><input id="q" name="q" type="search" maxlength="200" autocomplete="off" spellcheck="false" value="${escape(search)}">${address === "" ? "" : `<input type="hidden" name="address" value="${escape(address)}">`}
<button type="submit" class="primary">Search</button></div>
</form>`

/** Which mails these are, in words. */
const about = ({ address, search }: Asked): string => {
  const parts = [
    search === undefined ? "" : `with “${escape(search)}”`,
    address === undefined ? "" : `from or to <strong>${escape(address)}</strong>`
  ].filter((part) => part !== "")
  return parts.length === 0
    ? ""
    : `<p>Mails ${parts.join(" ")}, of the newest ${MAX_SEARCHED.toLocaleString("en")}. <a href="/dev">Show all</a></p>`
}

const nothing = ({ address, before, search }: Asked): string => {
  if (search !== undefined || address !== undefined) return "No mail is like that."
  return before === undefined ? "No mails yet. Send one, and it appears here." : "No older mails."
}

/** Whether it is the beginning of all mails. */
const isWhole = ({ address, after, before, search }: Asked): boolean =>
  address === undefined && after === undefined && before === undefined && search === undefined

/** The ways to the pages beside this one. `more`: there are more mails on the side that was asked for. */
const pager = (
  shown: ReadonlyArray<OutboxEntry>,
  { after, before, ...asked }: Asked,
  more: boolean
): string => {
  const [first, last] = [shown[0]?.id, shown.at(-1)?.id]
  const newer =
    before === undefined && !(after !== undefined && more)
      ? undefined
      : queryOf({ ...asked, ...(first === undefined ? {} : { after: first }) })
  const older =
    last !== undefined && (more || after !== undefined) ? queryOf({ ...asked, before: last }) : undefined
  const link = (href: string | undefined, text: string) =>
    href === undefined ? "" : `<a class="button" href="${escape(href)}">${text}</a>`
  const links = [link(newer, "Newer mails"), link(older, "Older mails")].filter((one) => one !== "")
  return links.length === 0 ? "" : `<nav class="pager" aria-label="Pages">${links.join(" ")}</nav>`
}

/** The outbox as a page: newest first, each subject a link to its mail. */
export const outboxPage = (messages: ReadonlyArray<OutboxEntry>, asked: Asked): ShellPage => {
  // Of one more than are shown, the farthest is left out.
  const more = messages.length > MAX_MESSAGES
  const shown = asked.after !== undefined && more ? messages.slice(1) : messages.slice(0, MAX_MESSAGES)
  return {
    title: "Outbox",
    path: "/dev",
    script: "dev/outbox.js",
    style: "dev/dev.css",
    complete: true,
    main: `<div class="title"><h1>Outbox</h1>
<button type="button" id="clear" class="danger" hidden>Delete all</button></div>
<p class="help">Mails that the simulated providers delivered. None of them left this machine. <a href="/dev/templates">Mails that Postlane writes itself</a></p>
${searchForm(asked)}
<p id="problem" class="problem" hidden></p>
<div id="list" data-newest="${escape(isWhole(asked) ? (messages[0]?.id ?? "") : "")}">
${about(asked)}
${shown.length === 0 ? `<p class="empty">${nothing(asked)}</p>` : `<ol class="mails" aria-label="Mails, newest first">\n${shown.map(row).join("\n")}\n</ol>`}
${pager(shown, asked, more)}
</div>
${confirmDialog}`
  }
}

const template = ({ kind, subject }: { readonly kind: string; readonly subject: string }): string => {
  const path = `/dev/templates/${encodeURIComponent(kind)}`
  return `<li><a href="${path}">${escape(kind)}</a>: ${escape(subject)} (<a href="${path}?as=text">${escape(kind)} as text</a>)</li>`
}

/** The product's own mails, each with its sample's subject. */
export const templatesPage = (
  mails: ReadonlyArray<{ readonly kind: string; readonly subject: string }>
): string =>
  page(
    "Mails",
    `<h1>Mails that Postlane writes itself</h1>
<p><a href="/dev">Back to the outbox</a></p>
<p>Each with sample data.</p>
<ul>
${mails.map(template).join("\n")}
</ul>`
  )
