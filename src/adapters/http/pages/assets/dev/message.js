import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { byId, say, show, warn } from "../dom.js"
import { fresh } from "../fresh.js"
import { keepPlace, watchList } from "./mail-list.js"

watchList()
keepPlace()

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
    location.assign(remove.dataset["back"] ?? "/dev")
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
  show(byId("reported", HTMLElement), undefined)
  const chosen = document.getElementById("recipient")
  const recipient = chosen instanceof HTMLSelectElement && chosen.value !== "" ? chosen.value : undefined
  try {
    await ask("POST", `/dev/outbox/${encodeURIComponent(id)}/events`, {
      type: pressed.value,
      ...(recipient === undefined ? {} : { recipients: [recipient] })
    })
    const marks = (await fresh()).getElementById("marks")
    if (marks !== null) byId("marks", HTMLElement).replaceChildren(...marks.childNodes)
    const said = `Reported: ${pressed.textContent}.`
    show(byId("reported", HTMLElement), said)
    say(`${said} ${pressed.nextElementSibling?.textContent ?? ""}`)
  } catch (failure) {
    fail(failure)
  }
}

const check = document.getElementById("check")
if (check instanceof HTMLButtonElement) {
  check.hidden = false
  check.addEventListener("click", () => {
    if (check.getAttribute("aria-disabled") !== "true") void checkMail(check)
  })
}

/** Its module is loaded on demand. @param {HTMLButtonElement} pressed */
const checkMail = async (pressed) => {
  const { checkAccessibility } = await import("./accessibility.js")
  await checkAccessibility(pressed, byId("checked", HTMLElement))
}

const trial = document.getElementById("try")
if (trial instanceof HTMLButtonElement) {
  trial.hidden = false
  trial.addEventListener("click", () => {
    if (trial.getAttribute("aria-disabled") !== "true") void tryAll(trial)
  })
}

/** @param {HTMLButtonElement} pressed */
const tryAll = async (pressed) => {
  show(problem, undefined)
  pressed.setAttribute("aria-disabled", "true")
  try {
    const { tryLinks } = await import("./links.js")
    const came = await tryLinks(pressed.dataset["id"] ?? "")
    show(byId("tried", HTMLElement), `${came}.`)
    say(came)
  } catch (failure) {
    fail(failure)
  } finally {
    pressed.removeAttribute("aria-disabled")
  }
}
