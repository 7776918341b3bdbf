import { ask, explain, Refused } from "../api.js"
import { filled } from "../dialogs.js"
import { button, byId, el, say, show, time, warn } from "../dom.js"

/** @import { File as FileView, Operations, Share, Shared } from "#api" */

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

/** What the dialog lists: an answer about another file comes too late. */
let listed = ""

/**
 * Lists whom a result is shared with, each with a button that stops their links alone. The dialog works without the list; a
 * refusal shows up when it is shared.
 * @param {string} path
 */
const showShares = async (path) => {
  /** @type {Operations["sharing.listShares"]["success"]} */
  const { shares } = await ask("GET", path)
  if (path !== listed) return
  const list = byId("share-list", HTMLElement)
  list.replaceChildren(...shares.map((share) => shareItem(path, share)))
  byId("share-with", HTMLElement).hidden = shares.length === 0
}

/** @param {string} path @param {Share} share */
const shareItem = (path, { email, expiresAt }) =>
  el(
    "li",
    {},
    el("span", {}, `${email}, until `, time(expiresAt)),
    " ",
    button("Stop", { about: `sharing with ${email}`, kind: "quiet", press: () => void revoke(path, email) })
  )

/** @param {string} path @param {string} email */
const revoke = async (path, email) => {
  try {
    await ask("DELETE", `${path}/${encodeURIComponent(email)}`)
    await showShares(path)
    say(`${email} cannot open the result any more.`)
    if (path === listed) byId("share-recipients", HTMLElement).focus()
  } catch (failure) {
    if (path === listed) show(byId("share-problem", HTMLElement), explain(failure))
    else warn(explain(failure))
  }
}

/**
 * Asks with whom to share a result, and shares it. Resolves to the outcome in words, or undefined where it was cancelled.
 * @param {FileView} file
 * @returns {Promise<string | undefined>}
 */
export const share = (file) => {
  const path = `/api/v1/files/${encodeURIComponent(file.id)}`
  const recipients = byId("share-recipients", HTMLTextAreaElement)
  const message = byId("share-message", HTMLTextAreaElement)
  byId("share-with", HTMLElement).hidden = true
  listed = `${path}/shares`
  showShares(listed).catch(() => undefined)
  return filled("share", {
    title: `Share the result of ${file.name}`,
    first: recipients,
    failure: named,
    submit: async () =>
      outcome(
        await ask("POST", `${path}/share`, {
          recipients: addressesIn(recipients.value),
          message: message.value.trim() === "" ? null : message.value
        })
      ),
    acts: {
      "share-stop": async () => {
        await ask("DELETE", `${path}/shares`)
        return "No link to the result works any more."
      }
    }
  })
}
