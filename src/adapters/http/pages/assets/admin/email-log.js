import { ask } from "../api.js"
import { confirmed } from "../dialogs.js"
import { ago, byId, el, hidden, keepTimes, relative, say, show, zone } from "../dom.js"
import { PROVIDER_NAMES, STATUS_MOODS } from "../words.js"
import { count, fillTable, filterOf, mayWrite, NOTHING, showList, showProblem, tag } from "./list.js"
import { logFilters } from "./log-filters.js"

/** @import { EmailLogRow, Operations } from "#api" */
/** @import { Column } from "./list.js" */

const NAMES = [...document.querySelectorAll("#filters [name]")].map(
  (field) => field.getAttribute("name") ?? ""
)
/** How often the newest page is read again, milliseconds. */
const LOOK_EVERY = 5000

const filter = filterOf(NAMES)

/** Rows that were chosen, by their id. @type {Map<string, EmailLogRow>} */
const chosen = new Map()

const drawChosen = () => {
  byId("chosen", HTMLElement).hidden = chosen.size === 0
  document.querySelector(".chips")?.toggleAttribute("hidden", chosen.size > 0)
  byId("chosen-count", HTMLElement).textContent = `${count(chosen.size)} chosen`
}

/** @param {HTMLInputElement} box @param {EmailLogRow} row */
const choose = (box, row) => {
  if (box.checked) chosen.set(row.id, row)
  else chosen.delete(row.id)
  drawChosen()
}

/** @param {EmailLogRow} row */
const picker = (row) => {
  const box = el("input", { type: "checkbox", "data-id": row.id })
  box.checked = chosen.has(row.id)
  box.addEventListener("change", () => choose(box, row))
  return el("label", {}, box, hidden(`Choose ${row.subject || "(no subject)"}`))
}

/** The text after a subject: attempts and next try of a deferred mail, otherwise its error. @param {EmailLogRow} row */
const snippet = ({ attempt_count: tries = 0, error, retry_at: retry = null, status }) =>
  [
    status === "deferred" && tries > 0 ? `tried ${tries === 1 ? "once" : `${tries} times`}` : "",
    status === "deferred" && retry !== null ? `next try ${relative(retry)}` : "",
    error ?? ""
  ]
    .filter((part) => part !== "")
    .join(" · ")

/** @param {EmailLogRow} row */
const subjectCell = (row) => {
  const { id, subject } = row
  const why = snippet(row)
  return el(
    "div",
    { class: "line", title: why === "" ? undefined : why },
    el("a", { href: `/admin/email-log/${encodeURIComponent(id)}` }, subject || "(no subject)"),
    why === "" ? undefined : el("span", { class: "snippet" }, ` ${why}`)
  )
}

/** @param {EmailLogRow} row */
const toCell = ({ other_addresses: others, to_addresses: to }) => {
  const [first, ...rest] = [...to, ...others]
  if (first === undefined) return NOTHING
  const more = rest.length === 0 ? "" : ` +${rest.length}`
  return el("div", { class: "line", title: [first, ...rest].join(", ") }, el("span", {}, first), more)
}

/** @param {EmailLogRow} row */
const viaCell = ({ failed_over: over, provider }) =>
  el(
    "span",
    {
      class: over ? "over" : undefined,
      title: over ? "After another provider had not taken it" : undefined
    },
    provider === null ? NOTHING : (PROVIDER_NAMES[provider] ?? provider),
    over ? hidden(", failed over") : undefined
  )

const all = el("input", { type: "checkbox" })
all.addEventListener("change", () => {
  for (const box of document.querySelectorAll("tbody input[data-id]"))
    if (box instanceof HTMLInputElement && box.checked !== all.checked) box.click()
})

/** @type {ReadonlyArray<Column<EmailLogRow>>} */
const columns = [
  { head: "Status", kind: "w-status", cell: ({ status }) => tag(status, STATUS_MOODS[status]) },
  { head: "Subject", kind: "w-subject", isHead: true, cell: subjectCell },
  { head: "To", kind: "w-to", cell: toCell },
  { head: "Sent by", kind: "w-via", cell: viaCell },
  { head: "Category", kind: "w-category", cell: ({ category }) => category },
  { head: "Sent at", kind: "w-when", cell: ({ created_at: at }) => ago(at) }
]
/** @type {Column<EmailLogRow>} */
const pick = {
  head: el("label", {}, all, hidden("Choose all shown")),
  kind: "w-pick",
  cell: picker
}

/** The rows on the page, as one text; undefined before the first. @type {string | undefined} */
let drawn
/** @type {Set<string>} */
let known = new Set()
/** What was read and is not shown, since the reader is at something. @type {(() => void) | undefined} */
let waiting
const fresh = byId("fresh", HTMLButtonElement)
const hold = byId("hold", HTMLButtonElement)

