import { fillRows, mayWrite, NOTHING, showProblem, tag, time } from "../admin/list.js"
import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { button, byId, copyText, say, show, warn } from "../dom.js"

/** @import { AccessToken, NewTokenAnswer, Operations, SenderToken } from "#api" */
/** @import { Column } from "../admin/list.js" */

const SENDERS = "/api/admin/sender-tokens"
const ACCESS = "/api/admin/tokens"

/** What a right is called. @type {Readonly<Record<string, string>>} */
const RIGHTS = { admin: "admin who changes", "admin:read": "admin who looks", owner: "owner of documents" }

/** @param {string} list @param {{ readonly id: string, readonly name: string }} token @param {string} title */
const revoke = async (list, { id, name }, title) => {
  const sure = await confirmed({
    title: `Revoke the token of ${name}?`,
    text: "What uses it is refused from now on, in every process. That cannot be undone; a new token can be made.",
    yes: "Revoke",
    no: "Keep it"
  })
  if (!sure) return
  try {
    await ask("DELETE", `${list}/${encodeURIComponent(id)}`)
    await read()
    say(`The token of ${name} is revoked.`)
    byId(title, HTMLElement).focus()
  } catch (failure) {
    showProblem(failure)
  }
}

/** @template {{ readonly id: string, readonly name: string }} T @param {string} list @param {string} title @returns {ReadonlyArray<Column<T>>} */
const revocation = (list, title) =>
  mayWrite()
    ? [
        {
          head: "Change",
          cell: (token) =>
            button("Revoke", {
              about: `the token of ${token.name}`,
              press: () => void revoke(list, token, title)
            })
        }
      ]
    : []

/** @type {ReadonlyArray<Column<SenderToken>>} */
const senders = [
  { head: "Program", kind: "free", cell: ({ name }) => name },
  { head: "Category", cell: ({ categories }) => (categories.length === 0 ? "any" : categories.join(", ")) },
  { head: "From", kind: "free", cell: ({ from }) => (from.length === 0 ? "any" : from.join(", ")) },
  {
    head: "A minute",
    kind: "number",
    cell: ({ ratePerMinute }) => (ratePerMinute === null ? "no limit" : String(ratePerMinute))
  },
  { head: "Made", kind: "short", cell: ({ createdAt }) => time(createdAt) },
  {
    head: "Last used",
    kind: "short",
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : time(lastUsedAt))
  }
]

/** @type {ReadonlyArray<Column<AccessToken>>} */
const access = [
  { head: "Name", kind: "free", cell: ({ name }) => name },
  { head: "Role", cell: ({ rights }) => tag(rights.map((right) => RIGHTS[right] ?? right).join(", ")) },
  { head: "Made", kind: "short", cell: ({ createdAt }) => time(createdAt) },
  {
    head: "Last used",
    kind: "short",
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : time(lastUsedAt))
  },
  { head: "Ends", kind: "short", cell: ({ expiresAt }) => (expiresAt === null ? NOTHING : time(expiresAt)) }
]

/**
 * @template T
 * @param {string} id
 * @param {ReadonlyArray<Column<T>>} columns
 * @param {ReadonlyArray<T>} rows
 */
const fill = (id, columns, rows) => {
  fillRows(id, columns, rows)
  byId(`${id}-box`, HTMLElement).hidden = rows.length === 0
  byId(`no-${id}`, HTMLElement).hidden = rows.length > 0
}

const read = async () => {
  try {
    /** @type {Operations["senderTokens.listSenderTokens"]["success"]} */
    const sending = await ask("GET", SENDERS)
    /** @type {Operations["tokens.listTokens"]["success"]} */
    const calling = await ask("GET", ACCESS)
    show(byId("problem", HTMLElement), undefined)
    fill("senders", [...senders, ...revocation(SENDERS, "senders-title")], sending.tokens)
    fill("access", [...access, ...revocation(ACCESS, "access-title")], calling.tokens)
    byId("loading", HTMLElement).hidden = true
  } catch (failure) {
    showProblem(failure)
  }
}

/** @param {string} id */
const written = (id) => byId(id, HTMLInputElement).value.trim()

/** A number that may be left out. @param {string} id @param {string} name */
const numberIf = (id, name) => (written(id) === "" ? {} : { [name]: Number(written(id)) })

/**
 * Makes a token from a form, and shows its text, this one time.
 * @param {string} form @param {string} list @param {() => { readonly name: string }} body
 */
const makes = (form, list, body) => {
  const place = byId(form, HTMLFormElement)
  place.hidden = !mayWrite()
  place.addEventListener("submit", (event) => {
    event.preventDefault()
    void (async () => {
      try {
        const wanted = body()
        /** @type {NewTokenAnswer} */
        const { token } = await ask("POST", list, wanted)
        show(byId("made-name", HTMLElement), `The token of ${wanted.name} is made.`)
        show(byId("made-token", HTMLElement), token)
        byId("made", HTMLElement).hidden = false
        place.reset()
        place.dispatchEvent(new Event("change"))
        await read()
        say(`The token of ${wanted.name} is made. Copy it now.`)
        byId("made-token", HTMLElement).focus()
      } catch (failure) {
        show(byId("problem", HTMLElement), explain(failure))
        warn(explain(failure))
      }
    })()
  })
}

makes("add-sender", SENDERS, () => {
  const category = byId("sender-category", HTMLSelectElement).value
  const from = written("sender-from")
    .split(/[\s,;]+/)
    .filter((one) => one !== "")
  return {
    name: written("sender-name"),
    ...(category === "" ? {} : { categories: [category] }),
    ...(from.length === 0 ? {} : { from }),
    ...numberIf("sender-rate", "ratePerMinute")
  }
})
const right = byId("access-right", HTMLSelectElement)
makes("add-access", ACCESS, () => ({
  name: written("access-name"),
  rights: [right.value],
  ...(right.value === "owner" ? { customerId: written("access-customer") } : {}),
  ...numberIf("access-days", "days")
}))
byId("add-access", HTMLFormElement).addEventListener("change", () => {
  const owner = right.value === "owner"
  byId("access-customer-field", HTMLElement).hidden = !owner
  byId("access-customer", HTMLInputElement).required = owner
})
// From a customer's page: a token for this one.
const customer = new URLSearchParams(location.search).get("customer")
if (customer !== null) {
  right.value = "owner"
  byId("access-customer", HTMLInputElement).value = customer
  byId("access-customer-field", HTMLElement).hidden = false
}
byId("copy", HTMLButtonElement).addEventListener(
  "click",
  () => void copyText(byId("made-token", HTMLElement).textContent, "The token")
)
void read()
