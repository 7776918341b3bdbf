import { ask } from "../api.js"
import { byId, el } from "../dom.js"
import { STATUS_MOODS } from "../words.js"
import { count, filterOf, NOTHING, showList, tag, time } from "./list.js"

/** @import { EmailLogRow, Operations } from "#api" */
/** @import { Column } from "./list.js" */

const NAMES = ["status", "category", "provider", "recipient", "subject", "key", "messageId", "since", "until"]

showList({
  path: "/api/admin/email-log",
  names: NAMES,
  none: "No mail yet.",
  noMatch: "No mail matches.",
  /** @type {ReadonlyArray<Column<EmailLogRow>>} */
  columns: [
    {
      head: "Subject",
      kind: "free",
      cell: ({ id, subject }) =>
        el("a", { href: `/admin/email-log/${encodeURIComponent(id)}` }, subject || "(no subject)")
    },
    {
      head: "To",
      cell: ({ to_addresses: to }) =>
        to.length === 0
          ? NOTHING
          : el("div", { class: "addresses" }, ...to.map((address) => el("p", {}, address)))
    },
    {
      head: "Status",
      cell: ({ error, status }) =>
        el(
          "div",
          {},
          tag(status, STATUS_MOODS[status]),
          error === null ? undefined : el("p", { class: "help" }, error)
        )
    },
    { head: "Written", kind: "short", cell: ({ created_at: at }) => time(at) },
    { head: "Last event", kind: "short", cell: ({ last_event: event }) => event ?? NOTHING },
    {
      head: "Sent by",
      kind: "short",
      cell: ({ failed_over: over, provider }) => `${provider ?? NOTHING}${over ? ", failed over" : ""}`
    },
    { head: "Category", kind: "short", cell: ({ category }) => category }
  ]
})

const filter = filterOf(NAMES)
const download = byId("export", HTMLAnchorElement)
download.href = `/api/admin/email-log.csv?${filter}`

try {
  /** @type {Operations["admin.emailLogCount"]["success"]} */
  const found = await ask("GET", `/api/admin/email-log/count?${filter}`)
  const total = byId("total", HTMLElement)
  total.textContent = `${found.more ? "More than " : ""}${count(found.count)} ${found.count === 1 ? "mail" : "mails"}`
  download.hidden = found.count === 0
} catch {
  // The list itself says what is wrong.
  download.hidden = false
}
