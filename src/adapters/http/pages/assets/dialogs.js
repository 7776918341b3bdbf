import { byId } from "./dom.js"

/**
 * Settles when the previous dialog is closed. Its close event comes a moment late, and would otherwise answer the next one.
 * @type {Promise<unknown>}
 */
let before = Promise.resolve()

/**
 * Opens a dialog once the previous one has reported that it is closed.
 * @template A
 * @param {() => Promise<A>} open
 * @returns {Promise<A>}
 */
export const inTurn = (open) => {
  const answer = before.then(open)
  // The caller gets the failure; it does not block the next dialog.
  before = answer.catch(() => undefined)
  return answer
}

/**
 * Asks before something that costs, or cannot be undone. Escape and the first button mean no. The browser returns the focus
 * to where it was.
 * @param {{ readonly title: string, readonly text: string, readonly yes: string, readonly no: string, readonly kind?: "primary" }} question
 * @returns {Promise<boolean>}
 */
export const confirmed = (question) => inTurn(() => put(question))

/** @param {Parameters<typeof confirmed>[0]} question @returns {Promise<boolean>} */
const put = ({ kind, no, text, title, yes }) => {
  const dialog = byId("confirm", HTMLDialogElement)
  byId("confirm-title", HTMLElement).textContent = title
  byId("confirm-text", HTMLElement).textContent = text
  byId("confirm-yes", HTMLButtonElement).textContent = yes
  byId("confirm-yes", HTMLButtonElement).className = kind ?? "danger"
  byId("confirm-no", HTMLButtonElement).textContent = no
  dialog.setAttribute("aria-describedby", "confirm-text")
  dialog.returnValue = ""
  dialog.showModal()
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true })
  )
}
