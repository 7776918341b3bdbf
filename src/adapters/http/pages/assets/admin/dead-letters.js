import { ask } from "../api.js"
import { confirmed } from "../dialogs.js"
import { button, byId, el, say, show } from "../dom.js"
import { count, fillTable, mayWrite, NOTHING, showProblem, time } from "./list.js"

/**
 * @typedef {{
 *   readonly id: string, readonly diedAt: string | null, readonly receives: number, readonly reason: string | null,
 *   readonly idempotencyKey: string | null, readonly provider: string | null, readonly to: ReadonlyArray<string> | null,
 *   readonly subject: string | null
 * }} DeadLetter
 */

/** @param {DeadLetter} letter */
const redrive = async ({ id, subject }) => {
  const sure = await confirmed({
    title: "Put it back into the queue?",
    text: `“${subject ?? id}” is tried again now, on its own idempotency key.`,
    yes: "Redrive",
    no: "Leave it"
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

/** @type {ReadonlyArray<import("./list.js").Column<DeadLetter>>} */
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
/** @type {import("./list.js").Column<DeadLetter>} */
const again = {
  head: "Change",
  cell: (row) => button("Redrive", { about: row.subject ?? row.id, press: () => void redrive(row) })
}

const read = async () => {
  try {
    /** @type {{ readonly deadLetters: ReadonlyArray<DeadLetter> }} */
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
