import { ask } from "../api.js"
import { byId, el, hidden } from "../dom.js"
import { PROVIDER_NAMES } from "../words.js"
import { count } from "./list.js"

/** @import { Operations } from "#api" */

const DAY_MS = 86_400_000

/** The first of so many days, the last of which is today, UTC. @param {number} days */
const firstDay = (days) => new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10)

/** @param {URLSearchParams} filter @param {string} name @param {string} [value] */
const withOther = (filter, name, value) => {
  const other = new URLSearchParams(filter)
  if (value === undefined || value === "") other.delete(name)
  else other.set(name, value)
  return `?${other}`
}

/** The filters that are on, each a link that takes it away. @param {URLSearchParams} filter */
const drawNarrowed = (filter) => {
  const list = byId("narrowed", HTMLElement)
  const on = [...document.querySelectorAll("#filters [data-short]")].flatMap((field) => {
    const name = field.getAttribute("name") ?? ""
    return filter.has(name) ? [{ name, label: field.getAttribute("data-short") }] : []
  })
  list.hidden = on.length === 0
  list.replaceChildren(
    ...on.map(({ label, name }) => {
      const value = filter.get(name) ?? ""
      const text = `${label}: ${name === "provider" ? (PROVIDER_NAMES[value] ?? value) : value}`
      return el("li", {}, el("a", { href: withOther(filter, name) }, hidden("Remove "), text))
    }),
    el("li", {}, el("a", { href: location.pathname, class: "clear" }, "Clear"))
  )
}

/** The period of one click: it is the first day of the filter. @param {URLSearchParams} filter @param {() => void} unfold */
const offerPeriods = (filter, unfold) => {
  const period = byId("period", HTMLSelectElement)
  const form = byId("filters", HTMLFormElement)
  const [since, until] = [byId("f-since", HTMLInputElement), byId("f-until", HTMLInputElement)]
  const days = ["1", "7", "30"].find((one) => firstDay(Number(one)) === filter.get("since"))
  period.value = filter.has("until") || (filter.has("since") && days === undefined) ? "days" : (days ?? "")
  period.addEventListener("change", () => {
    if (period.value === "days") {
      unfold()
      since.focus()
      return
    }
    since.value = period.value === "" ? "" : firstDay(Number(period.value))
    until.value = ""
    form.requestSubmit()
  })
}

/** Each status a click away, with its count; one that no mail has is left out. @param {URLSearchParams} filter */
const drawChips = async (filter) => {
  const chips = [...document.querySelectorAll("[data-chip]")].filter(
    (one) => one instanceof HTMLAnchorElement
  )
  const status = filter.get("status") ?? ""
  for (const chip of chips) {
    const name = chip.dataset["chip"] ?? ""
    chip.href = withOther(filter, "status", name)
    if (name === status) chip.setAttribute("aria-current", "page")
  }
  /** @type {Operations["admin.emailLogCounts"]["success"]} */
  const { counts, most, stoppedAfter } = await ask(
    "GET",
    `/api/admin/email-log/counts${withOther(filter, "status")}`
  )
  for (const chip of chips) {
    const name = chip.dataset["chip"] ?? ""
    const number = Object.entries(counts).find(([one]) => one === name)?.[1]
    const place = chip.querySelector(".count")
    if (number === undefined || place === null) continue
    const isLess = number >= most || stoppedAfter !== undefined
    // Of a status that none of the newest mails has, an older one may have it.
    place.textContent = number === 0 && isLess ? "" : `${count(number)}${isLess ? "+" : ""}`
    chip.parentElement?.toggleAttribute("hidden", number === 0 && !isLess && name !== status)
    if (stoppedAfter !== undefined) chip.title = `Counted among the newest ${count(stoppedAfter)} mails`
  }
}

/** @param {URLSearchParams} filter */
const drawTotal = async (filter) => {
  const download = byId("export", HTMLAnchorElement)
  download.href = `/api/admin/email-log.csv?${filter}`
  try {
    /** @type {Operations["admin.emailLogCount"]["success"]} */
    const found = await ask("GET", `/api/admin/email-log/count?${filter}`)
    byId("total", HTMLElement).textContent =
      `${count(found.count)}${found.more ? "+" : ""} ${found.count === 1 && !found.more ? "mail" : "mails"}`
    download.hidden = found.count === 0 && !found.more
  } catch {
    // The list itself says what is wrong.
    download.hidden = false
  }
}

/** The search, the views by status and the filters that are on. @param {URLSearchParams} filter */
export const logFilters = (filter) => {
  const form = byId("filters", HTMLFormElement)
  const rarer = byId("rarer", HTMLElement)
  const button = byId("unfold", HTMLButtonElement)
  /** @param {boolean} open */
  const fold = (open) => {
    rarer.hidden = !open
    button.setAttribute("aria-expanded", String(open))
  }
  button.addEventListener("click", () => fold(rarer.hidden !== false))
  fold(
    [...rarer.querySelectorAll("[type=text]")].some((field) => filter.has(field.getAttribute("name") ?? ""))
  )
  offerPeriods(filter, () => fold(true))
  drawNarrowed(filter)
  // What is empty is no part of the address.
  form.addEventListener("formdata", ({ formData }) => {
    const unset = [...formData].filter(([, value]) => value === "")
    for (const [name] of unset) formData.delete(name)
  })
  // The list says what is wrong where the API does not answer.
  drawChips(filter).catch(() => undefined)
  void drawTotal(filter)
}
