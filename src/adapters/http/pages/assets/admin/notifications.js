import { ask } from "../api.js"
import { byId, say, show } from "../dom.js"
import { mayWrite, showProblem } from "./list.js"

/** @import { NotificationChannels, Notifications } from "#api" */

const PATH = "/api/admin/notifications"
const form = byId("preferences", HTMLFormElement)
const tests = [...form.querySelectorAll("[data-test]")].filter((one) => one instanceof HTMLButtonElement)
/** @type {ReadonlyArray<HTMLInputElement>} */
const boxes = [...form.querySelectorAll("input")]
const saved = byId("saved", HTMLElement)

/** @param {Notifications} now */
const fill = ({ email_delivery_failure: wanted }) => {
  const channels = new Map(Object.entries(wanted))
  for (const box of boxes) box.checked = channels.get(box.dataset["channel"] ?? "") === true
}

/** Says where each channel leads, or what to set so that it does. @param {NotificationChannels} now */
const showPlaces = ({ channels }) => {
  for (const [channel, { configured, settings, where }] of Object.entries(channels)) {
    byId(`place-${channel}`, HTMLElement).textContent = configured
      ? `Goes to ${where ?? "the chat of the settings"}.`
      : `Leads nowhere yet: set ${settings}, and start the server again.`
    for (const one of tests) if (one.dataset["test"] === channel) one.hidden = !configured || !mayWrite()
  }
}

for (const one of tests)
  one.addEventListener("click", () => {
    if (one.getAttribute("aria-disabled") === "true") return
    one.setAttribute("aria-disabled", "true")
    void trying(async () => {
      const channel = one.dataset["test"] ?? ""
      await ask("POST", `${PATH}/test`, { channel })
      const text = channel === "email" ? "The test mail is on its way." : "The chat took the test."
      show(saved, text)
      say(text)
    }).finally(() => one.removeAttribute("aria-disabled"))
  })

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
  /** @type {NotificationChannels} */
  const now = await ask("GET", PATH)
  fill(now)
  showPlaces(now)
  byId("loading", HTMLElement).hidden = true
  form.hidden = false
  for (const field of form.querySelectorAll("input, button")) field.toggleAttribute("disabled", !mayWrite())
})
