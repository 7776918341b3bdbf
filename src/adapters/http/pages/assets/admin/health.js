import { follow } from "../away.js"
import { byId, moment } from "../dom.js"
import { fresh } from "../fresh.js"

/** @param {ParentNode} part */
const inLocalTime = (part) => {
  for (const time of part.querySelectorAll("time"))
    time.textContent = moment(time.getAttribute("datetime") ?? "")
}

/** What each part looked like when it came, before its times were written in the reader's zone. @type {Map<string, string>} */
const known = new Map()

/** Takes over a part that differs; what the reader has opened stays open, and a part that has the focus stays until it has not. @param {HTMLElement} part */
const update = (part) => {
  const here = byId(part.id, HTMLElement)
  const looks = part.outerHTML
  if (known.get(part.id) === looks) return
  if (here.contains(document.activeElement)) {
    late = true
    return
  }
  known.set(part.id, looks)
  const opened = [...here.querySelectorAll("details[open]")].map(({ id }) => id)
  const taken = document.adoptNode(part)
  inLocalTime(taken)
  here.replaceWith(taken)
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "")
}

for (const part of document.querySelectorAll("[data-part]")) {
  known.set(part.id, part.outerHTML)
  inLocalTime(part)
}

let shown = byId("health", HTMLElement).getAttribute("data-version")
let reading = false
/** Whether a part that changed has waited for its focus to leave. */
let late = false

const refresh = async () => {
  if (reading) return
  reading = true
  // Where it cannot be read, the stream says so.
  const page = await fresh().catch(() => undefined)
  reading = false
  const health = page?.getElementById("health")
  if (page === undefined || health === null || health === undefined) return
  shown = health.getAttribute("data-version")
  late = false
  for (const part of page.querySelectorAll("[data-part]")) if (part instanceof HTMLElement) update(part)
}

/** @type {ReturnType<typeof follow> | undefined} */
let source

document.addEventListener("focusout", () => {
  if (late) void refresh()
})

const attend = () => {
  if (document.hidden) {
    source?.close()
    source = undefined
  } else
    source ??= follow(`/admin/stream${location.search}`, byId("live", HTMLElement), {
      version: ({ data }) => {
        if (JSON.parse(String(data)) !== shown) void refresh()
      }
    })
}
document.addEventListener("visibilitychange", attend)
attend()
