import { ask } from "../api.js"
import { el } from "../dom.js"

/** @import { LinkTries } from "#api" */
/** @typedef {LinkTries["tries"][number]} Tried */

/** A try that needs no look: it answers, and with what was asked for. @param {Tried} tried */
const isWell = ({ outcome, status }) => outcome === "answered" && status !== null && status < 400

/** @param {Tried} tried */
const moodOf = (tried) => (isWell(tried) ? "good" : tried.outcome === "skipped" ? "" : "bad")

/** @param {Tried} tried */
const wordOf = ({ outcome, status }) =>
  outcome === "answered" ? String(status) : outcome === "silent" ? "No answer" : "Not tried"

/** @param {Tried} tried */
const aboutOf = ({ leadsTo, why }) => (leadsTo === null ? (why ?? "") : `leads to ${leadsTo}`)

/** Has the links of a mail tried and shows what came of each; returns it in words. @param {string} id */
export const tryLinks = async (id) => {
  /** @type {LinkTries} */
  const { left, tries } = await ask("POST", `/dev/outbox/${encodeURIComponent(id)}/link-tries`)
  const came = new Map(tries.map((tried) => [tried.href, tried]))
  for (const place of document.querySelectorAll("[data-try]")) {
    const tried = came.get(place.getAttribute("data-try") ?? "")
    if (tried === undefined) continue
    const about = aboutOf(tried)
    place.replaceChildren(
      el("span", { class: `tag ${moodOf(tried)}` }, wordOf(tried)),
      about === "" ? "" : ` ${about}`
    )
  }
  const bad = tries.filter((tried) => moodOf(tried) === "bad").length
  const skipped = tries.filter(({ outcome }) => outcome === "skipped").length
  return [
    bad === 0 ? "No link is broken" : bad === 1 ? "1 link is broken" : `${bad} links are broken`,
    ...(skipped === 0 ? [] : [`${skipped} not tried`]),
    ...(left === 0 ? [] : [`${left} more than are tried at once`])
  ].join(", ")
}
