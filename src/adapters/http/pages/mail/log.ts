import { type Provider } from "../../../../domain/mail/provider.ts"
import { EmailStatus } from "../../../../domain/mail/status.ts"
import { Category, UNKNOWN_CATEGORY } from "../../../../domain/mail/suppression/policy.ts"
import { pathTo } from "../../../../domain/pages.ts"
import { confirmDialog } from "../dashboard.ts"
import { input, pager, select } from "../fields.ts"
import { type Html, html } from "../html.ts"
import { chips, option, pageHead, providerNamed, words } from "../ui.ts"

/** The periods of one click, days; today is UTC, as the days of the log are. */
const PRESETS = [
  ["1", "Today"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"]
] as const

const LOG = pathTo.adminScreen("email-log")

const toolbar = (
  providers: ReadonlyArray<Provider>
) => html`<form id="filters" method="get" action="${LOG}" role="search" aria-label="Filter">
<input type="hidden" name="status" id="f-status">
<div class="toolbar">
<input type="search" name="search" id="f-search" aria-label="Search address, subject, key or id" placeholder="Search address, subject, key or id" maxlength="1000" autocomplete="off" spellcheck="false">
<select id="period" aria-label="Period">${option("", "Any time")}${PRESETS.map(([days, text]) => option(days, text))}${option("days", "From … to …")}</select>
<button type="submit" class="primary">Search</button>
<button type="button" id="unfold" aria-expanded="false" aria-controls="rarer">More filters</button>
</div>
<div class="filters card" id="rarer" hidden>
${select("category", "Category", [...Category.literals, UNKNOWN_CATEGORY])}
${select("provider", "Provider", providers, providerNamed)}
${input("recipient", "Address: To, Cc or Bcc, exactly", { short: "Address" })}
${input("subject", "Part of the subject", { short: "Subject" })}
${input("key", "Idempotency key", { short: "Key" })}
${input("messageId", "Provider’s id")}
${input("since", "First day (UTC)", { type: "date", short: "Since" })}
${input("until", "Last day (UTC)", { type: "date", short: "Until" })}
</div>
</form>`

/**
 * The main part of `GET /admin/email-log`, which its script fills: views by status, one search, one line a mail, and what is done with
 * the rows that were chosen.
 */
export const logMain = (providers: ReadonlyArray<Provider>): Html => html`${pageHead("Email log", {
  facts: html`<span id="total"></span> <span id="zone"></span>`,
  actions: html`<button type="button" id="fresh" hidden></button><button type="button" id="hold" aria-pressed="false" hidden>Hold</button><a id="export" class="button" hidden download>Export CSV</a>`
})}
${toolbar(providers)}
<ul class="narrowed" id="narrowed" aria-label="Filters" hidden></ul>
${chips("Mails by status", [
  { text: "All", href: LOG, name: "" },
  ...EmailStatus.literals.map((status) => ({
    text: words(status),
    href: pathTo.adminScreen("email-log", { status }),
    name: status
  }))
])}
<div class="chosen-bar" id="chosen" role="group" aria-label="Chosen mails" hidden><p id="chosen-count"></p>
<button type="button" id="suppress" class="small">Suppress recipients</button>
<button type="button" id="again" class="small">Send again</button>
<button type="button" id="none" class="quiet small">Choose none</button>
</div>
<p id="stopped" class="help" role="status" hidden></p>
<p id="problem" class="problem" hidden></p>
<p id="loading" class="empty">Loading…</p>
<p id="empty" class="empty" hidden></p>
<div class="table" id="table-box" role="region" aria-labelledby="caption" tabindex="0" hidden>
<table id="table" class="lines"><caption id="caption" class="hidden">Sends, newest first</caption><thead></thead><tbody></tbody></table>
</div>
${pager}
${confirmDialog}`
