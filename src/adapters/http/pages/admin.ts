import { JobStatus } from "../../../domain/conversion/job.ts"
import { ALERT_CHANNELS, CHANNEL_NAMES } from "../../../domain/delivery/alert-policy.ts"
import { WantedType } from "../../../domain/delivery/event-hooks.ts"
import { MailOutcome } from "../../../domain/inbound/mail-outcome.ts"
import { FREE_LIFETIME_PAGES } from "../../../domain/inbound/page-class.ts"
import type { Provider } from "../../../domain/mail/provider.ts"
import { Category, ListedReason } from "../../../domain/mail/suppression/policy.ts"
import { ADMIN_SCREENS, type AdminScreen, pathTo, SCREEN_NAMES } from "../../../domain/pages.ts"
import { CONTACT_KINDS, CONTACT_STATES } from "../../../ports/accounts/accounts.ts"
import {
  MAX_CUSTOMER_NAME,
  MAX_GRANT,
  MAX_GRANT_NOTE,
  MAX_REFERENCE
} from "../../../ports/accounts/customers.ts"
import { MAIL_STEPS } from "../../../ports/inbound/incoming-mails.ts"
import { confirmDialog, dialog } from "./dashboard.ts"
import { input, pager, select } from "./fields.ts"
import { type Html, html, lines } from "./html.ts"
import { logMain } from "./mail/log.ts"
import { TOKENS } from "./people/tokens.ts"
import { chips, option, words } from "./ui.ts"

/** A filter. */
const filters = (screen: AdminScreen, fields: ReadonlyArray<Html>): Html =>
  html`<form class="filters" id="filters" method="get" action="${pathTo.adminScreen(screen)}" role="search" aria-label="Filter">
${lines(fields)}
<div class="buttons"><button type="submit" class="primary">Filter</button> <a class="button" href="${pathTo.adminScreen(screen)}">Clear</a></div>
</form>`

/** The place of a table that its module fills; it can be scrolled by keyboard where it is wider than the screen. */
const listPlace = (caption: string): Html =>
  html`<p id="problem" class="problem" hidden></p>
<p id="loading" class="empty">Loading…</p>
<p id="empty" class="empty" hidden></p>
<div class="table" id="table-box" role="region" aria-labelledby="caption" tabindex="0" hidden>
<table id="table" class="cards"><caption id="caption">${caption}</caption><thead></thead><tbody></tbody></table>
</div>`

/** The place of one more table on a page that has several. */
const tablePlace = (id: string, caption: string): Html =>
  html`<div class="table" id="${id}-box" role="region" aria-labelledby="${id}-caption" tabindex="0">
<table id="${id}" class="cards"><caption id="${id}-caption">${caption}</caption><thead></thead><tbody></tbody></table>
</div>`

const statusLinks = chips("Jobs by status", [
  { text: "All", href: pathTo.adminScreen("jobs"), name: "" },
  ...JobStatus.literals.map((status) => ({
    text: words(status),
    href: pathTo.adminScreen("jobs", { status }),
    name: status
  }))
])

const days = (screen: AdminScreen, values: ReadonlyArray<number>, usual: number): Html =>
  html`<form class="filters" id="filters" method="get" action="${pathTo.adminScreen(screen)}">
<div class="field"><label for="f-days">Period</label><select id="f-days" name="days">${values.map((value) =>
    option(String(value), `Last ${value} days`, value === usual)
  )}</select></div>
<div class="buttons"><button type="submit" class="primary">Show</button></div>
</form>`

const JOBS = html`${statusLinks}
${listPlace("Conversion jobs, newest first")}
${pager}
<h2 id="others-title">Word documents, pictures and layout-true results</h2>
<p class="help">What is converted in one go has no job. What moved last comes first.</p>
<p id="others-problem" class="problem" role="alert" hidden></p>
<p id="no-others" class="empty" hidden>None yet.</p>
<ul id="others" class="others" aria-labelledby="others-title"></ul>
<div id="more-others" class="buttons"></div>
${confirmDialog}`

const QUEUE = html`<p>Mail that waits to be sent: category by category, at the pace that each provider takes. Pausing ends nothing that is being sent already.</p>
<p id="stale" class="problem" hidden></p>
<div class="above" id="whole" hidden><p id="whole-state"></p><span id="whole-change"></span></div>
${tablePlace("categories", "What waits, by category")}
${tablePlace("pace", "How fast each provider is asked")}
<h2>Upcoming</h2>
${filters("queue", [select("category", "Category", Category.literals)])}
${listPlace("What is sent next")}
${confirmDialog}`

