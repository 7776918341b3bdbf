import { ask, explain, Refused } from "../api.js"
import { filled } from "../dialogs.js"
import { button, byId, el, say, show, warn } from "../dom.js"
import { count, mayWrite, NOTHING, showList, tag, time } from "./list.js"

/** @import { Customer, CustomerAdded, Granted } from "#api" */
/** @import { Column } from "./list.js" */

const PATH = "/api/admin/customers"

/** @param {number} amount @param {string} one */
const counted = (amount, one) => `${count(amount)} ${one}${amount === 1 ? "" : "s"}`

/** @param {Customer} customer */
const left = ({ creditsRemaining, freePagesLeft, heldCredits }) => {
  const spendable =
    creditsRemaining === null ? counted(freePagesLeft ?? 0, "free page") : counted(creditsRemaining, "credit")
  return heldCredits === 0 ? spendable : `${spendable}, ${count(heldCredits)} set aside`
}

const add = async () => {
  const email = byId("add-email", HTMLInputElement)
  const name = byId("add-name", HTMLInputElement).value.trim()
  const problem = byId("add-problem", HTMLElement)
  try {
    /** @type {CustomerAdded} */
    const { answer, customer } = await ask("POST", PATH, {
      email: email.value.trim(),
      ...(name === "" ? {} : { name })
    })
    show(problem, undefined)
    await read()
    const said = { added: "is a customer now", reopened: "is open again", exists: "is a customer already" }
    say(`${customer.email} ${said[answer]}.`)
    show(byId("added", HTMLElement), `${customer.email} ${said[answer]}: ${left(customer)}.`)
    byId("add", HTMLFormElement).reset()
    email.focus()
  } catch (failure) {
    const text = explain(failure)
    show(byId("added", HTMLElement), undefined)
    show(problem, text)
    warn(text)
  }
}

/** Asks how many credits for what, and gives them. @param {Customer} customer */
const give = async (customer) => {
  const number = byId("credits-number", HTMLInputElement)
  const reference = byId("credits-reference", HTMLInputElement)
  const note = byId("credits-note", HTMLInputElement)
  let amount = 0
  /** @type {Granted | undefined} */
  const given = await filled("credits", {
    title: `Give credits to ${customer.email}`,
    first: number,
    failure: (failure) =>
      failure instanceof Refused && failure.code === "IDEMPOTENCY_CONFLICT"
        ? new Refused({
            title: "This reference is taken",
            detail: `${customer.email} was given another number of credits under “${reference.value.trim()}” before. Nothing was changed: choose another reference, or the same number`,
            code: failure.code,
            status: failure.status
          })
        : failure,
    submit: () => {
      amount = Number(number.value)
      return ask("POST", `${PATH}/${encodeURIComponent(customer.id)}/credits`, {
        credits: amount,
        reference: reference.value.trim(),
        ...(note.value.trim() === "" ? {} : { note: note.value.trim() })
      })
    }
  })
  if (given === undefined) return
  await read()
  const done =
    given.answer === "granted"
      ? `${customer.email} has ${counted(amount, "credit")} more.`
      : `${customer.email} was given these credits before, under this reference. Nothing was changed.`
  show(byId("added", HTMLElement), done)
  say(done)
}

/** @type {ReadonlyArray<Column<Customer>>} */
const columns = [
  {
    head: "Address",
    kind: "free",
    cell: ({ email, id }) => el("a", { href: `/admin/customers/${encodeURIComponent(id)}` }, email)
  },
  { head: "Name", kind: "free", cell: ({ name }) => name ?? NOTHING },
  { head: "Left", kind: "number", cell: left },
  { head: "Since", kind: "short", cell: ({ createdAt }) => time(createdAt) },
  {
    head: "Account",
    cell: ({ closedAt }) =>
      closedAt === null ? tag("open", "good") : el("span", {}, "closed ", time(closedAt))
  }
]
/** @type {Column<Customer>} */
const credits = {
  head: "Change",
  cell: (row) =>
    row.closedAt === null
      ? button("Give credits", { about: `to ${row.email}`, press: () => void give(row) })
      : NOTHING
}

const filtered = new URLSearchParams(location.search).has("search")
const read = showList({
  path: PATH,
  names: ["search"],
  none: filtered ? "No customer matches." : "No customers yet.",
  columns: mayWrite() ? [...columns, credits] : columns
})

const form = byId("add", HTMLFormElement)
form.hidden = !mayWrite()
form.addEventListener("submit", (event) => {
  event.preventDefault()
  void add()
})
