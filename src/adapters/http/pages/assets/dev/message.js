import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { byId, say, show, warn } from "../dom.js"
import { fresh } from "../fresh.js"
import { checkAccessibility } from "./accessibility.js"

const problem = byId("problem", HTMLElement)

/** @param {unknown} failure */
const fail = (failure) => {
  const words = explain(failure)
  show(problem, words)
  warn(words)
}

const remove = byId("delete", HTMLButtonElement)
remove.hidden = false
remove.addEventListener("click", () => void deleteMail())

const deleteMail = async () => {
  const yes = await confirmed({
    title: "Delete this mail?",
    text: "It is removed from the outbox. The email log keeps its row.",
    yes: "Delete",
    no: "Keep it"
  })
  if (!yes) return
  try {
    await ask("DELETE", `/dev/outbox/${encodeURIComponent(remove.dataset["id"] ?? "")}`)
    location.assign("/dev")
  } catch (failure) {
    fail(failure)
  }
}

const events = document.getElementById("events")
if (events instanceof HTMLFormElement) {
  events.hidden = false
  events.addEventListener("submit", (submitted) => {
    submitted.preventDefault()
    const pressed = submitted.submitter
    if (pressed instanceof HTMLButtonElement) void report(events.dataset["id"] ?? "", pressed)
  })
}

/** Has the mail's provider report an event. @param {string} id @param {HTMLButtonElement} pressed */
const report = async (id, pressed) => {
  show(problem, undefined)
  const chosen = document.getElementById("recipient")
  const recipient = chosen instanceof HTMLSelectElement && chosen.value !== "" ? chosen.value : undefined
  try {
    await ask("POST", `/dev/outbox/${encodeURIComponent(id)}/events`, {
      type: pressed.value,
      ...(recipient === undefined ? {} : { recipients: [recipient] })
    })
    const marks = (await fresh()).getElementById("marks")
    if (marks !== null) byId("marks", HTMLElement).replaceChildren(...marks.childNodes)
    say(`Reported: ${pressed.textContent}`)
  } catch (failure) {
    fail(failure)
  }
}

const check = document.getElementById("check")
if (check instanceof HTMLButtonElement) {
  check.hidden = false
  check.addEventListener("click", () => {
    if (check.getAttribute("aria-disabled") !== "true")
      void checkAccessibility(check, byId("checked", HTMLElement))
  })
}
