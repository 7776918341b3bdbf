import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { byId, say, show } from "../dom.js"
import { watchList } from "./mail-list.js"

const list = byId("list", HTMLElement)
const clear = byId("clear", HTMLButtonElement)
const problem = byId("problem", HTMLElement)

const offer = () => {
  clear.hidden = (list.dataset["newest"] ?? "") === ""
}

const update = watchList((page) => {
  offer()
  byId("total", HTMLElement).textContent = page.getElementById("total")?.textContent ?? ""
})

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
