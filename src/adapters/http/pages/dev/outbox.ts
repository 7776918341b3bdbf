import { formattedKey } from "../../../../domain/mail/address.ts"
import { pathTo } from "../../../../domain/pages.ts"
import type { UpcomingMail } from "../../../../ports/mail/send-queue.ts"
import {
  MAX_SEARCHED,
  type OutboxEntry,
  type SimulatedEventType
} from "../../../../ports/mail/simulated-mail.ts"
import { confirmDialog } from "../dashboard.ts"
import { framedPage, pagePolicy } from "../html-page.ts"
import { type Html, html, joined, lines } from "../html.ts"
import { FRAME_POLICY, type ShellPage } from "../shell.ts"
import { moment } from "../ui.ts"

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

export const marksOf = ({ marks = [] }: OutboxEntry): Html =>
  joined(
    marks.map((type) => html`<span class="mark${BAD.has(type) ? " bad" : ""}">${EVENT_WORDS[type]}</span>`),
    " "
  )

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
  return given.length === 0 ? pathTo.outbox : `${pathTo.outbox}?${new URLSearchParams(given).toString()}`
}

/** The addresses of a header, each a link to its mails. */
export const addressLinks = (boxes: ReadonlyArray<string>, most = boxes.length): Html =>
  joined(
    [
      ...boxes
        .slice(0, most)
        .map((box) => html`<a href="${queryOf({ address: formattedKey(box) })}">${box}</a>`),
      ...(boxes.length > most ? [`${boxes.length - most} more`] : [])
    ],
    ", "
  )

export const subjectOf = ({ subject }: OutboxEntry): string => (subject === "" ? "(no subject)" : subject)

const row = (entry: OutboxEntry): Html => {
  const { at, bcc, cc, from, id, read, to, via } = entry
  const unread =
    read === true ? undefined : html`<span class="unread"><span class="hidden">Unread: </span></span>`
  return html`<li${read === true ? undefined : html` class="new"`}>
<p class="subject"><a href="${pathTo.outboxMail(id)}">${unread}${subjectOf(entry)}</a> ${marksOf(entry)}</p>
<p class="who">To ${addressLinks([...to, ...cc, ...bcc], MAX_NAMED)}<br>from ${addressLinks([from])}</p>
<p class="facts">${moment(at)} · ${via}</p>
</li>`
}

const searchForm = ({ address = "", search = "" }: Asked): Html =>
  html`<form class="find" method="get" action="${pathTo.outbox}" role="search" aria-label="Mails">
<label for="q">Search subject, addresses and text</label>
<div class="buttons"><input id="q" name="q" type="search" maxlength="200" autocomplete="off" spellcheck="false" value="${search}">${address === "" ? "" : html`<input type="hidden" name="address" value="${address}">`}
<button type="submit" class="primary">Search</button></div>
</form>`

/** Which mails these are, in words. */
const about = ({ address, search }: Asked): Html | undefined => {
  const parts = [
    search === undefined ? undefined : `with “${search}”`,
    address === undefined ? undefined : html`from or to <strong>${address}</strong>`
  ].filter((part) => part !== undefined)
  return parts.length === 0
    ? undefined
    : html`<p>Mails ${joined(parts, " ")}, of the newest ${MAX_SEARCHED.toLocaleString("en")}. <a href="${pathTo.outbox}">Clear</a></p>`
}

const nothing = ({ address, before, search }: Asked): string => {
  if (search !== undefined || address !== undefined) return "No mail is like that."
  return before === undefined ? "No mails yet. Send one, and it appears here." : "No older mails."
}

/** Whether it is the beginning of all mails. */
const isWhole = ({ address, after, before, search }: Asked): boolean =>
  address === undefined && after === undefined && before === undefined && search === undefined

