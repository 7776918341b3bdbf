import { ask, explain } from "../api.js"
import { follow } from "../away.js"
import { confirmed } from "../dialogs.js"
import { byId, say, show } from "../dom.js"
import { fresh } from "../fresh.js"

const list = byId("list", HTMLElement)
const clear = byId("clear", HTMLButtonElement)
const problem = byId("problem", HTMLElement)

/** The mails of the list, newest first. */
const hrefs = () => [...list.querySelectorAll(".subject a")].map((link) => link.getAttribute("href") ?? "")

const offer = () => {
  clear.hidden = (list.dataset["newest"] ?? "") === ""
}

/** Reloads the list, keeps the focus, and says what arrived. */
const refresh = async () => {
  const before = new Set(hrefs())
  const focused = document.activeElement
  const href = focused !== null && list.contains(focused) ? focused.getAttribute("href") : undefined
  const region = (await fresh()).getElementById("list")
  if (region === null) return
  list.dataset["newest"] = region.dataset["newest"] ?? ""
  list.replaceChildren(...region.childNodes)
  offer()
  if (href !== undefined)
    [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === href)?.focus()
  const arrived = hrefs().filter((mail) => !before.has(mail)).length
  if (arrived > 0) say(arrived === 1 ? "1 new mail" : `${arrived} new mails`)
}

/** One refresh at a time; what changes meanwhile is seen by one more. */
let wanted = false
let running = false
const update = async () => {
  wanted = true
  if (running) return
  running = true
  try {
    while (wanted) {
      wanted = false
      await refresh()
    }
  } catch {
    // The stream reports again when the server is back.
  } finally {
    running = false
  }
}

clear.addEventListener("click", () => void deleteAll())

const deleteAll = async () => {
  const yes = await confirmed({
    title: "Delete all mails?",
    text: "The outbox is emptied. The email log keeps its rows.",
    yes: "Delete all",
    no: "Keep them"
  })
  if (!yes) return
  show(problem, undefined)
  try {
    await ask("DELETE", `/dev/outbox?newest=${encodeURIComponent(list.dataset["newest"] ?? "")}`)
    await update()
    byId("q", HTMLInputElement).focus()
    say("All mails were deleted")
  } catch (failure) {
    show(problem, explain(failure))
  }
}

offer()
follow("/dev/stream", byId("away", HTMLElement), {
  changed: () => void update(),
  // The browser opens a lost stream again: what came meanwhile was not reported.
  open: () => void update()
})
