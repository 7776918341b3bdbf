import { ask } from "../api.js"
import { confirmed } from "../dialogs.js"
import { button, byId, el, say, show } from "../dom.js"
import { count, fillTable, mayWrite, NOTHING, showProblem, time } from "./list.js"

/** @import { Operations } from "#api" */
/** @import { Column } from "./list.js" */
/** @typedef {Operations["admin.deadLetters"]["success"]} DeadLetters */
/** @typedef {DeadLetters["deadLetters"][number]} DeadLetter */

/** @param {DeadLetter} letter */
const redrive = async ({ id, subject }) => {
  const sure = await confirmed({
    title: "Send it again?",
    text: `“${subject ?? id}” is tried again now, on its own idempotency key.`,
    yes: "Send again",
    no: "Cancel"
  })
  if (!sure) return
  try {
    await ask("POST", `/api/admin/dead-letters/${encodeURIComponent(id)}/redrive`)
    await read()
    say(`“${subject ?? id}” is back in the queue.`)
    byId("main", HTMLElement).focus()
  } catch (failure) {
    showProblem(failure)
  }
}

/** @type {ReadonlyArray<Column<DeadLetter>>} */
const columns = [
  { head: "Subject", kind: "free", cell: ({ subject }) => subject ?? NOTHING },
  {
    head: "To",
    kind: "free",
    cell: ({ to }) => el("div", {}, ...(to ?? [NOTHING]).map((address) => el("p", {}, address)))
  },
  { head: "Provider", kind: "short", cell: ({ provider }) => provider ?? NOTHING },
  { head: "Died", kind: "short", cell: ({ diedAt }) => time(diedAt) },
  { head: "Received", kind: "number", cell: ({ receives }) => count(receives) },
  { head: "Why", kind: "free", cell: ({ reason }) => reason ?? NOTHING },
  { head: "Idempotency key", kind: "id", cell: ({ idempotencyKey }) => idempotencyKey ?? NOTHING }
]
/** @type {Column<DeadLetter>} */
const again = {
  head: "Change",
  cell: (row) => button("Send again", { about: row.subject ?? row.id, press: () => void redrive(row) })
}

const read = async () => {
  try {
    /** @type {DeadLetters} */
    const { deadLetters } = await ask("GET", "/api/admin/dead-letters?limit=200")
    show(byId("problem", HTMLElement), undefined)
    fillTable(
      mayWrite() ? [...columns, again] : columns,
      deadLetters,
      "No dead letters: every retry came to an end."
    )
  } catch (failure) {
    showProblem(failure)
  }
}
void read()
