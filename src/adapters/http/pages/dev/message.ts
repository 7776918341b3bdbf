import { pathTo } from "../../../../domain/pages.ts"
import type { MessageView } from "../../../../ports/mail/message-views.ts"
import type { OutboxEntry } from "../../../../ports/mail/simulated-mail.ts"
import { confirmDialog } from "../dashboard.ts"
import { type Html, html, joined, type Piece } from "../html.ts"
import { FRAME_POLICY, type ShellPage } from "../shell.ts"
import { moment, mono, providerNamed } from "../ui.ts"
import { eventsForm } from "./events.ts"
import {
  addressLinks,
  isWhole,
  listPath,
  type MailList,
  mailPath,
  mailRows,
  marksOf,
  searchForm,
  sizeOf,
  subjectOf,
  tagLinks
} from "./mail-list.ts"
import {
  choice,
  type Look,
  lookPath,
  part,
  type ShownMessage,
  sourcePart,
  type Way,
  WAYS
} from "./message-parts.ts"

const TITLES: Readonly<Record<Way, string>> = {
  html: "HTML",
  text: "Text",
  headers: "Headers",
  source: "Source",
  files: "Attachments",
  links: "Links",
  checks: "Checks"
}

/** The list of the open mail, and its neighbours there. */
export interface Beside {
  readonly list: MailList
  readonly older: string | undefined
  readonly newer: string | undefined
}

const countOf = (way: Way, view: MessageView | undefined): string => {
  const count = way === "files" ? view?.files.length : way === "links" ? view?.links.length : undefined
  return count === undefined ? "" : ` (${count})`
}

const tabs = (id: string, look: Look, view: MessageView | undefined): Html =>
  html`<nav class="tabs" aria-label="Ways to look at this mail"><ul>${WAYS.map((way) =>
    choice(lookPath(id, { ...look, way }), `${TITLES[way]}${countOf(way, view)}`, way === look.way)
  )}</ul></nav>`

const fact = (name: string, value: Piece): Html | undefined =>
  value === undefined ? undefined : html`<dt>${name}</dt><dd>${value}</dd>`

const boxes = (name: string, addresses: ReadonlyArray<string>): Html | undefined =>
  addresses.length === 0 ? undefined : fact(name, addressLinks(addresses))

const factsOf = (entry: OutboxEntry): Html => {
  const { at, bcc, bytes, category, cc, from, key, source, to, via } = entry
  const tags = tagLinks(entry)
  const sent = [category, source].filter((one) => one !== undefined).join(", from ")
  return html`<dl class="mail-facts">${boxes("From", [from])}${boxes("To", to)}${boxes("Cc", cc)}${boxes("Bcc", bcc)}
${fact("When", html`${moment(at)}, by ${providerNamed(via)}${bytes === undefined ? undefined : `, ${sizeOf(bytes)}`}`)}
${fact("Sent as", sent === "" ? undefined : sent)}${fact("Tags", tags.length === 0 ? undefined : joined(tags, " "))}
${fact("Key", key === undefined ? undefined : html`${mono(key)} <a href="${pathTo.adminScreen("email-log", { search: key })}">in the email log</a>`)}</dl>`
}

/** The list of which the mail is one; a script keeps it as the outbox is, where it is one that an address gives. */
const beside = ({ list }: Beside, id: string): Html => {
  const isAddressed = list.entries.some((entry) => entry.id === id) && list.asked.before !== id
  return html`<section class="beside" aria-label="Mails">
<a class="skip-list" href="#mail">To the open mail</a>
${searchForm(list.asked, { help: false })}
<div id="list" data-here="${id}"${isAddressed ? html` data-from="${listPath(list.asked)}"` : undefined}>
${mailRows(list, id)}
</div>
</section>`
}

const way = ({ list: { asked }, newer, older }: Beside): Html => {
  const to = (id: string | undefined, text: string) =>
    id === undefined ? undefined : html` <a href="${mailPath(id, asked)}">${text}</a>`
  return html`<nav class="way" aria-label="Mails"><a href="${listPath(asked)}">${isWhole(asked) ? "Back to the outbox" : "Back to the list"}</a>${to(newer, "Newer mail")}${to(older, "Older mail")}</nav>`
}

/** The page of one mail with its list. */
export const messagePage = (shown: ShownMessage, around: Beside, look: Look): ShellPage => {
  const { entry, raw, view } = shown
  const { id } = entry
  const readable = "problem" in view ? undefined : view
  return {
    title: entry.subject === "" ? "Mail" : entry.subject,
    path: pathTo.outbox,
    script: "dev/message.js",
    style: "dev/dev.css",
    complete: true,
    policy: FRAME_POLICY,
    main: html`<div class="split">
${beside(around, id)}
<div id="mail" tabindex="-1">
${way(around)}
<div class="title"><h1>${subjectOf(entry)}</h1>
<button type="button" id="delete" class="danger small" data-id="${id}" data-back="${listPath(around.list.asked)}" hidden>Delete</button></div>
${factsOf(entry)}
<p id="marks">${marksOf(entry)}</p>
<p id="away" class="problem" hidden></p>
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
</div>
</div>
${confirmDialog}`
  }
}
