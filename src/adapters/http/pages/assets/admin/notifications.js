import { ask } from "../api.js"
import { byId, say, show } from "../dom.js"
import { mayWrite, showProblem } from "./list.js"

/** @typedef {{ readonly email_delivery_failure: { readonly email: boolean, readonly chat: boolean } }} Notifications */

const PATH = "/api/admin/notifications"
const form = byId("preferences", HTMLFormElement)
const byEmail = byId("by-email", HTMLInputElement)
const byChat = byId("by-chat", HTMLInputElement)
const saved = byId("saved", HTMLElement)

/** @param {Notifications} now */
const fill = ({ email_delivery_failure: { chat, email } }) => {
  byEmail.checked = email
  byChat.checked = chat
}

/** @param {() => Promise<void>} what */
const trying = async (what) => {
  try {
    await what()
    show(byId("problem", HTMLElement), undefined)
  } catch (failure) {
    show(saved, undefined)
    showProblem(failure)
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault()
  void trying(async () => {
    fill(await ask("PUT", PATH, { email_delivery_failure: { email: byEmail.checked, chat: byChat.checked } }))
    show(saved, "Saved.")
    say("The notifications are saved.")
  })
})
form.addEventListener("change", () => show(saved, undefined))

void trying(async () => {
  fill(await ask("GET", PATH))
  byId("loading", HTMLElement).hidden = true
  form.hidden = false
  for (const field of form.querySelectorAll("input, button")) field.toggleAttribute("disabled", !mayWrite())
})
