import { formattedKey } from "../../../../domain/mail/address.ts"
import { OPERATORS, type OutboxSearch, writeTerm } from "../../../../domain/mail/outbox-search.ts"
import { KEY_TAG } from "../../../../domain/mail/tag.ts"
import { pathTo } from "../../../../domain/pages.ts"
import type { OutboxEntry, OutboxPage, SimulatedEventType } from "../../../../ports/mail/simulated-mail.ts"
import { type Html, html, joined, lines } from "../html.ts"
import { ago, banner, empty, narrowed, number, providerNamed } from "../ui.ts"

/** Most messages of one page. */
export const MAX_MESSAGES = 100

/** Most recipients that a row names. */
const MAX_NAMED = 3

/** Longest beginning of a mail's text in a row, characters; one line shows less. */
const MAX_SNIPPET = 160

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

/** A list to show. Its entries may be one more than {@link MAX_MESSAGES}; the farthest is not shown. */
export interface MailList extends OutboxPage {
  readonly asked: Asked
  readonly understood: OutboxSearch
}

const paramsOf = ({ address = "", after = "", before = "", search = "" }: Partial<Asked>) =>
  Object.entries({ q: search, address, before, after }).filter(([, value]) => value !== "")

const withParams = (path: string, params: ReadonlyArray<ReadonlyArray<string>>): string =>
  params.length === 0
    ? path
    : `${path}?${new URLSearchParams(params.map(([name = "", value = ""]) => [name, value])).toString()}`

/** The list that is asked for. */
export const listPath = (asked: Partial<Asked>): string => withParams(pathTo.outbox, paramsOf(asked))

/** The page of a mail with its list; `look`: further parameters. */
export const mailPath = (
  id: string,
  asked: Partial<Asked>,
  look: Readonly<Record<string, string>> = {}
): string => withParams(pathTo.outboxMail(id), [...Object.entries(look), ...paramsOf(asked)])

/** The addresses of a header, each a link to its mails. */
export const addressLinks = (boxes: ReadonlyArray<string>, most = boxes.length): Html =>
  joined(
    [
      ...boxes
        .slice(0, most)
        .map((box) => html`<a href="${listPath({ address: formattedKey(box) })}">${box}</a>`),
      ...(boxes.length > most ? [`${boxes.length - most} more`] : [])
    ],
    ", "
  )

export const subjectOf = ({ subject }: OutboxEntry): string => (subject === "" ? "(no subject)" : subject)

