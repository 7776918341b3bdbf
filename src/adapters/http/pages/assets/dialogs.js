import { explain } from "./api.js"
import { byId, show } from "./dom.js"

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
const inTurn = (open) => {
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

/**
 * Opens the dialog `name` with its form `name-form`, empty. Submitting runs `submit`, once at a time; a failure is shown in
 * `name-problem`, with the focus on `first`. `acts` are buttons of it by id, run in the same way. Escape and `name-no` close it.
 * Resolves to what `submit` or an act gave before it closed, undefined where it was only closed.
 * @template A
 * @param {string} name
 * @param {{
 *   readonly title: string, readonly first: HTMLElement, readonly submit: () => Promise<A>,
 *   readonly failure?: (failure: unknown) => unknown,
 *   readonly acts?: Readonly<Record<string, () => Promise<A>>>
 * }} options
 * @returns {Promise<A | undefined>}
 */
export const filled = (name, options) => inTurn(() => fill(name, options))

/**
 * @template A
 * @param {string} name
 * @param {Parameters<typeof filled<A>>[1]} options
 * @returns {Promise<A | undefined>}
 */
const fill = (name, { acts = {}, failure: named = (failure) => failure, first, submit, title }) => {
  const dialog = byId(name, HTMLDialogElement)
  const form = byId(`${name}-form`, HTMLFormElement)
  const problem = byId(`${name}-problem`, HTMLElement)
  byId(`${name}-title`, HTMLElement).textContent = title
  form.reset()
  show(problem, undefined)
  const over = new AbortController()
  /** @type {A | undefined} */
  let outcome
  let busy = false
  /** @param {() => Promise<A>} act */
  const run = async (act) => {
    if (busy) return
    busy = true
    try {
      outcome = await act()
      dialog.close()
    } catch (failure) {
      show(problem, explain(named(failure)))
      first.focus()
    } finally {
      busy = false
    }
  }
  for (const [id, act] of Object.entries(acts))
    byId(id, HTMLElement).addEventListener("click", () => void run(act), { signal: over.signal })
  form.addEventListener(
    "submit",
    (event) => {
      event.preventDefault()
      void run(submit)
    },
    { signal: over.signal }
  )
  byId(`${name}-no`, HTMLElement).addEventListener("click", () => dialog.close(), { signal: over.signal })
  dialog.showModal()
  return new Promise((resolve) =>
    dialog.addEventListener(
      "close",
      () => {
        over.abort()
        resolve(outcome)
      },
      { once: true }
    )
  )
}
