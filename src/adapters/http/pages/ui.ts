import { JOB_STATUSES } from "../../../domain/conversion/job.ts"
import { isProvider, providerName } from "../../../domain/mail/provider.ts"
import { EMAIL_STATUSES } from "../../../domain/mail/status.ts"
import type { Mood } from "../../../domain/mood.ts"
import { type Html, html, lines, type Piece } from "./html.ts"

/** Shown for a missing value. */
export const NOTHING = "–"

/** HTML knows no smaller part of a second than a thousandth. */
const machineReadable = (iso: string): string => iso.replace(/(\.\d{3})\d+/, "$1")

/** A time in UTC, with seconds; a page's script shows it in the reader's zone. */
export const moment = (iso: string): Html =>
  html`<time datetime="${machineReadable(iso)}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`

/** The same in a list, where a script shows how long ago it was, with the time as its title. */
export const ago = (iso: string): Html =>
  html`<time datetime="${machineReadable(iso)}" data-ago>${iso.slice(0, 16).replace("T", " ")} UTC</time>`

export const number = (count: number): string => count.toLocaleString("en-GB")

/** US dollars; less than a cent with its digits. */
export const usd = (amount: number): string =>
  `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2)}`

/** Labels that do not follow from the value's name. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries(JOB_STATUSES).flatMap(([status, facts]) => ("label" in facts ? [[status, facts.label]] : []))
)

/** The label of a value of a closed set: `hard_bounce` as “Hard bounce”. */
export const words = (value: string): string =>
  WORDS.get(value) ?? value.charAt(0).toUpperCase() + value.slice(1).replaceAll("_", " ")

const MOODS: ReadonlyMap<string, Mood> = new Map<string, Mood>([
  ...Object.entries({ ...JOB_STATUSES, ...EMAIL_STATUSES }).map(
    ([status, { mood }]) => [status, mood] as const
  ),
  ["bounce_transient", "bad"]
])

/** The mood of a status of a mail or a document. */
export const moodOf = (status: string): Mood => MOODS.get(status) ?? ""

/** The provider’s name for people; an unknown stored name is shown unchanged. */
export const providerNamed = (provider: string | null): string =>
  provider === null ? NOTHING : isProvider(provider) ? providerName(provider) : provider

/** A share in percent. */
export const percent = (share: number): string =>
  `${(share * 100).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`

export const tag = (text: string, mood: Mood): Html =>
  html`<span class="tag ${mood}">${text.replaceAll("_", " ")}</span>`

/** An id, in type of one width. */
export const mono = (value: string): Html => html`<span class="id">${value}</span>`

/** An entry of a list of facts; none where there is nothing to say. */
export const fact = (name: string, value: Piece): Html | undefined =>
  value === undefined ? undefined : html`<div><dt>${name}</dt><dd>${value}</dd></div>`

/** A choice of a select. */
export const option = (value: string, text: string, chosen = false): Html =>
  html`<option value="${value}"${chosen ? html` selected` : undefined}>${text}</option>`

/** The beginning of a page: its heading, facts about it, and what can be done. */
export const pageHead = (
  title: Piece,
  { actions, facts }: { readonly facts?: Piece; readonly actions?: Piece } = {}
): Html =>
  html`<div class="head"><h1>${title}</h1>${facts === undefined ? undefined : html`<p class="facts">${facts}</p>`}${
    actions === undefined ? undefined : html`<div class="buttons">${actions}</div>`
  }</div>`

/** One of several views of a list. */
interface Chip {
  readonly text: string
  readonly href: string
  readonly isCurrent?: boolean
  /** Undefined where a script counts. */
  readonly count?: number | undefined
  /** What the script that counts it finds it by. */
  readonly name?: string
}

/** Views of one list, each a click away, with its count. */
export const chips = (label: string, views: ReadonlyArray<Chip>): Html =>
  html`<nav class="chips" aria-label="${label}"><ul>
${lines(
  views.map(
    ({ count, href, isCurrent = false, name, text }) =>
      html`<li><a href="${href}"${name === undefined ? undefined : html` data-chip="${name}"`}${isCurrent ? html` aria-current="page"` : undefined}>${text}<span class="count">${count === undefined ? "" : number(count)}</span></a></li>`
  )
)}
</ul></nav>`