export const sizeOf = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`
  const kilobytes = bytes / 1024
  return kilobytes < 1024 ? `${kilobytes.toFixed(0)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`
}

/** The tags that its sender gave it, each a link to the mails that have it. */
export const tagLinks = ({ tags = {} }: OutboxEntry): ReadonlyArray<Html> =>
  Object.entries(tags)
    .filter(([name]) => name !== KEY_TAG)
    .map(([name, value]) => {
      const search = writeTerm({ is: "tag", text: `${name}=${value}` })
      return html`<a class="label" href="${listPath({ search })}">${name}: ${value}</a>`
    })

const CLIP = html`<svg class="clip" viewBox="0 0 16 16" aria-hidden="true"><path d="M10.5 4.5 5.6 9.4a1.4 1.4 0 0 0 2 2l5.3-5.3a2.8 2.8 0 0 0-4-4L3.3 7.7a4.2 4.2 0 0 0 6 6l4.2-4.3"/></svg>`

const filesOf = (files: number): Html | undefined =>
  files === 0
    ? undefined
    : html`<span class="files">${CLIP}<span class="hidden">${files === 1 ? "1 attachment" : `${files} attachments`}</span></span> `

const row = (entry: OutboxEntry, asked: Asked, here: string | undefined): Html => {
  const { at, bcc, bytes, cc, files = 0, from, id, read, source, text = "", to, via } = entry
  const isRead = read === true || id === here
  const unread = isRead ? undefined : html`<span class="unread"><span class="hidden">Unread: </span></span>`
  const href = mailPath(id, asked)
  return html`<li${isRead ? undefined : html` class="new"`}>
<p class="subject"><a href="${href}"${id === here ? html` aria-current="true"` : undefined}>${unread}${subjectOf(entry)}</a></p>
<p class="snippet">${text.slice(0, MAX_SNIPPET)}</p>
<p class="marks">${marksOf(entry)}</p>
<p class="when">${ago(at)}</p>
<p class="who">To ${addressLinks([...to, ...cc, ...bcc], MAX_NAMED)} <span class="from">from ${addressLinks([from])}</span></p>
<p class="labels">${tagLinks(entry)}${source === undefined ? undefined : html`<span>${source}</span>`}<span>${providerNamed(via)}</span></p>
<p class="size">${filesOf(files)}${bytes === undefined ? undefined : sizeOf(bytes)}</p>
</li>`
}

/** The search; `help`: with what it understands. */
export const searchForm = (
  { address = "", search = "" }: Asked,
  { help }: { readonly help: boolean }
): Html => html`<form class="toolbar" method="get" action="${pathTo.outbox}" role="search" aria-label="Mails">
<input id="q" name="q" type="search" maxlength="200" autocomplete="off" spellcheck="false" value="${search}" aria-label="Search subject, addresses and text"${help ? html` aria-describedby="operators"` : undefined} placeholder="Search subject, addresses and text">
${address === "" ? undefined : html`<input type="hidden" name="address" value="${address}">`}<button type="submit" class="primary">Search</button>
</form>
${
  help
    ? html`<p class="help" id="operators">Narrow it: ${joined(
        OPERATORS.map((one) => html`<code>${one}</code>`),
        " "
      )}. Quotes hold words together; days are UTC.</p>`
    : undefined
}`

/** The conditions of the list, each of which can be taken away, and what was not understood. */
export const conditions = ({ asked, understood: { faults, terms } }: MailList): Html => {
  const { address } = asked
  const others = (left: number) =>
    terms
      .filter((_, at) => at !== left)
      .map(writeTerm)
      .join(" ")
  const filters: ReadonlyArray<readonly [string, string]> = [
    ...(address === undefined
      ? []
      : [[`From or to ${address}`, listPath({ search: asked.search })] as const]),
    ...terms.map((term, at) => [writeTerm(term), listPath({ address, search: others(at) })] as const)
  ]
  return html`${narrowed(filters, pathTo.outbox)}${
    faults.length === 0 ? undefined : banner("notice", `Left out of the search: ${faults.join("; ")}.`)
  }`
}

/** Whether it is the beginning of all mails. */
export const isWhole = ({ address, after, before, search }: Asked): boolean =>
  address === undefined && after === undefined && before === undefined && search === undefined

/** Says where the look ended, where that is before the end: no mail is left out in silence. */
const ending = ({ asked, looked, lookedUntil, total }: MailList, more: boolean): Html | undefined =>
  lookedUntil === undefined || more
    ? undefined
    : banner(
        "notice",
        html`The search looked at ${number(looked)} of ${number(total)} mails. <a href="${listPath({ ...asked, after: undefined, before: lookedUntil })}">Look at older ones</a>`
      )

const nothing = ({ address, before, search }: Asked): string => {
  if (search !== undefined || address !== undefined) return "No mail is like that."
  return before === undefined ? "No mails yet. Send one, and it appears here." : "No older mails."
}

/** Links to the neighbouring pages. `more`: there are more mails on the side that was asked for. */
const pages = (
  shown: ReadonlyArray<OutboxEntry>,
  { after, before, ...asked }: Asked,
  more: boolean
): Html | undefined => {
  const [first, last] = [shown[0]?.id, shown.at(-1)?.id]
  const newer =
    before === undefined && !(after !== undefined && more)
      ? undefined
      : listPath({ ...asked, ...(first === undefined ? {} : { after: first }) })
  const older =
    last !== undefined && (more || after !== undefined) ? listPath({ ...asked, before: last }) : undefined
  const link = (href: string | undefined, text: string) =>
    href === undefined ? undefined : html`<a class="button" href="${href}">${text}</a>`
  const links = [link(newer, "Newer mails"), link(older, "Older mails")].filter((one) => one !== undefined)
  return links.length === 0
    ? undefined
    : html`<nav class="pager" aria-label="Pages">${joined(links, " ")}</nav>`
}

/** The rows, and links to further pages. `here`: the id of the open mail. */
export const mailRows = (list: MailList, here?: string): Html => {
  const { asked, entries } = list
  const more = entries.length > MAX_MESSAGES
  const shown = asked.after !== undefined && more ? entries.slice(1) : entries.slice(0, MAX_MESSAGES)
  return html`${
    shown.length === 0
      ? empty(nothing(asked))
      : html`<ol class="mails" aria-label="Mails, newest first">
${lines(shown.map((entry) => row(entry, asked, here)))}
</ol>`
  }
${ending(list, more)}
${pages(shown, asked, more)}`
}
