import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { button, byId, say, show, warn } from "../dom.js"
import { REASON_MOODS } from "../words.js"
import { mayWrite, NOTHING, showList, showProblem, tag, time } from "./list.js"

/** @import { SuppressionRow } from "#api" */
/** @import { Column } from "./list.js" */

const PATH = "/api/admin/email-suppressions"

/** @param {SuppressionRow} suppression */
const remove = async ({ email }) => {
  const sure = await confirmed({
    title: `Mail ${email} again?`,
    text: "Every suppression of this address is removed, with its unsubscription from marketing, and the removal is written into the audit log.",
    yes: "Remove",
    no: "Keep it suppressed"
  })
  if (!sure) return
  try {
    await ask("DELETE", `${PATH}/${encodeURIComponent(email)}`)
    await read()
    say(`${email} is not suppressed any more.`)
    byId("main", HTMLElement).focus()
  } catch (failure) {
    showProblem(failure)
  }
}

const add = async () => {
  const email = byId("add-email", HTMLInputElement)
  const note = byId("add-note", HTMLInputElement)
  const problem = byId("add-problem", HTMLElement)
  try {
    const reason = note.value.trim()
    await ask("POST", PATH, { email: email.value.trim(), ...(reason === "" ? {} : { note: reason }) })
    show(problem, undefined)
    await read()
    say(`${email.value.trim()} is suppressed.`)
    byId("add", HTMLFormElement).reset()
    email.focus()
  } catch (failure) {
    const text = explain(failure)
    show(problem, text)
    warn(text)
  }
}

/** @type {ReadonlyArray<Column<SuppressionRow>>} */
const columns = [
  { head: "Address", kind: "free", cell: ({ email }) => email },
  {
    head: "Reason",
    cell: ({ reason }) => tag(reason, REASON_MOODS[reason])
  },
  { head: "Note", kind: "free", cell: ({ note }) => note ?? NOTHING },
  { head: "Since", kind: "short", cell: ({ created_at: at }) => time(at) }
]
/** @type {Column<SuppressionRow>} */
const removal = {
  head: "Change",
  cell: (row) => button("Remove", { about: row.email, press: () => void remove(row) })
}

const read = showList({
  path: PATH,
  names: ["email", "reason"],
  none: "No address is suppressed.",
  noMatch: "No suppressed address matches the filter.",
  columns: mayWrite() ? [...columns, removal] : columns
})

const form = byId("add", HTMLFormElement)
form.hidden = !mayWrite()
form.addEventListener("submit", (event) => {
  event.preventDefault()
  void add()
})