const SUPPRESSIONS = html`<p>Addresses that are not mailed. Remove one only where the address was fixed or its owner asked for mail again; each removal is written down.</p>
<form class="card write" id="add" hidden>
<h2>Add an address</h2>
<div class="filters">
<div class="field"><label for="add-email">Address</label><input id="add-email" type="email" required autocomplete="off" maxlength="320"></div>
<div class="field"><label for="add-note">Why <span class="help">(may be left out)</span></label><input id="add-note" autocomplete="off" maxlength="1000"></div>
<div class="buttons"><button type="submit" class="primary">Add</button></div>
</div>
<p id="add-problem" class="problem" hidden></p>
</form>
${filters("suppressions", [
  input("email", "Address, exactly"),
  select("reason", "Reason", ListedReason.literals)
])}
${listPlace("Suppressed addresses, newest first")}
${pager}
${confirmDialog}`

const creditsDialog = dialog(
  "credits",
  "Give credits",
  html`<form id="credits-form">
<label for="credits-number">Credits</label>
<input id="credits-number" type="number" min="1" max="${MAX_GRANT}" step="1" required autocomplete="off">
<label for="credits-reference">Reference</label>
<input id="credits-reference" required maxlength="${MAX_REFERENCE}" autocomplete="off" aria-describedby="credits-help">
<p class="help" id="credits-help">What they are for, such as an invoice’s number. The same reference never counts twice.</p>
<label for="credits-note">Why <span class="help">(may be left out)</span></label>
<input id="credits-note" maxlength="${MAX_GRANT_NOTE}" autocomplete="off">
<p id="credits-problem" class="problem" role="alert" hidden></p>
<div class="buttons">
<button type="button" id="credits-no">Cancel</button>
<button type="submit" class="primary">Give credits</button>
</div>
</form>`
)

const CUSTOMERS = html`<p>Who may have documents converted, and what they can spend now. A new customer has ${FREE_LIFETIME_PAGES} free pages.</p>
<form class="card write" id="add" hidden>
<h2>Add a customer</h2>
<div class="filters">
<div class="field"><label for="add-email">Address</label><input id="add-email" type="email" required autocomplete="off" maxlength="320"></div>
<div class="field"><label for="add-name">Name <span class="help">(may be left out)</span></label><input id="add-name" autocomplete="off" maxlength="${MAX_CUSTOMER_NAME}"></div>
<div class="buttons"><button type="submit" class="primary">Add</button></div>
</div>
<p id="add-problem" class="problem" hidden></p>
</form>
<p id="added" class="done" hidden></p>
${filters("customers", [input("search", "Part of the address or name")])}
${listPlace("Customers, newest first")}
${pager}
${creditsDialog}`

const ADMINS = html`<p>People who sign in to these pages by mail. A reader can change nothing. Programs use tokens.</p>
<form class="card write" id="add" hidden>
<h2>Invite an admin</h2>
<div class="filters">
<div class="field"><label for="add-email">Address</label><input id="add-email" type="email" required autocomplete="off" maxlength="320"></div>
<div class="field"><label for="add-right">Role</label><select id="add-right"><option value="admin">Admin</option><option value="admin:read">Reader</option></select></div>
<div class="buttons"><button type="submit" class="primary">Invite</button></div>
</div>
<p id="added" class="done" hidden></p>
<p id="add-problem" class="problem" hidden></p>
</form>
${listPlace("Admins, by address")}
${confirmDialog}`

const DEAD_LETTERS = html`<p>Retries that were received three times without an end. One that is sent again goes back into the queue, due now, on its own idempotency key.</p>
${listPlace("Dead letters")}
${confirmDialog}`

const MESSAGES = html`<p>What came in by the contact and feedback forms. A message waits until a provider has accepted the mail about it; it is tried again by itself.</p>
${filters("messages", [
  select("state", "Notification", CONTACT_STATES),
  select("kind", "Form", CONTACT_KINDS)
])}
${listPlace("Messages, newest first")}
${pager}`

const INCOMING = html`<p>Mails to the convert address: who wrote each, what became of it and why, its replies, and what was charged.</p>
${filters("incoming", [
  input("sender", "Address, exactly"),
  select("step", "Step", MAIL_STEPS),
  select("outcome", "Outcome", MailOutcome.literals)
])}
${listPlace("Mails, newest first")}
${pager}
${confirmDialog}`

