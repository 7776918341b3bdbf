import { JOB_STATUSES } from "../../../domain/conversion/job.ts"
import { EMAIL_STATUSES } from "../../../domain/mail/status.ts"
import type { Mood } from "../../../domain/mood.ts"
import { type Html, html, lines, type Piece } from "./html.ts"

/** Shown for a missing value. */
export const NOTHING = "–"

/** A time in UTC, with seconds; a page's script shows it in the reader's zone. */
export const moment = (iso: string): Html =>
  html`<time datetime="${iso.replace(/(\.\d{3})\d+/, "$1")}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`

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

/** The columns of a table: heading, and cell. The first column is the heading of its row. */
export type Columns<R> = ReadonlyArray<readonly [head: string, cell: (row: R) => Piece]>

/**
 * A table that can be scrolled by keyboard; each cell names its column, for screens too narrow for a table. Roles are set explicitly: in
 * some browsers, CSS that lays a table out as blocks removes them.
 */
export const table = <R>(
  { caption, heard = false, id }: { readonly id: string; readonly caption: string; readonly heard?: boolean },
  columns: Columns<R>,
  rows: ReadonlyArray<R>
): Html => {
  const row = (one: R) =>
    columns.map(([head, cell], at) =>
      at === 0
        ? html`<th scope="row" role="rowheader">${cell(one)}</th>`
        : html`<td role="cell" data-label="${head}"><div>${cell(one)}</div></td>`
    )
  return html`<div class="table" role="region" aria-labelledby="${id}" tabindex="0"><table role="table"><caption id="${id}"${heard ? html` class="hidden"` : undefined}>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(([head]) => html`<th scope="col" role="columnheader">${head}</th>`)}</tr></thead>
<tbody role="rowgroup">${lines(rows.map((one) => html`<tr role="row">${row(one)}</tr>`))}</tbody></table></div>`
}
