import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { button, byId, say, show, warn } from "../dom.js"
import { mayWrite, showList, showProblem, tag, time } from "./list.js"

/** @import { AdminInvited, AdminRow } from "#api" */
/** @import { Column } from "./list.js" */

const PATH = "/api/admin/admins"

/** @param {AdminRow} admin */
const remove = async ({ email }) => {
  const sure = await confirmed({
    title: `Remove ${email}?`,
    text: "Their sessions end at once, and they cannot sign in as an admin any more. Tokens that they made stay.",
    yes: "Remove",
    no: "Keep them"
  })
  if (!sure) return
  try {
    await ask("DELETE", `${PATH}/${encodeURIComponent(email)}`)
    await read()
    say(`${email} is no admin any more.`)
    byId("main", HTMLElement).focus()
  } catch (failure) {
    showProblem(failure)
  }
}

const invite = async () => {
  const email = byId("add-email", HTMLInputElement)
  const right = byId("add-right", HTMLSelectElement).value
  const problem = byId("add-problem", HTMLElement)
  const added = byId("added", HTMLElement)
  try {
    /** @type {AdminInvited} */
    const { inviteSent } = await ask("POST", PATH, { email: email.value.trim(), right })
    const text = inviteSent
      ? `${email.value.trim()} may sign in, and has been mailed.`
      : `${email.value.trim()} may sign in, but the mail did not go out: tell them yourself.`
    show(problem, undefined)
    await read()
    show(added, text)
    say(text)
    byId("add", HTMLFormElement).reset()
    email.focus()
  } catch (failure) {
    const text = explain(failure)
    show(added, undefined)
    show(problem, text)
    warn(text)
  }
}

/** @type {ReadonlyArray<Column<AdminRow>>} */
const columns = [
  { head: "Address", kind: "free", cell: ({ email }) => email },
  { head: "Role", cell: ({ rights }) => tag(rights.includes("admin") ? "admin" : "reader") },
  { head: "Invited by", kind: "free", cell: ({ invitedBy }) => invitedBy },
  { head: "Since", kind: "short", cell: ({ createdAt }) => time(createdAt) }
]
/** @type {Column<AdminRow>} */
const removal = {
  head: "Change",
  cell: (row) => button("Remove", { about: row.email, press: () => void remove(row) })
}

const read = showList({
  path: PATH,
  names: [],
  none: "Nobody signs in as an admin by mail yet; tokens work without it.",
  columns: mayWrite() ? [...columns, removal] : columns
})

const form = byId("add", HTMLFormElement)
form.hidden = !mayWrite()
form.addEventListener("submit", (event) => {
  event.preventDefault()
  void invite()
})
