import { follow } from "../away.js"
import { byId, keepTimes, moment, relative, say } from "../dom.js"
import { fresh } from "../fresh.js"

const list = byId("list", HTMLElement)

/** The mails of the list, newest first. */
const hrefs = () => [...list.querySelectorAll(".subject a")].map((link) => link.getAttribute("href") ?? "")

/** Shows how long ago each mail came, with the time as its title. */
const showTimes = () => {
  for (const one of list.querySelectorAll("time[data-ago]")) {
    const iso = one.getAttribute("datetime") ?? ""
    one.setAttribute("title", moment(iso))
    one.textContent = relative(iso)
  }
}

/** Marks the open mail. */
const markOpen = () => {
  const id = list.dataset["here"]
  if (id === undefined) return
  const open = [...list.querySelectorAll(".subject a")].find(
    (link) => link instanceof HTMLAnchorElement && link.pathname === location.pathname
  )
  open?.setAttribute("aria-current", "true")
  open?.closest("li")?.classList.remove("new")
  open?.querySelector(".unread")?.remove()
}

/** Reloads the list, keeps the focus, and says what arrived. @param {string} from @param {(page: Document) => void} changed */
const refresh = async (from, changed) => {
  const before = new Set(hrefs())
  const focused = document.activeElement
  const href = focused !== null && list.contains(focused) ? focused.getAttribute("href") : undefined
  const page = await fresh(from)
  const region = page.getElementById("list")
  if (region === null) return
  list.dataset["newest"] = region.dataset["newest"] ?? ""
  list.replaceChildren(...region.childNodes)
  showTimes()
  markOpen()
  changed(page)
  if (href !== undefined)
    [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === href)?.focus()
  const arrived = hrefs().filter((mail) => !before.has(mail)).length
  if (arrived > 0) say(arrived === 1 ? "1 new mail" : `${arrived} new mails`)
}

/**
 * Keeps the list as the outbox is: one refresh at a time; what changes meanwhile is seen by one more. Returns the function that
 * refreshes it. @param {(page: Document) => void} [changed]
 */
export const watchList = (changed = () => {}) => {
  showTimes()
  keepTimes()
  const from = list.dataset["from"]
  let wanted = false
  let running = false
  const update = async () => {
    wanted = true
    if (running || from === undefined) return
    running = true
    try {
      while (wanted) {
        wanted = false
        await refresh(from, changed)
      }
    } catch {
      // The stream reports again when the server is back.
    } finally {
      running = false
    }
  }
  if (from !== undefined) {
    follow("/dev/stream", byId("away", HTMLElement), {
      changed: () => void update(),
      // The browser opens a lost stream again: what came meanwhile was not reported.
      open: () => void update()
    })
  }
  return update
}

/** The key of the scroll position. */
const placeKey = () => `beside ${list.dataset["from"] ?? ""}`

/** Scrolls the list to its last position, and to the open mail. */
export const keepPlace = () => {
  const pane = list.closest(".beside")
  if (pane === null) return
  pane.scrollTop = Number(sessionStorage.getItem(placeKey()))
  list
    .querySelector("[aria-current]")
    ?.closest("li")
    ?.scrollIntoView({ block: "nearest", behavior: "instant" })
  scrollTo({ top: 0, behavior: "instant" })
  addEventListener("pagehide", () => sessionStorage.setItem(placeKey(), String(pane.scrollTop)))
}