const isHeld = () => hold.getAttribute("aria-pressed") === "true"

/** Whether rows that move would take something from the reader. */
const isBusy = () =>
  isHeld() || chosen.size > 0 || scrollY > 100 || byId("table", HTMLElement).contains(document.activeElement)

/** @param {ReadonlyArray<EmailLogRow>} rows @param {string} none */
const fill = (rows, none) => {
  const looks = JSON.stringify(rows)
  if (looks === drawn) return
  const more = rows.filter(({ id }) => !known.has(id)).length
  const draw = () => {
    waiting = undefined
    fresh.hidden = true
    drawn = looks
    known = new Set(rows.map(({ id }) => id))
    all.checked = false
    fillTable(mayWrite() ? [pick, ...columns] : columns, rows, none)
  }
  if (drawn === undefined || !isBusy()) return draw()
  waiting = draw
  show(fresh, more === 0 ? "Show changes" : `Show ${count(more)} new`)
}

const isFirst = !new URLSearchParams(location.search).has("cursor")

const read = showList({
  path: "/api/admin/email-log",
  names: NAMES,
  none: "No mail yet.",
  noMatch: "No mail matches.",
  columns,
  isLive: isFirst,
  fill
})

logFilters(filter)
keepTimes()
byId("zone", HTMLElement).textContent = `· times in ${zone()}`

fresh.addEventListener("click", () => {
  chosen.clear()
  drawChosen()
  waiting?.()
  scrollTo({ top: 0 })
  byId("main", HTMLElement).focus()
})
hold.hidden = !isFirst
hold.addEventListener("click", () => {
  hold.setAttribute("aria-pressed", String(!isHeld()))
  hold.textContent = isHeld() ? "Held" : "Hold"
  if (!isHeld()) void read()
})
if (isFirst)
  setInterval(() => {
    if (!document.hidden) void read()
  }, LOOK_EVERY)

const suppress = async () => {
  const addresses = [
    ...new Set(
      [...chosen.values()].flatMap(({ other_addresses: others, to_addresses: to }) => [...to, ...others])
    )
  ]
  const sure = await confirmed({
    title: `Suppress ${addresses.length === 1 ? addresses[0] : `${addresses.length} addresses`}?`,
    text: `No mail goes to ${addresses.join(", ")} until the suppression is removed, except what suppressed people may get.`,
    yes: "Suppress",
    no: "Cancel"
  })
  if (!sure) return
  try {
    for (const email of addresses) await ask("POST", "/api/admin/email-suppressions", { email })
    say(`${count(addresses.length)} suppressed.`)
    byId("none", HTMLElement).click()
  } catch (failure) {
    showProblem(failure)
  }
}

/** Sends again what can be sent without a second copy: retries that were given up, each on its own key. */
const sendAgain = async () => {
  try {
    /** @type {Operations["admin.deadLetters"]["success"]} */
    const { deadLetters } = await ask("GET", "/api/admin/dead-letters?limit=200")
    const keys = new Set([...chosen.values()].map(({ idempotency_key: key }) => key))
    const safe = deadLetters.filter(({ idempotencyKey: key }) => key !== null && keys.has(key))
    const sure = await confirmed(
      safe.length === 0
        ? {
            title: "None of them can be sent again from here",
            text: "Only a retry that was given up is kept with its content. For any other mail, repeat the call with the same key from where it came: it sends one copy at most.",
            yes: "Close",
            no: "Cancel",
            kind: "primary"
          }
        : {
            title: `Send ${count(safe.length)} of ${count(chosen.size)} again?`,
            text: "Their retries were given up. Each goes back into the queue on its own key, so that no second copy is sent. The others have to be sent from where they came.",
            yes: "Send again",
            no: "Cancel",
            kind: "primary"
          }
    )
    if (!sure || safe.length === 0) return
    for (const { id } of safe) await ask("POST", `/api/admin/dead-letters/${encodeURIComponent(id)}/redrive`)
    say(`${count(safe.length)} are back in the queue.`)
    byId("none", HTMLElement).click()
  } catch (failure) {
    showProblem(failure)
  }
}

byId("suppress", HTMLElement).addEventListener("click", () => void suppress())
byId("again", HTMLElement).addEventListener("click", () => void sendAgain())
byId("none", HTMLElement).addEventListener("click", () => {
  chosen.clear()
  drawChosen()
  for (const box of document.querySelectorAll("table input"))
    if (box instanceof HTMLInputElement) box.checked = false
  byId("main", HTMLElement).focus()
})
