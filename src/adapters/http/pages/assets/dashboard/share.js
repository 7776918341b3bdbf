import { ask, explain, Refused } from "../api.js"
import { inTurn } from "../dialogs.js"
import { byId, el, show, time } from "../dom.js"

/** @import { FileView } from "./state.js" */

/** @typedef {{ readonly recipients: number, readonly unsentRecipients: ReadonlyArray<string> }} Shared */

/** Addresses, with or without a name. @param {string} text */
const addressesIn = (text) =>
  text
    .split(/[\n,;]/)
    .map((address) => address.trim())
    .filter((address) => address !== "")

/**
 * A refusal that names each wrong recipient by what was written, in place of its number.
 * @param {unknown} failure
 */
const named = (failure) => {
  if (!(failure instanceof Refused)) return failure
  const written = addressesIn(byId("share-recipients", HTMLTextAreaElement).value)
  const issues = failure.issues.map(({ message, path }) => {
    const at = /^recipients\.(\d+)$/.exec(path)?.[1]
    return at === undefined
      ? { message, path }
      : { path: "recipients", message: `(${written[Number(at)] ?? ""}) ${message}` }
  })
  const { code, detail, status, title } = failure
  return new Refused({ code, detail, issues, status, title })
}

/** @param {Shared} shared */
const outcome = ({ recipients, unsentRecipients }) => {
  const went = `Shared with ${recipients} ${recipients === 1 ? "person" : "people"}.`
  return unsentRecipients.length === 0 ? went : `${went} Not sent to: ${unsentRecipients.join(", ")}.`
}

/**
 * Asks with whom to share a result, and shares it. Resolves to the outcome in words, or undefined where it was cancelled.
 * @param {FileView} file
 * @returns {Promise<string | undefined>}
 */
export const share = (file) => inTurn(() => put(file))

/** @param {FileView} file @returns {Promise<string | undefined>} */
const put = (file) => {
  const dialog = byId("share", HTMLDialogElement)
  const form = byId("share-form", HTMLFormElement)
  const recipients = byId("share-recipients", HTMLTextAreaElement)
  const message = byId("share-message", HTMLTextAreaElement)
  const problem = byId("share-problem", HTMLElement)
  byId("share-title", HTMLElement).textContent = `Share the result of ${file.name}`
  form.reset()
  show(problem, undefined)
  const over = new AbortController()
  /** @type {string | undefined} */
  let shareOutcome
  let busy = false

  const submit = async () => {
    if (busy) return
    busy = true
    try {
      /** @type {Shared} */
      const shared = await ask("POST", `/api/v1/files/${encodeURIComponent(file.id)}/share`, {
        recipients: addressesIn(recipients.value),
        message: message.value.trim() === "" ? null : message.value
      })
      shareOutcome = outcome(shared)
      dialog.close()
    } catch (failure) {
      show(problem, explain(named(failure)))
      recipients.focus()
    } finally {
      busy = false
    }
  }
  const list = byId("share-list", HTMLElement)
  const shown = byId("share-with", HTMLElement)
  const sharesPath = `/api/v1/files/${encodeURIComponent(file.id)}/shares`
  shown.hidden = true
  const showShares = async () => {
    /** @type {{ readonly shares: ReadonlyArray<{ readonly email: string, readonly expiresAt: string }> }} */
    const { shares } = await ask("GET", sharesPath)
    list.replaceChildren(
      ...shares.map(({ email, expiresAt }) => el("li", {}, `${email}, until `, time(expiresAt)))
    )
    shown.hidden = shares.length === 0
  }
  // The dialog works without the list; a refusal shows up when it is shared.
  showShares().catch(() => undefined)
  const stop = async () => {
    if (busy) return
    busy = true
    try {
      await ask("DELETE", sharesPath)
      shareOutcome = "No link to the result works any more."
      dialog.close()
    } catch (failure) {
      show(problem, explain(failure))
    } finally {
      busy = false
    }
  }
  byId("share-stop", HTMLElement).addEventListener("click", () => void stop(), { signal: over.signal })
  form.addEventListener(
    "submit",
    (event) => {
      event.preventDefault()
      void submit()
    },
    { signal: over.signal }
  )
  byId("share-no", HTMLElement).addEventListener("click", () => dialog.close(), { signal: over.signal })
  dialog.showModal()
  return new Promise((resolve) =>
    dialog.addEventListener(
      "close",
      () => {
        over.abort()
        resolve(shareOutcome)
      },
      { once: true }
    )
  )
}