/** The filters that are on, each a link that takes it away. */
export const narrowed = (
  filters: ReadonlyArray<readonly [text: string, without: string]>,
  clear: string
): Html | undefined =>
  filters.length === 0
    ? undefined
    : html`<ul class="narrowed" aria-label="Filters">${filters.map(
        ([text, without]) =>
          html`<li><a href="${without}"><span class="hidden">Remove </span>${text}</a></li>`
      )}<li><a class="clear" href="${clear}">Clear</a></li></ul>`

/** What else can be done with a row, behind “…”: opening one closes the others. */
export const more = (about: string, items: ReadonlyArray<Html>): Html =>
  html`<details class="more" name="more"><summary><span aria-hidden="true">…</span><span class="hidden">More for ${about}</span></summary><div>${items}</div></details>`

/** A row of a list, 56 px high. */
interface ListRow {
  readonly kind: string
  readonly name: Piece
  readonly facts: Piece
  readonly status: Piece
  readonly action?: Piece
  readonly more?: Html | undefined
}

/** Rows of 56 px: kind, name and facts, status, one main action, and the rest behind “…”. */
export const list = (label: string, rows: ReadonlyArray<ListRow>): Html =>
  html`<ul class="list" aria-label="${label}">
${lines(
  rows.map(
    ({ action, facts, kind, more: rest, name, status }) =>
      html`<li><span class="kind">${kind}</span><div><p class="name">${name}</p><p class="facts">${facts}</p></div><div>${status}</div><div class="buttons">${action}${rest}</div></li>`
  )
)}
</ul>`

/** What is shown in place of rows, and the way on. */
export const empty = (text: Piece, actions?: Piece): Html =>
  html`<div class="empty">${text}${actions === undefined ? undefined : html`<div class="buttons">${actions}</div>`}</div>`

/** A few words across the page: what went wrong, what went well, what to know. */
export const banner = (kind: "problem" | "done" | "notice", text: Piece): Html =>
  html`<p class="${kind}">${text}</p>`

/** A number that a page begins with; `below`: its limit, or what it was before. */
export interface Figure {
  readonly name: Piece
  readonly value: Piece
  readonly isBad?: boolean
  readonly drawn?: Html | undefined
  readonly below?: Piece
}

/** The numbers that a page begins with. */
export const figures = (shown: ReadonlyArray<Figure>): Html =>
  html`<dl class="figures">${shown.map(
    ({ below, drawn, isBad = false, name, value }) =>
      html`<div${isBad ? html` class="bad"` : undefined}><dt>${name}</dt><dd>${value}</dd>${
        drawn === undefined && below === undefined ? undefined : html`<dd class="help">${drawn}${below}</dd>`
      }</div>`
  )}</dl>`

/** Points in time, in order, and what happened at each. */
export const timeline = (happened: ReadonlyArray<{ readonly at: string; readonly said: Piece }>): Html =>
  html`<ol class="timeline">
${lines(happened.map(({ at, said }) => html`<li>${moment(at)}<div>${said}</div></li>`))}
</ol>`

/** The columns of a table: heading, and cell. The first column is the heading of its row. */
export type Columns<R> = ReadonlyArray<readonly [head: string, cell: (row: R) => Piece]>

/**
 * A table that can be scrolled by keyboard; each cell names its column, for screens too narrow for a table. Roles are set explicitly: in
 * some browsers, CSS that lays a table out as blocks removes them.
 */
export const table = <R>(
  {
    caption,
    heard = false,
    id,
    isOfFigures = false
  }: {
    readonly id: string
    readonly caption: string
    readonly heard?: boolean
    /** Its cells are short, and none of them breaks. */
    readonly isOfFigures?: boolean
  },
  columns: Columns<R>,
  rows: ReadonlyArray<R>
): Html => {
  const row = (one: R) =>
    columns.map(([head, cell], at) =>
      at === 0
        ? html`<th scope="row" role="rowheader">${cell(one)}</th>`
        : html`<td role="cell" data-label="${head}"><div>${cell(one)}</div></td>`
    )
  return html`<div class="table" role="region" aria-labelledby="${id}" tabindex="0"><table class="cards${isOfFigures ? " whole" : ""}" role="table"><caption id="${id}"${heard ? html` class="hidden"` : undefined}>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(([head]) => html`<th scope="col" role="columnheader">${head}</th>`)}</tr></thead>
<tbody role="rowgroup">${lines(rows.map((one) => html`<tr role="row">${row(one)}</tr>`))}</tbody></table></div>`
}