/** Links to the neighbouring pages. `more`: there are more mails on the side that was asked for. */
const pager = (
  shown: ReadonlyArray<OutboxEntry>,
  { after, before, ...asked }: Asked,
  more: boolean
): Html | undefined => {
  const [first, last] = [shown[0]?.id, shown.at(-1)?.id]
  const newer =
    before === undefined && !(after !== undefined && more)
      ? undefined
      : queryOf({ ...asked, ...(first === undefined ? {} : { after: first }) })
  const older =
    last !== undefined && (more || after !== undefined) ? queryOf({ ...asked, before: last }) : undefined
  const link = (href: string | undefined, text: string) =>
    href === undefined ? undefined : html`<a class="button" href="${href}">${text}</a>`
  const links = [link(newer, "Newer mails"), link(older, "Older mails")].filter((one) => one !== undefined)
  return links.length === 0
    ? undefined
    : html`<nav class="pager" aria-label="Pages">${joined(links, " ")}</nav>`
}

const waiting = ({ error, nextAttemptAt, sendAt, state, subject, to }: UpcomingMail): Html =>
  html`<li>
<p class="subject">${subject}</p>
<p class="who">To ${addressLinks(to, MAX_NAMED)}${error === null ? undefined : html`<br>${error}`}</p>
<p class="facts">${state === "sending" ? "being sent" : moment(new Date(nextAttemptAt ?? sendAt).toISOString())}</p>
</li>`

/** The mails of the send queue, those that go first at the top. */
const waitingList = (mails: ReadonlyArray<UpcomingMail>): Html | undefined =>
  mails.length === 0
    ? undefined
    : html`<section aria-labelledby="waiting"><h2 id="waiting">In the send queue</h2>
<ol class="mails">
${lines(mails.map(waiting))}
</ol></section>
<h2>Delivered</h2>`

/** The outbox as a page: newest first, each subject a link to its mail; above its beginning what waits in the send queue. */
export const outboxPage = (
  messages: ReadonlyArray<OutboxEntry>,
  upcoming: ReadonlyArray<UpcomingMail>,
  asked: Asked
): ShellPage => {
  // Of one more than are shown, the farthest is left out.
  const more = messages.length > MAX_MESSAGES
  const shown = asked.after !== undefined && more ? messages.slice(1) : messages.slice(0, MAX_MESSAGES)
  return {
    title: "Outbox",
    path: pathTo.outbox,
    script: "dev/outbox.js",
    style: "dev/dev.css",
    complete: true,
    policy: FRAME_POLICY,
    main: html`<div class="title"><h1>Outbox</h1>
<button type="button" id="clear" class="danger" hidden>Delete all</button></div>
<p class="help">Mails that the simulated providers delivered. None of them left this machine. <a href="${pathTo.ownMails}">Mails that Postlane writes itself</a></p>
${searchForm(asked)}
<p id="away" class="problem" hidden></p>
<p id="problem" class="problem" hidden></p>
<div id="list" data-newest="${isWhole(asked) ? (messages[0]?.id ?? "") : ""}">
${about(asked)}
${isWhole(asked) ? waitingList(upcoming) : undefined}
${
  shown.length === 0
    ? html`<p class="empty">${nothing(asked)}</p>`
    : html`<ol class="mails" aria-label="Mails, newest first">
${lines(shown.map(row))}
</ol>`
}
${pager(shown, asked, more)}
</div>
${confirmDialog}`
  }
}

const template = ({ kind, subject }: { readonly kind: string; readonly subject: string }): Html => {
  const path = pathTo.ownMail(kind)
  return html`<li><a href="${path}">${kind}</a>: ${subject} (<a href="${path}?as=text">${kind} as text</a>)</li>`
}

/** The product's own mails, each with its sample's subject. */
export const templatesPage = (
  mails: ReadonlyArray<{ readonly kind: string; readonly subject: string }>
): Html =>
  framedPage(
    "Mails",
    html`<h1>Mails that Postlane writes itself</h1>
<p><a href="${pathTo.outbox}">Back to the outbox</a></p>
<p>Each with sample data.</p>
<ul>
${lines(mails.map(template))}
</ul>`
  )
