import { ask } from "../api.js"
import { byId, say, show } from "../dom.js"
import { mayWrite, showProblem } from "./list.js"

/** @import { Notifications } from "#api" */

const PATH = "/api/admin/notifications"
const form = byId("preferences", HTMLFormElement)
/** @type {ReadonlyArray<HTMLInputElement>} */
const boxes = [...form.querySelectorAll("input")]
const saved = byId("saved", HTMLElement)

/** @param {Notifications} now */
const fill = ({ email_delivery_failure: wanted }) => {
  const channels = new Map(Object.entries(wanted))
  for (const box of boxes) box.checked = channels.get(box.dataset["channel"] ?? "") === true
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
    /** @type {Record<string, boolean>} */
    const wanted = {}
    for (const { checked, dataset } of boxes) wanted[dataset["channel"] ?? ""] = checked
    fill(await ask("PUT", PATH, { email_delivery_failure: wanted }))
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
