import { ask } from "../api.js"
import { byId, el, time } from "../dom.js"
import { pages } from "./state.js"

/** @import { Operations, OwnMail } from "#api" */

/** What became of a mail, in words. @type {ReadonlyMap<string, string>} */
const ENDS = new Map([
  ["success", "Converted"],
  ["error", "Could not be converted"],
  ["insufficient", "Not converted: not enough credits"],
  ["no_attachment", "It had no attachment"],
  ["unsupported", "Not converted: only PDF files are accepted by email"],
  ["too_large", "Not converted: larger than 25 MB"],
  ["misaddressed", "Not converted: neither To nor Cc named the convert address"],
  ["duplicate", "The same mail again: converted once"],
  ["limited", "Not answered: too many mails within an hour"],
  ["suppressed", "Not converted: your address gets no mail"],
  ["automatic", "Not answered: a program wrote it, and it had no PDF"]
])

/** @param {OwnMail} mail */
const stateOf = ({ outcome, step }) => {
  if (outcome !== null) return ENDS.get(outcome) ?? "Not answered"
  return step === "converting" ? "Being converted" : "Queued"
}

/** @param {OwnMail} mail */
const detailOf = ({ creditsCharged, outcome, pages: number, reason, reply }) => {
  if (outcome === "error") return reason ?? undefined
  if (outcome === "unsupported" && reason !== null) return `${reason[0]?.toUpperCase()}${reason.slice(1)}.`
  if (outcome !== "success") return undefined
  const facts = [
    number === null ? [] : [pages(number)],
    [`${creditsCharged} ${creditsCharged === 1 ? "credit" : "credits"}`],
    reply === "failed" ? ["the mail with the result did not go out"] : []
  ]
  return facts.flat().join(", ")
}

/** @param {OwnMail} mail */
const row = (mail) => {
  const name = mail.fileName ?? mail.subject ?? "A mail"
  const detail = detailOf(mail)
  return el(
    "li",
    {},
    el("h3", {}, name),
    el("p", { class: "facts" }, "Mailed ", time(mail.receivedAt)),
    el("p", {}, stateOf(mail)),
    detail === undefined ? undefined : el("p", { class: "facts" }, detail),
    mail.url === null
      ? undefined
      : el(
          "p",
          {},
          el(
            "a",
            { href: mail.url, class: "button" },
            "Open result",
            el("span", { class: "hidden" }, ` of ${name}`)
          ),
          " until ",
          time(mail.expiresAt)
        )
  )
}

/** Shows the owner's mails below their documents; nothing where there are none. */
export const showMails = async () => {
  /** @type {Operations["ownMails.listMails"]["success"]} */
  const { mails } = await ask("GET", "/api/v1/mails")
  byId("mails", HTMLElement).replaceChildren(...mails.map(row))
  byId("mailed", HTMLElement).hidden = mails.length === 0
}
