import { Provider } from "../../../../domain/mail/provider.ts"
import { pathTo } from "../../../../domain/pages.ts"
import type { OutboxEntry } from "../../../../ports/mail/simulated-mail.ts"
import { gauge, stackedChart } from "../charts.ts"
import { type Html, html } from "../html.ts"
import type { ShellPage } from "../shell.ts"
import {
  banner,
  chips,
  empty,
  fact,
  figures,
  pageHead,
  list,
  mono,
  more,
  narrowed,
  table,
  tag,
  timeline
} from "../ui.ts"
import { mailRows } from "./mail-list.ts"

const LONG =
  "A subject that is longer than any column is wide, since a person wrote it for the whole of a screen, and more"

const section = (id: string, title: string, shown: Html): Html =>
  html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${shown}
</section>`

const button = (text: string, kind = ""): Html => html`<button type="button" class="${kind}">${text}</button>`

const buttons = html`<div class="buttons">${button("Main action", "primary")}${button("Another")}${button("Quiet", "quiet")}${button("Delete", "danger")}<button type="button" aria-disabled="true">Busy</button><button type="button" aria-pressed="true">Held</button>${button("Small", "small")}<a class="button" href="#buttons">A link</a></div>`

const fields = html`<form class="filters">
<div class="field"><label for="s-text">Text</label><input id="s-text" value="ann@example.com"></div>
<div class="field"><label for="s-choice">Choice</label><select id="s-choice"><option>Last 7 days</option></select></div>
<div class="field"><label for="s-none">Without a value</label><input id="s-none" placeholder="Address, subject or id"></div>
</form>
<label class="check"><input type="checkbox" checked> Chosen</label>
<form class="toolbar" role="search" aria-label="A toolbar"><input type="search" aria-label="Search" placeholder="Search address, subject, key or id"><select aria-label="Period"><option>Any time</option></select><button type="button">Live</button></form>`

const tags = html`<p>${tag("delivered", "good")} ${tag("sent", "")} ${tag("deferred", "wait")} ${tag("bounced", "bad")}</p>
${chips("Mails by status", [
  { text: "All", href: "#tags", isCurrent: true, count: 12_345 },
  { text: "Delivered", href: "#tags", count: 12_001 },
  { text: "Deferred", href: "#tags", count: 3 },
  { text: "Bounced", href: "#tags", count: 41 },
  { text: "Failed", href: "#tags", count: 0 }
])}
${narrowed(
  [
    ["Provider: Resend", "#tags"],
    ["Since 1 March", "#tags"]
  ],
  "#tags"
)}`

const banners = [
  banner("done", "Saved."),
  banner("notice", "The database is being upgraded: changes wait for it."),
  banner("problem", html`The send log does not answer. <a href="#banners">Reload the page</a>`)
]

const items = ["Copy", "Rename"].map((text) => button(text))

const rows = list("Documents", [
  {
    kind: "PDF",
    name: "Report.pdf",
    facts: "12 pages · 1.2 MB · today",
    status: tag("completed", "good"),
    action: button("Open", "primary small"),
    more: more("Report.pdf", [...items, button("Delete", "danger")])
  },
  {
    kind: "DOCX",
    name: LONG,
    facts: "1 page · 12 KB · yesterday",
    status: tag("waiting for batch", "wait"),
    action: button("Cancel", "small"),
    more: more("the second", items)
  },
  { kind: "PNG", name: "Scan.png", facts: "2 MB · 3 days ago", status: tag("failed", "bad") }
])

const [FIRST = "", SECOND = ""] = Provider.literals

const mail = (id: string, entry: Partial<OutboxEntry>): OutboxEntry => ({
  id,
  via: FIRST,
  from: "Shop <shop@example.com>",
  to: ["ann@example.com"],
  cc: [],
  bcc: [],
  subject: "Your receipt",
  at: "2026-03-01T09:00:00.000Z",
  source: "api:shop",
  bytes: 2048,
  text: "Thank you for your order. It is on its way.",
  ...entry
})

/** Not yet read, open, with everything that a row can have, and with as little as a mail can have. */
const MAILS = [
  mail("unread", {}),
  mail("open", { subject: "Sign in to the shop", marks: ["delivered", "opened"], read: true }),
  mail("full", {
    subject: LONG,
    to: [
      "ann@example.com",
      "christopher.wintersberg@mail.example.com",
      "ben@example.com",
      "cleo@example.com"
    ],
    via: SECOND,
    tags: { order: "4711", campaign: "spring" },
    files: 2,
    bytes: 3_400_000,
    marks: ["delivery_delayed", "bounced"],
    read: true
  }),
  mail("bare", { subject: "", text: "", source: undefined, bytes: undefined, read: true })
]

const outbox = mailRows(
  {
    asked: { search: undefined, address: undefined, before: undefined, after: undefined },
    understood: { terms: [], faults: [] },
    entries: MAILS,
    lookedUntil: undefined,
    looked: MAILS.length,
    total: MAILS.length
  },
  "open"
)

interface Sample {
  readonly subject: string
  readonly status: Html
  readonly count: string
}

const sampleTable = table<Sample>(
  { id: "sample", caption: "A table" },
  [
    ["Subject", ({ subject }) => subject],
    ["Status", ({ status }) => status],
    ["Count", ({ count }) => count]
  ],
  [
    { subject: "Your receipt", status: tag("delivered", "good"), count: "12" },
    { subject: LONG, status: tag("bounced", "bad"), count: "–" }
  ]
)

const DAYS = Array.from({ length: 14 }, (_, index) => `2026-03-${String(index + 1).padStart(2, "0")}`)

const counted = [
  stackedChart({
    id: "sample-chart",
    title: "Mails a day",
    unit: "mails",
    labels: DAYS,
    ticks: DAYS.map((day) => day.slice(8)),
    layers: [
      { name: "Delivered", look: "s-delivered", counts: DAYS.map((_, day) => 40 + ((day * 37) % 50)) },
      { name: "Sent", look: "s-sent", counts: DAYS.map((_, day) => (day * 5) % 9) },
      { name: "Waiting", look: "s-waiting", counts: DAYS.map((_, day) => (day * 3) % 5) },
      { name: "Bounced", look: "s-bounced", counts: DAYS.map((_, day) => (day % 4 === 0 ? 6 : 1)) },
      { name: "Complained", look: "s-complained", counts: DAYS.map((_, day) => (day === 9 ? 4 : 0)) },
      { name: "Failed", look: "s-failed", counts: DAYS.map((_, day) => (day === 5 ? 22 : 0)) },
      { name: "Suppressed", look: "s-suppressed", counts: DAYS.map((_, day) => day % 3) }
    ]
  }),
  stackedChart({
    id: "no-chart",
    title: "Nothing to draw",
    unit: "mails",
    labels: DAYS,
    ticks: DAYS.map((day) => day.slice(8)),
    layers: [{ name: "Delivered", look: "s-delivered", counts: DAYS.map(() => 0) }]
  })
]

const numbers = figures([
  { name: "Delivered", value: "98.2 %", below: "97.9 % in the week before" },
  {
    name: "Bounced",
    value: "1.4 %",
    drawn: gauge({ share: 0.014, limit: 0.05, most: 0.1 }),
    below: "limit 5 %"
  },
  {
    name: "Complained",
    value: "0.31 %",
    isBad: true,
    drawn: gauge({ share: 0.0031, limit: 0.001, most: 0.005 }),
    below: "limit 0.1 %"
  },
  { name: "Unknown", value: "–", below: "no event has come" }
])

const story = timeline([
  { at: "2026-03-01T09:00:00.000Z", said: html`<p>Queued.</p>` },
  {
    at: "2026-03-01T09:00:02.000Z",
    said: html`<p>${tag("accepted", "good")} <strong>Resend</strong> accepted it, after 210 ms.</p>`
  },
  {
    at: "2026-03-01T09:00:09.000Z",
    said: html`<p>${tag("bounced", "bad")} reported by <strong>Resend</strong>.</p><p class="said">550 5.1.1 no such user</p>`
  }
])

const about = html`<dl class="facts-list">${fact("To", "ann@example.com")}${fact("Key", mono("order/17/receipt"))}${fact("Left out", undefined)}${fact("Source", "api:shop")}</dl>`

/** `GET /dev/kitchen-sink`: each component of the pages in each of its states. It is what a change of a component is looked at on. */
export const kitchenSinkPage = (): ShellPage => ({
  title: "Components",
  path: pathTo.kitchenSink,
  style: "dev/dev.css",
  complete: true,
  main: html`${pageHead("Components", {
    facts: "Light or dark by the system’s setting",
    actions: [button("Another"), button("Main action", "primary")]
  })}
${section("buttons", "Buttons", buttons)}
${section("fields", "Fields", fields)}
${section("tags", "Tags, chips and filters", tags)}
${section("banners", "Banners", html`${banners}`)}
${section("rows", "Rows", rows)}
${section("outbox", "Rows of the outbox", outbox)}
${section("tables", "Table", sampleTable)}
${section("empty", "Nothing there", html`${empty("No documents yet.", button("Upload one", "primary"))}`)}
${section("numbers", "Figures", numbers)}
${section("charts", "Charts", html`${counted}`)}
${section("cards", "Card and facts", html`<div class="card"><h3>A card</h3>${about}</div>`)}
${section("story", "Timeline", story)}
${section(
  "dialogs",
  "Dialog",
  html`<dialog open class="shown" aria-labelledby="dialog-title"><h2 id="dialog-title">Delete Report.pdf?</h2><p>Its result goes, too.</p><div class="buttons">${button("Keep it")}${button("Delete", "danger")}</div></dialog>`
)}`
})
