import { ask } from "../api.js"
import { confirmed } from "../dialogs.js"
import { button, byId, el, say } from "../dom.js"
import { count, mayWrite, NOTHING, showList, showProblem, tag, time } from "./list.js"

/** @import { IncomingMail } from "#api" */
/** @import { Column } from "./list.js" */

/** The label of each step and outcome: that of its filter. @type {Map<string, string>} */
const words = new Map(
  [...document.querySelectorAll("#filters option")].flatMap((option) =>
    option instanceof HTMLOptionElement && option.value !== "" ? [[option.value, option.text]] : []
  )
)

/** @param {string} value */
const label = (value) => words.get(value) ?? value

/** @param {IncomingMail} mail */
const nameOf = ({ envelopeFrom, sender, subject }) => subject ?? `the mail of ${sender ?? envelopeFrom}`

/** @param {IncomingMail} mail */
const state = ({ outcome, step }) => {
  if (outcome === null) return tag(label(step), "wait")
  return tag(label(outcome), outcome === "success" ? "good" : outcome === "error" ? "bad" : "")
}

/** How a mail ended and why, or what it waits for. @param {IncomingMail} mail */
const end = (mail) => {
  const { attempts, failingPart, failingSince, notBefore, outcome, reason } = mail
  if (outcome !== null)
    return el("div", {}, el("p", {}, state(mail)), reason === null ? undefined : el("p", {}, reason))
  return el(
    "div",
    {},
    el("p", {}, state(mail)),
    failingPart === null
      ? undefined
      : el("p", {}, `Waits: ${failingPart} does not answer, since `, time(failingSince)),
    attempts < 2 ? undefined : el("p", {}, `${count(attempts)} attempts`),
    el("p", {}, "Due: ", time(notBefore))
  )
}

/** @param {IncomingMail["replies"][number]} reply */
const replyLine = ({ asLink, error, kind, recipient, status }) =>
  el(
    "div",
    {},
    tag(status, status === "sent" ? "good" : status === "failed" ? "bad" : "wait"),
    ` ${kind.replaceAll("-", " ")} to ${recipient}${asLink ? ", with a link" : ""}`,
    error === null ? undefined : el("p", { class: "facts" }, error)
  )

/** @param {IncomingMail} mail */
const file = ({ creditsCharged, fileBytes, filename, pages }) =>
  filename === null
    ? NOTHING
    : el(
        "div",
        {},
        el("p", {}, filename),
        el(
          "p",
          { class: "facts" },
          [
            fileBytes === null ? [] : [`${count(Math.ceil(fileBytes / 1024))} KB`],
            pages === null ? [] : [`${count(pages)} pages`],
            [`${count(creditsCharged)} credits charged`]
          ]
            .flat()
            .join(", ")
        )
      )

/** @param {IncomingMail} mail @param {"retry" | "set-aside"} what */
const act = async (mail, what) => {
  const name = nameOf(mail)
  const sure = await confirmed(
    what === "retry"
      ? {
          title: "Try it again now?",
          text:
            mail.step === "ended"
              ? `The replies to “${name}” that did not go out are sent again.`
              : `“${name}” is worked on now, with all its attempts.`,
          yes: "Try again",
          no: "Leave it",
          kind: "primary"
        }
      : {
          title: "Set the mail aside?",
          text: `“${name}” ends: nothing is converted or charged, and a customer gets a mail that says so.`,
          yes: "Set aside",
          no: "Leave it"
        }
  )
  if (!sure) return
  try {
    await ask("POST", `/api/admin/incoming-mails/${encodeURIComponent(mail.id)}/${what}`)
    await read()
    say(what === "retry" ? `“${name}” is tried again.` : `“${name}” is set aside.`)
    byId("main", HTMLElement).focus()
  } catch (failure) {
    showProblem(failure)
  }
}

/** @param {IncomingMail} mail */
const change = (mail) => {
  const about = nameOf(mail)
  const again = button("Try again", { about, press: () => void act(mail, "retry") })
  if (mail.step !== "ended")
    return el(
      "div",
      { class: "buttons" },
      again,
      button("Set aside", { about, press: () => void act(mail, "set-aside") })
    )
  return mail.replies.some(({ kind, status }) => status === "failed" && kind !== "processing-started")
    ? again
    : NOTHING
}

/** @type {ReadonlyArray<Column<IncomingMail>>} */
const columns = [
  {
    head: "Mail",
    kind: "free",
    cell: (mail) =>
      el(
        "div",
        {},
        el("p", {}, mail.subject ?? "no subject"),
        el(
          "p",
          { class: "facts" },
          mail.sender ?? `not verified: ${mail.envelopeFrom || "null return path"}`
        ),
        el("details", {}, el("summary", {}, "Id"), el("p", { class: "id" }, mail.id))
      )
  },
  {
    head: "Arrived, ended",
    kind: "short",
    cell: ({ createdAt, endedAt }) => el("div", {}, el("p", {}, time(createdAt)), el("p", {}, time(endedAt)))
  },
  { head: "Outcome", kind: "free", cell: end },
  { head: "File", kind: "free", cell: file },
  {
    head: "Replies",
    kind: "free",
    cell: ({ replies }) => (replies.length === 0 ? NOTHING : el("div", {}, ...replies.map(replyLine)))
  }
]

const read = showList({
  path: "/api/admin/incoming-mails",
  names: ["sender", "step", "outcome"],
  none: "No mail has come in yet.",
  noMatch: "No mail matches.",
  columns: mayWrite() ? [...columns, { head: "Change", cell: change }] : columns
})
