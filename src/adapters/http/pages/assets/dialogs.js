import { explain } from "./api.js"
import { byId, show, warn } from "./dom.js"

/**
 * Settles when the previous dialog is closed. Its close event comes a moment late, and would otherwise answer the next one.
 * @type {Promise<unknown>}
 */
let before = Promise.resolve()

/**
 * An open dialog: when it is closed, and what it gave, which may come later.
 * @template A
 * @typedef {{ readonly closed: Promise<unknown>, readonly answer: Promise<A> }} Opened
 */

/**
 * Opens a dialog once the previous one has reported that it is closed.
 * @template A
 * @param {() => Opened<A>} open
 * @returns {Promise<A>}
 */
const inTurn = (open) => {
  const opened = before.then(open)
  // The caller gets the failure; it does not block the next dialog.
  before = opened.then(({ closed }) => closed).catch(() => undefined)
  return opened.then(({ answer }) => answer)
}

/** @param {HTMLDialogElement} dialog */
const closing = (dialog) =>
  new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }))

/**
 * Asks before something that costs, or cannot be undone. Escape and the first button mean no. The browser returns the focus
 * to where it was.
 * @param {{ readonly title: string, readonly text: string, readonly yes: string, readonly no: string, readonly kind?: "primary" }} question
 * @returns {Promise<boolean>}
 */
export const confirmed = (question) => inTurn(() => put(question))

/** @param {Parameters<typeof confirmed>[0]} question @returns {Opened<boolean>} */
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
  const answer = closing(dialog).then(() => dialog.returnValue === "yes")
  return { closed: answer, answer }
}

/**
 * Opens the dialog `name` with its form `name-form`, empty. Submitting runs `submit`, once at a time; a failure is shown in
 * `name-problem`, with the focus on `first`. `acts` are buttons of it by id, run in the same way. Escape and `name-no` close it.
 * Resolves to what `submit` or an act gave, also where it was closed meanwhile; undefined where it was only closed.
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
 * @returns {Opened<A | undefined>}
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
  let running = Promise.resolve()
  /** @param {() => Promise<A>} act */
  const run = async (act) => {
    busy = true
    try {
      outcome = await act()
      // It may be open again by now, for something else.
      if (!over.signal.aborted) dialog.close()
    } catch (failure) {
      if (over.signal.aborted) return warn(explain(failure))
      show(problem, explain(named(failure)))
      first.focus()
    } finally {
      busy = false
    }
  }
  /** @param {() => Promise<A>} act */
  const start = (act) => {
    if (!busy) running = run(act)
  }
  for (const [id, act] of Object.entries(acts))
    byId(id, HTMLElement).addEventListener("click", () => start(act), { signal: over.signal })
  form.addEventListener(
    "submit",
    (event) => {
      event.preventDefault()
      start(submit)
    },
    { signal: over.signal }
  )
  byId(`${name}-no`, HTMLElement).addEventListener("click", () => dialog.close(), { signal: over.signal })
  dialog.showModal()
  const closed = closing(dialog).then(() => over.abort())
  return { closed, answer: closed.then(() => running).then(() => outcome) }
}
