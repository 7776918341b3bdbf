import { ask } from "../api.js"
import { confirmed } from "../dialogs.js"
import { byId, say } from "../dom.js"
import { leadBack, mayWrite, showProblem, showTimes } from "./list.js"

showTimes()

leadBack(byId("back", HTMLAnchorElement))

/** @param {number} seconds */
const inWords = (seconds) => {
  const minutes = Math.floor(seconds / 60)
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`
}

const countdown = document.getElementById("countdown")
const due = Date.parse(countdown?.getAttribute("data-due") ?? "")
const draw = () => {
  if (countdown === null) return
  const seconds = Math.ceil((due - Date.now()) / 1000)
  countdown.textContent = seconds > 0 ? `in ${inWords(seconds)}` : "now: reload the page to see its end"
  if (seconds <= 0) clearInterval(timer)
}
const timer = setInterval(draw, 1000)
draw()

/**
 * @param {{ readonly title: string, readonly text: string, readonly yes: string, readonly no: string }} question
 * @param {() => Promise<unknown>} act
 */
const afterConsent = async (question, act) => {
  if (!(await confirmed(question))) return
  try {
    await act()
    location.reload()
  } catch (failure) {
    showProblem(failure)
  }
}

/** @param {string} email */
const unsuppress = (email) =>
  afterConsent(
    {
      title: `Mail ${email} again?`,
      text: "Every suppression of this address is removed, and the removal is written into the audit log.",
      yes: "Remove",
      no: "Keep it suppressed"
    },
    async () => {
      await ask("DELETE", `/api/admin/email-suppressions/${encodeURIComponent(email)}`)
      say(`${email} is not suppressed any more.`)
    }
  )

/** @param {string} id */
const redrive = (id) =>
  afterConsent(
    {
      title: "Send it again?",
      text: "It is tried again now, on its own idempotency key.",
      yes: "Send again",
      no: "Cancel"
    },
    () => ask("POST", `/api/admin/dead-letters/${encodeURIComponent(id)}/redrive`)
  )

for (const place of document.querySelectorAll("p.write")) {
  if (!(place instanceof HTMLElement)) continue
  place.hidden = !mayWrite()
  const button = place.querySelector("button")
  const email = button?.getAttribute("data-unsuppress")
  const letter = button?.getAttribute("data-redrive")
  button?.addEventListener("click", () => {
    if (typeof email === "string") void unsuppress(email)
    if (typeof letter === "string") void redrive(letter)
  })
}