const EVENT_HOOKS = html`<p id="about">What becomes of mails and documents is posted to these addresses, signed by Standard Webhooks. <a href="/docs">How a receiver checks it</a> is in the documentation.</p>
<form class="card write" id="add" hidden>
<h2>Make an event hook</h2>
<div class="filters">
<div class="field"><label for="add-url">Address</label><input id="add-url" type="url" required autocomplete="off" maxlength="2000"></div>
<div class="field"><label for="add-types">Events</label><select id="add-types">${WantedType.literals.map((type) => option(type, type === "*" ? "All" : type))}</select></div>
<div class="buttons"><button type="submit" class="primary">Make</button></div>
</div>
<p id="add-problem" class="problem" hidden></p>
</form>
<p id="secret" class="done" hidden></p>
${listPlace("Event hooks, newest first")}
${pager}
${confirmDialog}`

const SENDER_DOMAIN = html`<p>Receivers trust mail from <strong id="domain">your domain</strong> once these records are in its DNS. Enter each as it stands here, without a proxy, where you manage the domain. It can take from minutes to a day until a new one is seen.</p>
<p id="summary" hidden></p>
<div class="buttons above"><button type="button" id="again" hidden>Look again</button><span class="help" id="looked"></span></div>
${listPlace("Records of the sender domain")}
<div id="advice-box" hidden><h2>What to mend</h2><ul id="advice" class="others"></ul></div>
<div id="notes-box" hidden><h2>Notes</h2><ul id="notes" class="others"></ul></div>`

const NOTIFICATIONS = html`<p id="problem" class="problem" hidden></p>
<p id="loading" class="empty">Loading…</p>
<form class="card narrow" id="preferences" hidden>
<fieldset>
<legend>When a mail could not be delivered, tell the admins</legend>
${lines(
  CHANNEL_NAMES.map(
    (
      channel
    ) => html`<div class="channel"><label class="check"><input type="checkbox" id="by-${channel}" data-channel="${channel}" aria-describedby="place-${channel}"> ${ALERT_CHANNELS[channel].label}</label>
<p class="help" id="place-${channel}"></p>
<button type="button" class="small" data-test="${channel}" hidden>Send a test<span class="hidden"> ${ALERT_CHANNELS[channel].label}</span></button></div>`
  )
)}
</fieldset>
<p class="help">A failed mail to the alert inbox itself is always reported in the chat.</p>
<div class="buttons"><button type="submit" class="primary">Save</button></div>
<p id="saved" class="done" hidden></p>
</form>`

const COSTS = html`${days("costs", [7, 30, 90, 365], 30)}
<dl id="totals" class="figures"></dl>
${listPlace("What models cost, by source, US dollars")}`

const AUDIT = html`<p>What admins did. Rows are added here, never changed.</p>
${filters("audit", [input("action", "Action, exactly"), input("target", "Target, exactly")])}
${listPlace("Actions, newest first")}
${pager}`

/** The screens that their scripts fill; the others are complete as they are served. */
type FilledScreen = Exclude<AdminScreen, "statistics">
export const FILLED_SCREENS = SCREEN_NAMES.filter((name) => name !== "statistics")

/** What each screen has below its heading. */
const screensOf = (providers: ReadonlyArray<Provider>): Readonly<Record<FilledScreen, Html>> => ({
  jobs: JOBS,
  "email-log": logMain(providers),
  queue: QUEUE,
  suppressions: SUPPRESSIONS,
  customers: CUSTOMERS,
  admins: ADMINS,
  tokens: TOKENS,
  incoming: INCOMING,
  "dead-letters": DEAD_LETTERS,
  messages: MESSAGES,
  "sender-domain": SENDER_DOMAIN,
  "event-hooks": EVENT_HOOKS,
  notifications: NOTIFICATIONS,
  costs: COSTS,
  audit: AUDIT
})

/** The screen of this name; the module of the same name fills it. `providers`: those that its filters name. */
export const adminScreen = (name: FilledScreen, providers: ReadonlyArray<Provider>) => {
  const title = ADMIN_SCREENS[name]
  const shown = screensOf(providers)[name]
  // The log has buttons next to its heading.
  const main = name === "email-log" ? shown : html`<h1>${title}</h1>\n${shown}`
  return { title, main, script: `${name === "tokens" ? "people" : "admin"}/${name}.js` }
}
